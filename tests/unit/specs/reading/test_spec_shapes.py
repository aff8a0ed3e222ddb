"""Examples for missing keys: YAML that the model accepts, except for values that only users know."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from pydantic import TypeAdapter
from pydantic.fields import FieldInfo

from components.specs.base import CheckedSpec, ConstraintViolation, DataFile, Spec
from components.specs.control_planes.hosted_control_plane import ClusterSpec
from components.specs.environment import Environment
from components.specs.hosts.inventory import HostSpec
from components.specs.reading.parsing import parsed
from components.specs.reading.shape import shapes, whole
from components.specs.reading.strict_yaml import StrictYamlReader
from components.specs.region.region import NetworksSpec, RegionSpec
from components.specs.region.tenant import TenantSpec

_OPEN = ("...", "|", " or ")
"""Placeholders for values that users fill in or choose."""


def _models(model: type[Spec]) -> set[type[Spec]]:
    return {model}.union(*(_models(found) for found in model.__subclasses__()))


_FIELDS = [
    (model, key, field)
    for model in sorted(_models(Spec) - {Environment}, key=lambda model: model.__name__)
    if model.__module__.startswith("components.specs.")
    for key, field in ((field.alias or name, field) for name, field in model.model_fields.items())
]
_DEFAULTS = [(model, key, field.default) for model, key, field in _FIELDS if isinstance(field.default, Spec)]


@pytest.mark.parametrize(("model", "key", "field"), _FIELDS, ids=lambda part: getattr(part, "__name__", None))
@pytest.mark.filterwarnings("ignore:The 'alias' attribute")
def test_a_shape_without_blanks_is_a_value_of_its_field(model: type[Spec], key: str, field: FieldInfo) -> None:
    shape = shapes(model)[key]
    if any(blank in shape for blank in _OPEN) or shape == "{}" or "{" in shape:
        return
    reader = StrictYamlReader("shape.yaml")
    value: Any = reader.read(f"{key}: {shape}\n")[0][key]

    assert reader.problems == {}
    adapter: TypeAdapter[Any] = TypeAdapter(Annotated[field.annotation, field])  # type: ignore[arg-type]
    adapter.validate_json(json.dumps(value), strict=True)


def test_an_example_has_all_required_fields() -> None:
    assert shapes(TenantSpec)["contacts"] == "{alerts: ..., changes: ...}"
    assert shapes(ClusterSpec)["pools"] == "[{name: ..., instance_type: ..., nodes: 1}]"
    assert shapes(RegionSpec)["stage"] == "rehearsal|development|staging|production"
    assert shapes(RegionSpec)["control_planes"] == "{dedicated: {storage_class: ...}}"
    assert whole(NetworksSpec).startswith("{management: 10.64.0.0/16, bmc: ")
    assert shapes(HostSpec)["slot"] == "1"


class _Pair(CheckedSpec, DataFile):
    """File with two mutually exclusive keys, reported at the file itself."""

    one: int | None = None
    other: int | None = None

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield an error for a file with neither or both keys."""
        if (self.one is None) == (self.other is None):
            yield ConstraintViolation(
                "has neither one nor other; add it" if self.one is None else "has both; remove one"
            )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("schema_version: 1\n", "a.yaml:1  has neither one nor other; add it"),
        ("# first\nschema_version: 1\none: 1\nother: 1\n", "a.yaml:1  has both; remove one"),
    ],
)
def test_a_violation_of_a_whole_file_is_reported_at_its_first_line(text: str, problem: str) -> None:
    spec, _, problems = parsed("a.yaml", text, _Pair)

    assert spec is None
    assert [f"{item.place}  {item.where}{item.text}" for item in problems] == [problem]


@pytest.mark.parametrize(("model", "key", "default"), _DEFAULTS, ids=lambda part: getattr(part, "__name__", None))
def test_a_default_is_the_same_after_validation(model: type[Spec], key: str, default: Spec) -> None:
    assert default == type(default).model_validate(default.model_dump()), f"{model.__name__}.{key}"
