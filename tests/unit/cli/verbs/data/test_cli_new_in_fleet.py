"""``jacquard new`` in a repository with a fleet writes the region and its fleet entry together, or neither."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from components.specs.reading.fleet import load_fleet
from jacquard.cli.errors import ExitCode
from tests.support.checks.places import resolved

Invoke = Callable[..., Result]
HEAD = "# All regions\nschema_version: 1\nregions:\n"
EDGE = "  edge-1: {status: building}\n"
LAPTOP = "  laptop: {status: open,   jurisdictions: [us]}   # the desk\n"


@pytest.fixture
def fleet(data_folder: Path) -> Path:
    """A fleet of one open region, with comments and custom spacing."""
    path = data_folder / "fleet.yaml"
    path.write_text(f"{HEAD}{LAPTOP}")
    return path


def everything(folder: Path) -> dict[str, str]:
    """Return the text of each file; folders are listed without text."""
    return {str(path): path.read_text() if path.is_file() else "" for path in folder.rglob("*")}


def test_a_new_region_is_listed_and_the_rest_of_the_file_is_kept(invoke: Invoke, fleet: Path) -> None:
    result = invoke("new", "edge-1")

    assert result.exit_code == ExitCode.OK, result.output
    assert fleet.read_text() == f"{HEAD}{LAPTOP}{EDGE}"
    assert result.stdout.splitlines()[:5] == [
        "environments: 3 new files",
        "  edge-1/inventory/hall-a.csv",
        "  edge-1/region.yaml",
        "  edge-1/tenants/first.yaml",
        "fleet.yaml: edge-1 is added as building; add its jurisdictions before it is opened",
    ]
    assert invoke("allocate", "edge-1").exit_code == ExitCode.OK
    checked = invoke("check")
    assert checked.exit_code == ExitCode.OK, checked.output
    assert json.loads(invoke("fleet", "--format", "json").stdout)["regions"][0]["status"] == "building"


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("schema_version: 1\n", "schema_version: 1\nregions:\n  edge-1: {status: building}\n"),
        ("schema_version: 1\nregions: {}\n", "schema_version: 1\nregions:\n  edge-1: {status: building}\n"),
        (
            "schema_version: 1\nregions: {laptop: {status: building}}\n",
            "schema_version: 1\nregions: {laptop: {status: building}, edge-1: {status: building}}\n",
        ),
        (f"{HEAD}  # the first\n{LAPTOP}", f"{HEAD}  # the first\n{LAPTOP}{EDGE}"),
        (
            f"regions:\n  a:\n    status: building # soon\n{LAPTOP}\n# version\nschema_version: 1\n",
            f"regions:\n  a:\n    status: building # soon\n{EDGE}{LAPTOP}\n# version\nschema_version: 1\n",
        ),
        (f"{HEAD}{LAPTOP[:-1]}", f"{HEAD}{LAPTOP}{EDGE}"),
    ],
)
def test_files_of_other_forms(invoke: Invoke, fleet: Path, text: str, after: str) -> None:
    fleet.write_text(text)

    assert invoke("new", "edge-1").exit_code == ExitCode.OK
    assert fleet.read_text() == after
    assert load_fleet(fleet.parent).regions["edge-1"].status == "building"


def test_a_region_that_is_listed_is_left(invoke: Invoke, fleet: Path) -> None:
    text = f"{HEAD}  edge-1: {{status: open, jurisdictions: [it]}}\n"
    fleet.write_text(text)

    result = invoke("new", "edge-1")
    answer = json.loads(invoke("new", "edge-2", "--format", "json").stdout)

    assert result.exit_code == ExitCode.OK, result.output
    assert "fleet.yaml: edge-1 is listed already (open)\n" in result.stdout
    assert fleet.read_text() == f"{text}  edge-2: {{status: building}}\n"
    assert (answer["files"][-1], answer["edited"]) == ("edge-2/tenants/first.yaml", ["fleet.yaml"])


def test_without_the_file_none_is_created(invoke: Invoke, data_folder: Path) -> None:
    answer = json.loads(invoke("new", "edge-1", "--format", "json").stdout)

    assert answer["edited"] == []
    assert "fleet.yaml" not in invoke("new", "edge-2").stdout
    assert not (data_folder / "fleet.yaml").exists()


def test_a_repository_that_is_created_around_a_fleet(invoke: Invoke, fleet: Path, tmp_path: Path) -> None:
    fleet.rename(fleet.parent / "moved.yaml")
    root = tmp_path / "regions"
    (root / "environments").mkdir(parents=True)
    there = root / "environments" / "fleet.yaml"
    there.write_text("schema_version: 1\n")

    answer = json.loads(invoke("new", "edge-1", "--repository", str(root), "--format", "json").stdout)

    assert answer["edited"] == ["environments/fleet.yaml"]
    assert list(load_fleet(there.parent).regions) == ["edge-1"]


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("orders", "the folder of orders"),
        ("campaigns", "the folder of campaigns"),
        ("fleet", "the name of all regions in reports"),
        ("catalog", "the folder of the catalogue"),
    ],
)
def test_a_name_that_no_region_can_have(invoke: Invoke, data_folder: Path, name: str, meaning: str) -> None:
    refused = invoke("new", name)
    shutil.copytree(data_folder / "laptop", data_folder / name, dirs_exist_ok=True)

    result = invoke("check")

    assert (refused.exit_code, result.exit_code) == (ExitCode.BAD_DATA, ExitCode.BAD_DATA)
    assert refused.stderr == f"error: region '{name}' is {meaning}; choose another name\n"
    assert [line for line in result.stderr.splitlines() if not line.startswith(("1 env", "2 env"))] == [
        f"environments/{name}: 1 problem",
        f"  region.yaml  '{name}' is {meaning}, not of a region; rename the folder, and write its name as region",
    ]


def test_a_wrong_fleet_is_reported_and_nothing_written(invoke: Invoke, fleet: Path) -> None:
    fleet.write_text(f"{HEAD}  laptop: {{status: opened}}\n")
    before = everything(fleet.parent)

    result = invoke("new", "edge-1")

    assert result.exit_code == ExitCode.BAD_DATA
    problem = resolved("  ../fleet.yaml:LINE  regions.laptop.status: must be", fleet.parent / "laptop")
    assert result.stderr.startswith(f"environments/fleet: 1 problem\n{problem}")
    assert everything(fleet.parent) == before


@pytest.mark.parametrize("failing", ["fleet.yaml", "region.yaml"])
def test_a_failed_write_leaves_everything_as_it_was(
    invoke: Invoke, fleet: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    before = everything(fleet.parent)
    original = os.fsync
    names: list[str] = []

    def full_disk(descriptor: int) -> None:
        name = Path(f"/proc/self/fd/{descriptor}").readlink()
        if name.name == failing and ".jacquard-edit" in str(name):
            names.append(name.name)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        original(descriptor)

    monkeypatch.setattr(os, "fsync", full_disk)
    result = invoke("new", "edge-1")

    assert names == [failing]
    assert result.exit_code != ExitCode.OK
    assert failing in result.stderr
    assert "no space left on device" in result.stderr
    assert everything(fleet.parent) == before
