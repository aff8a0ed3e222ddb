"""``jacquard fleet``, and the fleet in ``jacquard check``."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from jacquard.cli.errors import ExitCode
from tests.support.checks.places import resolved
from tests.support.data.repositories import COMMIT, committed, git

Invoke = Callable[..., Result]
Edit = Callable[[Path, str, str], None]
OPEN = "schema_version: 1\nregions:\n  laptop: {status: open, jurisdictions: [us], latency_group: desk}\n"


@pytest.fixture
def fleet(data_folder: Path) -> Path:
    """A fleet of one open region."""
    path = data_folder / "fleet.yaml"
    path.write_text(OPEN)
    return path


def test_regions_with_their_capacity_and_state(invoke: Invoke, fleet: Path) -> None:
    del fleet
    result = invoke("fleet", "--today", "2026-11-28")

    assert result.exit_code == ExitCode.OK, result.output
    rows = [line.split() for line in result.stdout.splitlines()]
    assert rows[0] == ["region", "status", "instance", "type", "installed", "out", "of", "service", "spare",
                       "contracted", "planned", "free", "orderable"]  # fmt: skip
    assert rows[1][:3] == ["laptop", "open", "h100-ib-8"]
    assert {tuple(row[:2]) for row in rows[1:] if row[:1] == ["all"]} == {
        ("all", "h100-ib-8"),
        ("all", "cpu-gen4"),
        ("all", "GPUs"),
    }
    [state] = [row for row in rows if row[:2] == ["laptop", "us"]]
    assert state[2] == "desk"


def test_the_same_as_data(invoke: Invoke, fleet: Path) -> None:
    del fleet
    answer = json.loads(invoke("fleet", "--format", "json", "--today", "2026-11-28").stdout)

    assert answer["schema_version"] == 1
    [region] = answer["regions"]
    assert (region["region"], region["status"], region["jurisdictions"]) == ("laptop", "open", ["us"])
    kinds = {kind["instance_type"]: kind["nodes"] for kind in region["types"]}
    assert answer["totals"] == kinds
    assert answer["gpus"]["planned"] == 8 * kinds["h100-ib-8"]["planned"]


def test_the_report_is_a_separate_verb(invoke: Invoke) -> None:
    result = invoke("show", "fleet")

    assert result.exit_code == ExitCode.BAD_DATA
    assert result.stderr == "error: fleet is a report on all environments; use: jacquard fleet\n"


def test_a_wrong_file(invoke: Invoke, fleet: Path, edit: Edit) -> None:
    edit(fleet, "open", "opened")

    result = invoke("fleet")

    assert result.exit_code == ExitCode.BAD_DATA
    assert result.stderr.startswith("environments/fleet: 1 problem\n  ../fleet.yaml:3  regions.laptop.status: must be")


def test_check_reports_the_fleet_of_all_regions(invoke: Invoke, fleet: Path, edit: Edit) -> None:
    assert invoke("check").exit_code == ExitCode.OK
    edit(fleet, "laptop:", "desktop:")

    result = invoke("check")
    sarif = json.loads(invoke("check", "--format", "sarif").stdout)

    assert result.exit_code == ExitCode.BAD_DATA
    assert "environments/fleet: 1 problem\n  ../fleet.yaml:3  regions.desktop: there is no folder" in result.stderr
    assert "reported by fleet.missing-regions" in result.stderr
    assert result.stdout.endswith("1 environment: 1 ok, 1 problem, 1 waived\n")
    [found] = [item for item in sarif["runs"][0]["results"] if item["ruleId"] == "fleet.missing-regions"]
    place = found["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("environments/fleet.yaml", 3)
    assert invoke("check", "--format", "junit").exit_code == ExitCode.BAD_DATA


def test_check_reports_a_wrong_file_once(invoke: Invoke, fleet: Path, edit: Edit) -> None:
    edit(fleet, "open", "opened")

    result = invoke("check")

    assert result.exit_code == ExitCode.BAD_DATA
    assert result.stderr.count("../fleet.yaml:3") == 1


def test_check_with_a_base_reports_the_growth_of_a_draining_region(
    invoke: Invoke, fleet: Path, data_folder: Path, edit: Edit
) -> None:
    edit(fleet, "status: open", "status: draining")
    committed(data_folder)
    acme = data_folder / "laptop" / "tenants" / "acme.yaml"
    for _ in ("contract", "system pool"):
        edit(acme, "instance_type: cpu-gen4, nodes: 2}", "instance_type: cpu-gen4, nodes: 3}")
    allocated = invoke("allocate", "laptop")
    assert allocated.exit_code == ExitCode.OK, allocated.output

    alone, since = invoke("check", "laptop"), invoke("check", "laptop", "--base", "HEAD")
    impact = invoke("impact", "laptop", "--base", "HEAD")

    assert alone.exit_code == ExitCode.OK
    for result in (since, impact):
        assert result.exit_code == ExitCode.BAD_DATA
        assert "grows from 2 to 3 nodes, but laptop is draining (../fleet.yaml:3)" in result.stderr


@pytest.fixture
def two_regions(fleet: Path, data_folder: Path, edit: Edit) -> Path:
    """A committed fleet of laptop and its copy palmtop with real hardware; return the folder of palmtop."""
    other = data_folder / "palmtop"
    shutil.copytree(data_folder / "laptop", other)
    edit(other / "region.yaml", "region: laptop", "region: palmtop")
    edit(other / "region.yaml", "stage: rehearsal", "stage: development")
    fleet.write_text(f"{OPEN}  palmtop: {{status: draining, jurisdictions: [us]}}\n")
    committed(data_folder)
    return other


REMOVED = "  ../palmtop/region.yaml:LINE  region: is removed with tenants acme, globex and hosts "
RESTORE = "which would run unmanaged; restore the folder, and retire the region first"


def test_a_region_is_not_removed_before_it_is_retired(invoke: Invoke, fleet: Path, two_regions: Path) -> None:
    expected = resolved(REMOVED, two_regions)
    shutil.rmtree(two_regions)
    fleet.write_text(OPEN)

    alone, since, impact = invoke("check"), invoke("check", "--base", "HEAD"), invoke("impact", "--base", "HEAD")

    assert alone.exit_code == ExitCode.OK, alone.output
    for result in (since, impact):
        assert result.exit_code == ExitCode.BAD_DATA
        assert "environments/fleet: 1 problem" in result.stderr
        [line] = [line for line in result.stderr.splitlines() if "palmtop/" in line]
        assert line.startswith(expected)
        assert RESTORE in line


def test_the_removal_of_a_region_is_one_of_several_problems_of_the_fleet(invoke: Invoke, two_regions: Path) -> None:
    shutil.rmtree(two_regions)

    result = invoke("check", "--base", "HEAD")

    assert result.exit_code == ExitCode.BAD_DATA
    assert "environments/fleet: 2 problems" in result.stderr
    assert RESTORE in result.stderr
    assert "there is no folder environments/palmtop" in result.stderr


def test_a_retired_region_and_a_local_region_are_removed(
    invoke: Invoke, fleet: Path, two_regions: Path, data_folder: Path
) -> None:
    for name in ("tenants", "inventory"):
        shutil.rmtree(two_regions / name)
    git(data_folder.parent, "add", data_folder.name)
    git(data_folder.parent, *COMMIT)
    shutil.rmtree(two_regions)
    fleet.write_text(OPEN)

    since, impact = invoke("check", "--base", "HEAD"), invoke("impact", "--base", "HEAD")

    assert (since.exit_code, impact.exit_code) == (ExitCode.OK, ExitCode.OK), since.output + impact.output
