"""Immutable values between layers."""

from __future__ import annotations

import copy
import pickle
import pickletools
from functools import cached_property

import pytest

from components.specs.struct import Struct, asdict, field, replace


class _Rack(Struct):
    name: str
    hosts: tuple[str, ...] = ()


class _Hall(Struct, dict=True):
    racks: tuple[_Rack, ...]
    notes: dict[str, _Rack] = field(default_factory=dict)

    @cached_property
    def hosts(self) -> list[str]:
        """Return the hosts of all racks."""
        return [host for rack in self.racks for host in rack.hosts]


class _Place(Struct, kw_only=False, order=True):
    hall: str
    slot: int = 0


HALL = _Hall(racks=(_Rack(name="a01", hosts=("h1", "h2")),))


def test_values_are_equal_by_fields_and_cannot_be_changed() -> None:
    rack = _Rack(name="a01")

    assert rack == _Rack(name="a01")
    assert hash(rack) == hash(_Rack(name="a01"))
    assert replace(rack, name="a02") == _Rack(name="a02")
    with pytest.raises(AttributeError):
        rack.name = "a02"  # type: ignore[misc]


def test_positions_are_opt_in() -> None:
    with pytest.raises(TypeError):
        _Rack("a01")  # type: ignore[call-arg]
    assert _Place("b") > _Place("a", 9) > _Place("a")


def test_fields_become_plain_data_at_every_depth() -> None:
    rack = {"name": "a01", "hosts": ("h1", "h2")}

    assert asdict(HALL) == {"racks": (rack,), "notes": {}}
    assert asdict(replace(HALL, notes={"near": HALL.racks[0]}))["notes"] == {"near": rack}


def test_pickled_values_name_classes_only() -> None:
    content = pickle.dumps(HALL)
    names = [entry for _, entry, _ in pickletools.genops(content) if isinstance(entry, str)]

    assert HALL.hosts == ["h1", "h2"]
    assert pickle.loads(content) == copy.deepcopy(HALL) == HALL  # noqa: S301 - written above
    assert not [name for name in names if "msgspec" in name]
