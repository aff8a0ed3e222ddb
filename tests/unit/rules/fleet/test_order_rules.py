"""Error texts of invalid orders: in the file, and for names that no region has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from components.rules.checks import check_fleet
from components.specs.reading.fleet import NAME, load_fleet
from components.specs.reading.problems import SpecError
from tests.support.data.environment_data import reference
from tests.support.data.fleets import OPEN, empty_region, fleet, only_problem, order

RIGHT = """\
schema_version: 1
order: heron-train
tenant: heron
contacts: {alerts: oncall@heron.example, changes: platform@heron.example}
from: 2027-01-15
cluster: heron-train
version: v1.35.2
items:
  - {instance_type: h100-ib-8, nodes: 32}
constraints: {jurisdictions: [us]}
"""


def write(root: Path, text: str, name: str = "heron-train.yaml") -> None:
    (root / "orders").mkdir(exist_ok=True)
    (root / "orders" / name).write_text(text, encoding="utf-8")


def test_orders_are_read_by_name(tmp_path: Path) -> None:
    write(tmp_path, RIGHT)
    write(tmp_path, RIGHT.replace("order: heron-train", "order: a"), "a.yaml")
    write(tmp_path, "", ".draft.yaml")

    found = load_fleet(tmp_path)

    assert [item.order for item in found.orders] == ["a", "heron-train"]
    assert found.spec is None


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("tenant: heron\n", "", "1 tenant: is required"),
        ("tenant: heron", "tenant: Heron", "3 tenant: "),
        ("contacts: {alerts: oncall@heron.example, changes: platform@heron.example}\n", "", "1 contacts: is required"),
        ("alerts: oncall@heron.example, ", "", "4 contacts.alerts: is required"),
        ("from: 2027-01-15\n", "", "1 from: is required"),
        ("2027-01-15", "15.1.2027", "5 from: must be a date"),
        ("2027-01-15\n", "2027-01-15\nuntil: 2027-01-14\n", "6 until: is before from (2027-01-15) (got "),
        ("items:", "placed_in: a\nreserved_in: a\nitems:", "9 reserved_in: the order is placed already (got 'a')"),
        ("2027-01-15", "2027-02-30", "5 from: must be a date"),
        ("cluster: heron-train", "cluster: heron-train-of-2027", "6 cluster: "),
        ("version: v1.35.2", "version: 1.35", "7 version: "),
        ("items:\n  - {instance_type: h100-ib-8, nodes: 32}\n", "items: []\n", "8 items: needs at least 1 entry"),
        ("nodes: 32", "nodes: 0", "9 items[0].nodes: must be "),
        ("nodes: 32", "nodes: many", "9 items[0].nodes: must be "),
        ("nodes: 32", "nodes: 6000", "9 items[0].nodes: must be "),
        ("nodes: 32", "nodes: 32, within: rack", "9 items[0].within: must be one of region, fabric, nvlink-domain"),
        ("nodes: 32", "nodes: 32, racks: 2", "9 items[0].racks: is not a key here"),
        ("nodes: 32}\n", "nodes: 32}\n  - {instance_type: h100-ib-8, nodes: 1}\n",
         "10 items[1].instance_type: 'h100-ib-8' is listed twice; remove it and raise nodes"),
        ("{jurisdictions: [us]}", "{jurisdiction: us}", "10 constraints.jurisdiction: is not a key here"),
        ("{jurisdictions: [us]}", "{regions: [desk], excluded_regions: [desk]}",
         "10 constraints.excluded_regions[0]: 'desk' is also in regions; remove it from one of them"),
        ("order: heron-train", "order: heron",
         "2 order: is 'heron' in ../orders/heron-train.yaml; write heron-train, or rename the file to heron.yaml"),
        ("schema_version: 1", "schema_version: 9", "1 schema_version: is 9, but this jacquard reads 1"),
        (RIGHT, "", "1 is empty; restore the file with git checkout, or write its keys"),
        (RIGHT, "- order\n", " must be a mapping of keys"),
    ],
)  # fmt: skip
def test_a_wrong_order_has_one_problem_with_its_line(tmp_path: Path, old: str, new: str, problem: str) -> None:
    assert old in RIGHT
    write(tmp_path, RIGHT.replace(old, new, 1))

    line = only_problem(tmp_path)

    place = "../orders/heron-train.yaml" + ("" if problem.startswith(" ") else ":")
    assert line.startswith(f"{place}{problem}"), line


def test_other_files_are_reported(tmp_path: Path) -> None:
    for name in ("heron.yml", "Heron.yaml", "heron.yaml.orig"):
        write(tmp_path, RIGHT, name)

    with pytest.raises(SpecError) as error:
        load_fleet(tmp_path)

    text = "is not read; rename it to <order>.yaml in lower case, or remove it"
    assert [(item.file, item.text) for item in error.value.problems] == [
        ("../orders/Heron.yaml", text),
        ("../orders/heron.yaml.orig", text),
        ("../orders/heron.yml", text),
    ]


def test_the_folder_must_be_a_folder(tmp_path: Path) -> None:
    (tmp_path / "orders").write_text("")

    with pytest.raises(SpecError, match="orders  is a file but must be a folder"):
        load_fleet(tmp_path)


def found(**fields: Any) -> list[str]:
    """Return the problems of an order in a fleet of two regions."""
    known = fleet(order(**fields), desk=OPEN, bench=OPEN)
    problems = check_fleet(known, [empty_region("desk"), reference("us-east-04a")]).get(NAME, [])
    return [f"{item.path}: {item.text} ({item.rule})" for item in problems if item.file == "../orders/heron-train.yaml"]


@pytest.mark.parametrize(
    ("fields", "start", "end"),
    [
        ({"kind": "h100-ib-9"}, "items[0].instance_type: 'h100-ib-9' is unknown (known: ", "did you mean 'h100-ib-8'?"),
        ({"version": "v1.35.9"}, "version: 'v1.35.9' is unknown (known: v1.34.6, ", "did you mean 'v1.35.2'?"),
        ({"constraints": {"regions": ["dask"]}},
         "constraints.regions[0]: 'dask' is unknown in ../fleet.yaml (known: bench, desk)", "did you mean 'desk'?"),
        ({"constraints": {"excluded_regions": ["moon"]}},
         "constraints.excluded_regions[0]: 'moon' is unknown in ../fleet.yaml (known: bench, desk)", ""),
        ({"constraints": {"near": "moon"}}, "constraints.near: 'moon' is unknown in ../fleet.yaml", ""),
        ({"constraints": {"capabilities": ["vm"]}}, "constraints.capabilities[0]: 'vm' is unknown (known: ", "'vms'?"),
        ({"placed_in": "moon"}, "placed_in: 'moon' is unknown in ../fleet.yaml (known: bench, desk)", ""),
    ],
)  # fmt: skip
def test_a_name_that_no_region_has(fields: dict[str, Any], start: str, end: str) -> None:
    [line] = found(**fields)

    assert line.startswith(start)
    assert line.endswith(f"{end} (orders.names)")


@pytest.mark.parametrize(
    ("kind", "nodes", "expected"),
    [
        ("h100-ib-8", 4, "h100-ib-8 has no NVLink domain of several nodes; write fabric or region"),
        ("gb200-nvl72", 19, "an NVLink domain of gb200-nvl72 has 18 nodes, the item has 19; write fabric, or fewer"),
        ("gb200-nvl72", 18, None),
    ],
)
def test_an_item_that_no_nvlink_domain_contains(kind: str, nodes: int, expected: str | None) -> None:
    lines = found(items=[{"instance_type": kind, "nodes": nodes, "within": "nvlink-domain"}])

    assert lines == ([f"items[0].within: {expected} (orders.nvlink-domains)"] if expected else [])


def test_a_placed_order_without_its_cluster() -> None:
    assert found(placed_in="desk") == [
        ("placed_in: desk has no cluster heron-train of tenant heron; remove the order, or the key (orders.placed)")
    ]
