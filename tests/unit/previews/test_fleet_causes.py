"""Causes of a changed delegation: edits of the fleet's file and of other regions."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from components.specs.reading.loader import load_environment
from jacquard.previews.impacts.edits import edits
from tests.support.changes.impacts import impact_of, rows
from tests.support.data.delegations import OPEN, fleet_text, two_regions
from tests.support.data.environment_data import copy_data
from tests.support.data.workbench import Workbench

RETIRED = OPEN.replace("open", "retired")
OTHER = "../palmtop/region.yaml"
SERVER, MOVED = "server: 192.0.2.53", "server: 192.0.2.54"


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    root = copy_data(tmp_path / "environments", "laptop")
    two_regions(root)
    return Workbench(root, "laptop")


@pytest.fixture
def base(bench: Workbench, tmp_path: Path) -> Path:
    return Path(shutil.copytree(bench.root, tmp_path / "base"))


def causes(bench: Workbench, base: Path) -> dict[str, list[str]]:
    """Return the paths of the causes of each row, by the row."""
    found = impact_of(bench, base)
    return {
        line.partition("; ")[0]: [f"{cause.file} {cause.path}" for cause in row.causes]
        for line, row in zip(rows(found), found.rows, strict=True)
    }


def test_each_row_has_the_edit_that_causes_it(bench: Workbench, base: Path) -> None:
    bench.edit("../fleet.yaml", SERVER, MOVED)
    bench.edit(OTHER, "ns.provider.example", "ns.other.example")

    assert causes(bench, base) == {
        "restarted pods delegation": ["../fleet.yaml dns.server"],
        "in place network delegation": [
            f"{OTHER} dns.name_servers.ns.provider.example",
            f"{OTHER} dns.name_servers.ns.other.example",
        ],
    }


def test_a_retired_region_is_the_cause_of_its_deleted_delegation(bench: Workbench, base: Path) -> None:
    fleet_text(bench.root, other=RETIRED)

    assert causes(bench, base) == {"deleted network delegation": ["../fleet.yaml regions.palmtop.status"]}


def test_other_edits_of_the_fleet_are_not_causes(bench: Workbench, base: Path) -> None:
    fleet_text(bench.root, other=OPEN.replace("[us]", "[us, ca]"))
    bench.edit(OTHER, "stacks: whole", "stacks: sliced")

    assert edits(base, bench.root, "laptop") == ()


def test_regions_other_than_the_home_have_no_edits_of_the_fleet(bench: Workbench, base: Path) -> None:
    fleet_text(bench.root, dns="dns: {zone: cloud.example, home: palmtop, server: 192.0.2.54}")
    fleet_text(base, dns="dns: {zone: cloud.example, home: palmtop, server: 192.0.2.53}")

    assert edits(base, bench.root, "laptop") == ()
    assert load_environment("laptop", bench.root).fleet_dns is None
