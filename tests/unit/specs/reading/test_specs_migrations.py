"""Migrations only apply the changes of the format; all files that cannot be migrated are reported together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from components.specs.reading.kinds import data_files
from components.specs.reading.migrations import Around, Migrations, Upgrade, moves
from components.specs.reading.strict_yaml import MAX_VALUES
from jacquard.machine import paths
from tests.support.data.environment_data import ENVIRONMENTS, copy_data

TENANT = """\
# yaml-language-server: $schema=../../../schemas/tenant.schema.json
schema_version: 1
tenant: acme   # who
contacts: {alerts: "oncall@acme.example",
  changes: 'platform@acme.example'}

# the networks
vpcs:
  - name: acme    # one
    hosts: /24
    isolation: dpf-hbn
    pods:   /16
    egress: none
  - {name: old, hosts: /25,
     pods: /17}
"""


MISSING = "region.yaml:1 schema_version: is required; add schema_version: <version of the file>, {} for a new file"
FOLDER = paths.ROOT / "environments"
REAL_FILES = [path for path, kind in data_files(FOLDER) if not kind.locked]


def rename_hosts(document: Any, _: Around) -> Any:
    """Rename a key in place, as a real migration would; order and comments are preserved."""
    for vpc in document["vpcs"]:
        vpc.insert(list(vpc).index("hosts"), "host_prefix", vpc.pop("hosts"))
    return document


def stamp(document: Any, _: Around) -> Any:
    document["stamp"] = document["schema_version"]
    return document


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of environments with one tenant."""
    home = tmp_path / "environments" / "lab"
    (home / "tenants").mkdir(parents=True)
    (home / "region.yaml").write_text("schema_version: 1\nregion: lab\n")
    (home / "tenants" / "acme.yaml").write_text(TENANT)
    return home.parent


def moved(folder: Path, migrations: Migrations, current: int) -> dict[str, Upgrade]:
    found, problems = moves(folder, "lab", migrations, lambda _: current)
    assert problems == []
    return {move.file: move for move in found}


def described(folder: Path, current: int = 1) -> list[str]:
    _, problems = moves(folder, "lab", {}, lambda _: current)
    return [f"{problem.place} {problem.path}: {problem.text}" for problem in problems]


def test_a_migration_only_changes_its_lines(folder: Path) -> None:
    move = moved(folder, {"tenant": {1: rename_hosts}}, 2)["tenants/acme.yaml"]

    assert (move.before, move.after) == (1, 2)
    assert move.text == TENANT.replace("schema_version: 1", "schema_version: 2").replace(
        "    hosts: /24\n", "    host_prefix: /24\n"
    ).replace("  - {name: old, hosts: /25,\n     pods: /17}\n", "  - {name: old, host_prefix: /25, pods: /17}\n")


def test_a_kind_without_a_migration_only_gets_the_new_number(folder: Path) -> None:
    move = moved(folder, {"tenant": {1: rename_hosts}}, 2)["region.yaml"]

    assert move.text == "schema_version: 2\nregion: lab\n"


def test_migrations_run_one_version_after_the_other(folder: Path) -> None:
    steps = {1: stamp, 2: lambda document, _: {**document, "second": document["stamp"]}}

    assert moved(folder, {"region": steps}, 3)["region.yaml"].text == (
        "schema_version: 3\nregion: lab\nstamp: 1\nsecond: 1\n"
    )


def test_a_partially_migrated_file_is_migrated_from_its_version(folder: Path) -> None:
    (folder / "lab" / "region.yaml").write_text("schema_version: 2\nregion: lab\n")

    move = moved(folder, {"region": {1: stamp, 2: stamp}}, 3)["region.yaml"]

    assert (move.before, move.text) == (2, "schema_version: 3\nregion: lab\nstamp: 2\n")


def test_a_migrated_file_is_not_changed_again(folder: Path) -> None:
    migrations: Migrations = {"tenant": {1: rename_hosts}}
    for move in moved(folder, migrations, 2).values():
        move.path.write_text(move.text)

    again = moved(folder, migrations, 2)

    assert {(move.before, move.text == move.path.read_text()) for move in again.values()} == {(2, True)}


def test_all_files_that_cannot_be_migrated_are_reported_with_other_problems(folder: Path) -> None:
    (folder / "lab" / "region.yaml").write_text("region: lab\n")
    (folder / "lab" / "policy.yaml").write_text("# strict\nschema_version: 3\n")
    (folder / "lab" / "waivers.yaml").write_text("schema_version: one\n")
    (folder / "lab" / "out_of_service.yaml").write_text("schema_version: 1\nschema_version: 1\n")

    assert described(folder, 2) == [
        MISSING.format(2),
        "out_of_service.yaml:2 schema_version: is defined twice, first on line 1; keep one of the two",
        "policy.yaml:2 schema_version: is 3, but this jacquard supports at most 2; update jacquard",
        "waivers.yaml:1 schema_version: must be a version from 1 to 2 (got 'one')",
    ]


def test_a_version_that_never_was_is_refused(folder: Path) -> None:
    (folder / "lab" / "region.yaml").write_text("schema_version: 0\n")

    assert described(folder) == ["region.yaml:1 schema_version: must be a version from 1 to 1 (got 0)"]


def test_a_file_that_is_empty_lacks_its_version(folder: Path) -> None:
    (folder / "lab" / "region.yaml").write_text("")

    assert described(folder) == [MISSING.format(1)]


@pytest.mark.parametrize("path", REAL_FILES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_migrating_a_real_file_only_changes_the_line_of_its_version(path: Path, tmp_path: Path) -> None:
    """The test detects any wrong assumption of the writer about hand-written files."""
    text = path.read_text(encoding="utf-8")
    home = tmp_path / "lab"
    home.mkdir()
    (home / "region.yaml").write_text(text, encoding="utf-8")

    move = moved(tmp_path, {}, 2)["region.yaml"]

    assert move.text == text.replace("schema_version: 1\n", "schema_version: 2\n", 1)


def test_a_lock_file_gets_a_new_seal(tmp_path: Path) -> None:
    source = paths.ROOT / "environments" / "laptop"
    home = tmp_path / "lab"
    home.mkdir()
    (home / "region.yaml").write_text("schema_version: 1\n")
    lock = (source / "allocations.lock.yaml").read_text(encoding="utf-8")
    (home / "allocations.lock.yaml").write_text(lock, encoding="utf-8")

    _, problems = moves(tmp_path, "lab", {"allocations.lock": {1: stamp}}, lambda _: 2)

    assert {problem.path for problem in problems} == {"schema_version", "stamp"}
    assert all(problem.text.endswith("fix it in components/allocate/migrations.py") for problem in problems)


def test_a_migration_of_a_lock_file_finds_the_region_although_all_regions_have_orders(tmp_path: Path) -> None:
    root, seen = copy_data(tmp_path / "environments", "laptop"), []
    (root / "orders").mkdir()
    (root / "orders" / "heron-train.yaml").write_bytes((ENVIRONMENTS / "orders" / "heron-train.yaml").read_bytes())

    def look(document: Any, around: Around) -> Any:
        seen.append(around().name)
        return document

    moves(root, "laptop", {"images.lock": {1: look}}, lambda kind: 1 + (kind.name == "images.lock"))

    assert seen == ["laptop"]


def test_a_lock_file_may_be_larger_than_hand_written_files(folder: Path) -> None:
    hosts = "".join(f"  h{number}: acme/train\n" for number in range(MAX_VALUES))
    (folder / "lab" / "allocations.lock.yaml").write_text(f"schema_version: 1\nhosts:\n{hosts}")

    assert described(folder) == []
