"""Catalogue values that many pools share: an edit is reported once, without consequential problems."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.rules.checks import check_data
from tests.support.data.environment_data import copy_data
from tests.support.data.workbench import Workbench

CATALOG = "../catalog/instance_types.yaml"
RESTORE = "restore both numbers (git diff shows them), or add another instance type for other hosts"


@pytest.mark.parametrize(
    ("name", "kind", "value", "edited", "text"),
    [
        pytest.param(
            "us-east-04a",
            "gb200-nvl72",
            "nodes_per_rack: 18",
            "nodes_per_rack: 36",
            (
                ":LINE  instance_types[4].nodes_per_rack: 36 in a rack, but none of the 150 racks of pools has more"
                " than 18 gb200-nvl72 (inventory/hall-c.csv:<c065-u18>); write 18"
            ),
            id="a rack of more nodes than any has",
        ),
        pytest.param(
            "us-east-04a",
            "gb200-nvl72",
            "nodes_per_rack: 18",
            "nodes_per_rack: 9",
            (
                ":LINE  instance_types[4].nodes_per_rack: 9 in a rack, but c065, c066, c067 and 157 more have up to 18"
                " gb200-nvl72 (inventory/hall-c.csv:<c065-u10>); write 18, or move hosts to other racks first"
            ),
            id="a rack of fewer nodes than most have, beside racks of nobody",
        ),
        pytest.param(
            "us-east-04a",
            "gb200-nvl72",
            "scale: rack ",
            "scale: node ",
            (
                ":LINE  instance_types[4].scale: is node, but 2700 hosts of gb200-nvl72 are in groups by rack"
                " (allocations.lock.yaml:<groups.aurelia-train/nvl72/c065>), whose nodes would all be recreated; write"
                " scale: rack"
            ),
            id="racks that fail node by node",
        ),
        pytest.param(
            "us-east-04a",
            "h100-ib-8",
            "    cpu_model",
            "    scale: rack\n    cpu_model",
            (
                ":LINE  instance_types[0].scale: is rack, but 1213 hosts of h100-ib-8 are in groups by hall"
                " (allocations.lock.yaml:<groups.borealis-train/h100/a>), whose nodes would all be recreated; write"
                " scale: node"
            ),
            id="nodes that fail with their rack",
        ),
        pytest.param(
            "lab",
            "h100-ib-8",
            "    cpu_model",
            "    scale: rack\n    cpu_model",
            (
                ":LINE  instance_types[0].scale: is rack, but rack a01 of h100-ib-8 also has cpu-gen5"
                " (inventory/hall-a.csv:<a01-u05>); write scale: node"
            ),
            id="nodes of a rack that others have too",
        ),
        pytest.param(
            "us-east-04a",
            "gb200-nvl72",
            "infiniband_ports: 4",
            "infiniband_ports: 8",
            (
                ":LINE  instance_types[4].infiniband_ports: with 8 ports and 16 virtual functions each, aurelia-train,"
                " meridian-train, northwind-train and 3 more require more GUIDs than they have"
                f" (allocations.lock.yaml:<clusters.aurelia-train>); {RESTORE}"
            ),
            id="more ports than GUIDs were given for",
        ),
        pytest.param(
            "us-east-04a",
            "h100-ib-8",
            ", gpudirect_rdma: true}\n    infiniband_ports: 8",
            "}\n    infiniband_ports: 0",
            (
                ":LINE  instance_types[0].infiniband_ports: with 0 ports and 16 virtual functions each, borealis-train,"
                " cobalt-one, delphi-fold and 1 more have GUIDs without ports"
                f" (allocations.lock.yaml:<clusters.borealis-train>); {RESTORE}"
            ),
            id="no ports, where GUIDs were given",
        ),
    ],
)
def test_an_edit_of_the_catalogue_is_reported_once_at_its_position(
    tmp_path: Path, name: str, kind: str, value: str, edited: str, text: str
) -> None:
    bench = Workbench(copy_data(tmp_path, name), name)
    _edit(bench, kind, value, edited)

    assert [f"{one.place}  {one.path}: {one.text}" for one in bench.problems()] == [bench.resolved(f"{CATALOG}{text}")]
    assert check_data(bench.load()), "an allocation would give the numbers and hosts of what runs anew"

    _edit(bench, kind, edited, value)
    assert bench.report() == ""


def test_further_problems_are_reported_in_addition_to_an_edit(tmp_path: Path) -> None:
    bench = Workbench(copy_data(tmp_path, "us-east-04a"), "us-east-04a")
    _edit(bench, "gb200-nvl72", "nodes_per_rack: 18", "nodes_per_rack: 36")
    _edit(bench, "h100-ib-8", "infiniband_ports: 8", "infiniband_ports: 16")
    bench.edit("tenants/aurelia.yaml", "vpc: aurelia", "vpc: aureliax")

    found = [(one.file, one.rule) for one in bench.problems()]
    assert found == [
        (CATALOG, "shared.infiniband-ports"),
        (CATALOG, "shared.nodes-per-rack"),
        ("tenants/aurelia.yaml", "references.cluster-references"),
    ]


def test_a_larger_range_of_autoscaling_is_no_edit_of_the_ports(tmp_path: Path) -> None:
    bench = Workbench(copy_data(tmp_path, "us-east-04a"), "us-east-04a")
    bench.edit("tenants/ember.yaml", "max_nodes: 120", "max_nodes: 180")
    bench.edit("tenants/ember.yaml", "h200-ib-8, nodes: 320", "h200-ib-8, nodes: 380")

    [found] = bench.problems()
    assert (found.path, found.rule) == ("clusters[1]", "locks.allocations")
    assert found.text.startswith("needs 23040 GUIDs on ib-east-1, and its range")


def _edit(bench: Workbench, kind: str, old: str, new: str) -> None:
    """Replace the first ``old`` after the name of an instance type."""
    path = bench.folder / CATALOG
    before, name, after = path.read_text(encoding="utf-8").partition(f"- name: {kind}\n")
    assert old in after
    path.write_text(before + name + after.replace(old, new, 1), encoding="utf-8")


def test_a_fabric_that_loses_a_hall_of_its_clusters_is_reported(tmp_path: Path) -> None:
    bench = Workbench(copy_data(tmp_path, "us-east-04a"), "us-east-04a")
    bench.edit("region.yaml", "halls: [a, b]", "halls: [a]")

    text = bench.resolved(
        "hall b is on no fabric with partitions, but has 928 hosts of cobalt-one, delphi-fold, juniper-genome and 2"
        " more (allocations.lock.yaml:<clusters.cobalt-one>); list b in halls of one"
    )
    assert [(one.place, one.path, one.text) for one in bench.problems()] == [
        (bench.resolved("region.yaml:<fabrics>"), "fabrics", text)
    ]


def test_a_row_in_another_rack_is_no_edit_of_the_catalogue(tmp_path: Path) -> None:
    bench = Workbench(copy_data(tmp_path, "us-east-04a"), "us-east-04a")
    lock = bench.load().allocations
    kept = next(name for name, key in lock.hosts.items() if key == "quarry-train/nvl72")
    rack = next(host.rack for host in bench.load().hosts if host.host == kept)
    hall = f"inventory/hall-{rack[0]}.csv"
    bench.edit(hall, f"{rack},1,", f"{rack}x,1,")

    rules = {one.rule for one in bench.problems()}
    assert rules, "the row is told"
    assert not {rule for rule in rules if rule.startswith("shared.")}
