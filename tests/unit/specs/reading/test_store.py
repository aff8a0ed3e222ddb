"""Files that the store writes, and files that it does not change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from components.specs.locks import AllocationsLock, ClusterAllocation, Freed, GroupAllocation, ImagesLock
from components.specs.network.vpc_allocation import VpcAllocation
from components.specs.reading.loader import load_environment
from components.specs.reading.lock_text import digest_of, entries_digest, lock_text, paired, sealed
from tests.support.data.lock_files import write_locks

_TRAPS = ("no", "null", "true", "1e5", "0755", "10")
"""Names that are valid for a pool, a VPC or a host and that YAML reads as something else."""


def test_lock_files_of_laptop_are_as_the_store_writes_them(laptop: Any) -> None:
    environment = laptop.load()
    for name, lock in (("allocations", environment.allocations), ("images", environment.image_pins)):
        assert (laptop.folder / f"{name}.lock.yaml").read_text(encoding="utf-8") == lock_text(lock)


BESIDE = f"sha256:{'5e' * 32}"
_LOW, _HIGH = "0x0000000000000000-0x0000000000000007", "0x0000000000000008-0x000000000000000f"

_BACKENDS: dict[str, Any] = {"control_planes": "kamaji", "bare_metal": "metal3"}


def _vpc(vni: int, **changes: Any) -> VpcAllocation:
    return VpcAllocation(
        tenant="t",
        isolation="dpf-hbn",
        vni=vni,
        asn=vni,
        route_target=vni,
        hosts="10.1.0.0/24",
        pods="10.2.0.0/16",
        services="10.3.0.0/20",
        load_balancers="10.4.0.0/26",
        **changes,
    )


def test_one_entry_a_line_by_number_and_the_digest_last() -> None:
    lock = AllocationsLock(
        schema_version=1,
        region="r",
        beside=BESIDE,
        vpcs={"b": _vpc(9), "a": _vpc(10, pkeys={"ib": 16})},
        clusters={
            "a": ClusterAllocation(
                tenant="t", vip="10.0.0.10", controller="c-1", guids={"ib": _LOW}, vpc="a", **_BACKENDS
            ),
            "b": ClusterAllocation(tenant="t", vip="10.0.0.9", vpc="b", **_BACKENDS),
        },
        hosts={"rack-10": "a/p", "rack-9": "b/p"},
        groups={"a/p/r1": GroupAllocation(nodes=1)},
        quarantine={"t/old": Freed(vnis=[7], pkeys={"ib": [17]}, guids={"ib": [_HIGH]})},
    )
    prefixes = "hosts: 10.1.0.0/24, pods: 10.2.0.0/16, services: 10.3.0.0/20, load_balancers: 10.4.0.0/26"

    assert lock_text(lock) == (
        "# written by jacquard allocate; review, do not edit\n"
        "schema_version: 1\n"
        "vpcs:\n"
        f"  b: {{tenant: t, isolation: dpf-hbn, vni: 9, asn: 9, route_target: 9, {prefixes}}}\n"
        f"  a: {{tenant: t, isolation: dpf-hbn, vni: 10, asn: 10, route_target: 10, {prefixes}, pkeys: {{ib: 0x10}}}}\n"
        "clusters:\n"
        "  b: {tenant: t, vip: 10.0.0.9, vpc: b, control_planes: kamaji, bare_metal: metal3}\n"
        "  a: {tenant: t, vip: 10.0.0.10, controller: c-1, guids: {ib: 0x0000000000000000-0x0000000000000007}, vpc: a,"
        " control_planes: kamaji, bare_metal: metal3}\n"
        "hosts:\n"
        "  rack-9: b/p\n"
        "  rack-10: a/p\n"
        "groups:\n"
        "  a/p/r1: {nodes: 1}\n"
        "quarantine:\n"
        "  t/old: {vnis: [7], pkeys: {ib: [0x11]}, guids: {ib: [0x0000000000000008-0x000000000000000f]}}\n"
        "region: r\n"
        f"beside: {BESIDE}\n"
        f"digest: {digest_of(lock)}\n"
    )


def test_the_digest_covers_the_whole_lock_file_except_itself() -> None:
    lock = AllocationsLock(schema_version=1, hosts={"h1": "a/p"})
    others = (
        lock.model_copy(update={"hosts": {"h1": "a/q"}}),
        lock.model_copy(update={"vpcs": {"a": _vpc(9)}}),
        lock.model_copy(update={"quarantine": {"t/a": Freed(vnis=[9])}}),
        lock.model_copy(update={"region": "r"}),
        lock.model_copy(update={"beside": BESIDE}),
    )

    assert digest_of(lock) == digest_of(sealed(lock))
    assert len({digest_of(other) for other in (lock, *others)}) == 1 + len(others)


def test_two_files_reference_each_other_after_any_previous_references() -> None:
    numbers, pins = AllocationsLock(schema_version=1, hosts={"h1": "a/p"}), ImagesLock(schema_version=1)
    once = paired("r", numbers, pins)
    again = paired("r", *once)

    assert once == again
    assert [lock.beside for lock in once] == [entries_digest(pins), entries_digest(numbers)]
    assert [lock.digest for lock in once] == [digest_of(lock) for lock in once]
    assert paired("s", *once)[0].digest != once[0].digest


def test_all_written_values_are_read_back(laptop: Any) -> None:
    environment = laptop.load()
    numbers = environment.allocations.model_copy(update={"hosts": dict.fromkeys(_TRAPS, "no/no")})
    intent = next(iter(environment.image_pins.intents.values()))
    awkward = {"1e3": True, "no": None, "list": [1, "0x10", "a: b, {c}"], 'quote"': "2026-01-01", "back\\slash": "#"}
    odd = intent.model_copy(update={"kubelet_configuration": awkward, "sha256": "1e" + "0" * 62})
    pins = ImagesLock(
        schema_version=1, intents={odd.name: odd}, groups={f"{trap}/{trap}/{trap}": odd.name for trap in _TRAPS}
    )

    write_locks(environment, laptop.root, numbers, pins)
    again = load_environment("laptop", laptop.root)
    assert (again.allocations, again.image_pins) == paired("laptop", numbers, pins)


def test_only_files_that_change_are_written(laptop: Any) -> None:
    environment = laptop.load()
    numbers = environment.allocations.model_copy(update={"hosts": {}})

    assert write_locks(environment, laptop.root, environment.allocations, environment.image_pins) == []
    both = [laptop.folder / name for name in ("allocations.lock.yaml", "images.lock.yaml")]
    assert (
        write_locks(environment, laptop.root, numbers, environment.image_pins) == both
    )  # Each of them names the other.


def test_a_failed_write_keeps_the_old_file_without_leftovers(laptop: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = laptop.load()
    numbers = environment.allocations.model_copy(update={"hosts": {}})
    before = {path: path.read_bytes() for path in laptop.folder.iterdir() if path.is_file()}

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_locks(environment, laptop.root, numbers, environment.image_pins)
    assert {path: path.read_bytes() for path in laptop.folder.iterdir() if path.is_file()} == before


def test_the_mode_of_a_file_is_kept(laptop: Any) -> None:
    path: Path = laptop.folder / "allocations.lock.yaml"
    path.chmod(0o640)
    environment = laptop.load()

    numbers = environment.allocations.model_copy(update={"hosts": {}})
    write_locks(environment, laptop.root, numbers, environment.image_pins)
    assert path.stat().st_mode & 0o777 == 0o640
