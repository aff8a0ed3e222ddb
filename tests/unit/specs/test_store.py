"""What the store writes, and what it leaves alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from components.specs.loader import load_environment
from components.specs.locks import AllocationsLock, ClusterAllocation, GroupAllocation, ImagePin, ImagesLock
from components.specs.store import lock_text, write_locks

_TRAPS = ("no", "null", "true", "1e5", "0755", "10")
"""Names that are valid for a pool, a VPC or a host and that YAML reads as something else."""


def test_lock_files_of_laptop_are_as_the_store_writes_them(laptop: Any) -> None:
    environment = laptop.load()
    for name, lock in (("allocations", environment.allocations), ("images", environment.image_pins)):
        assert (laptop.folder / f"{name}.lock.yaml").read_text(encoding="utf-8") == lock_text(lock)


def test_one_entry_a_line_sorted() -> None:
    lock = AllocationsLock(
        schema_version=1,
        clusters={"b": ClusterAllocation(vip="10.0.0.2"), "a": ClusterAllocation(vip="10.0.0.1")},
        hosts={"h2": "a/p", "h1": "b/p"},
        groups={"a/p/r1": GroupAllocation(nodes=1)},
    )
    assert lock_text(lock) == (
        "# written by jacquard allocate; review, do not edit\n"
        "schema_version: 1\n"
        "vpcs: {}\n"
        "clusters:\n"
        "  a: {vip: 10.0.0.1}\n"
        "  b: {vip: 10.0.0.2}\n"
        "public_ips: {}\n"
        "hosts:\n"
        "  h1: b/p\n"
        "  h2: a/p\n"
        "groups:\n"
        "  a/p/r1: {nodes: 1}\n"
    )


def test_whatever_is_written_is_read_back(laptop: Any) -> None:
    environment = laptop.load()
    numbers = environment.allocations.model_copy(update={"hosts": dict.fromkeys(_TRAPS, "no/no")})
    pin = ImagePin(image="2026.10", sha256="1e" + "0" * 62, revision=1)
    pins = ImagesLock(schema_version=1, groups=dict.fromkeys(_TRAPS, pin))

    write_locks(environment, laptop.root, numbers, pins)
    again = load_environment("laptop", laptop.root)
    assert (again.allocations, again.image_pins) == (numbers, pins)


def test_only_files_that_change_are_written(laptop: Any) -> None:
    environment = laptop.load()
    numbers = environment.allocations.model_copy(update={"hosts": {}})

    assert write_locks(environment, laptop.root, environment.allocations, environment.image_pins) == []
    assert write_locks(environment, laptop.root, numbers, environment.image_pins) == [
        laptop.folder / "allocations.lock.yaml"
    ]


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(laptop: Any, monkeypatch: pytest.MonkeyPatch) -> None:
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
