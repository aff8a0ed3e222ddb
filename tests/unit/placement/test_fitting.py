"""Racks and fabrics for the nodes of an order in a large region."""

from __future__ import annotations

import pytest

from components.placement.fit import fit
from components.specs.reading.fleet import load_fleet
from tests.support.data.environment_data import ENVIRONMENTS, reference
from tests.support.data.fleets import order

BOTH = ("ib-east-1", "ib-east-2")


@pytest.mark.parametrize(
    ("items", "racks", "nodes", "fabrics", "refusals"),
    [
        ([("gb200-nvl72", 17, "nvlink-domain")], [1], [17], ("ib-east-2",), []),
        ([("gb200-nvl72", 18, "nvlink-domain")], [2], [34], (), [
            "nvlink-domain: an NVLink domain of gb200-nvl72 has 17 nodes without its spares, 18 are ordered",
            "capacity: 34 gb200-nvl72 are ordered, 20 are orderable (180 free, 10 for spares, 0 contracted)",
        ]),
        ([("h100-ib-8", 40, "fabric")], [None], [40], ("ib-east-1",), []),
        ([("h100-ib-8", 10, "fabric"), ("b200-ib-8", 10, "fabric")], [None, None], [10, 10], (), [
            "fabric: no fabric has 10 h100-ib-8, 10 b200-ib-8 (ib-east-1 lacks 10, ib-east-2 lacks 10)",
        ]),
        ([("h100-ib-8", 10, "region"), ("b200-ib-8", 10, "region")], [None, None], [10, 10], BOTH, []),
        ([("h100-ib-8", 10, "region")], [None], [10], ("ib-east-1",), []),
        ([("cpu-gen5", 10, "fabric")], [None], [10], (), []),
    ],
)  # fmt: skip
def test_racks_and_fabrics_of_a_large_region(
    items: list[tuple[str, int, str]],
    racks: list[int | None],
    nodes: list[int],
    fabrics: tuple[str, ...],
    refusals: list[str],
) -> None:
    listed = [{"instance_type": kind, "nodes": count, "within": within} for kind, count, within in items]

    plan, found = fit(reference("us-east-04a"), order(items=listed))

    assert [pool.racks for pool in plan.pools] == racks
    assert [pool.nodes for pool in plan.pools] == nodes
    assert [f"{item.reason}: {item.text}" for item in found] == refusals
    assert plan.fabrics == fabrics
    assert plan.system
    assert plan.system.instance_type == "cpu-gen5"


@pytest.mark.parametrize(
    ("fabrics", "within", "expected"),
    [
        (("ib-east-1",), "fabric", []),
        (BOTH, "fabric", []),
        ((), "fabric", ["VPC cobalt of the cluster is on none, and h100-ib-8 must be on one fabric"]),
        ((), "region", []),
    ],
)
def test_pools_of_a_cluster_are_on_the_fabric_of_its_vpc(
    fabrics: tuple[str, ...], within: str, expected: list[str]
) -> None:
    region = reference("us-east-04a")
    [vpc] = [vpc for tenant in region.tenants for vpc in tenant.vpcs if vpc.name == "cobalt"]
    items = [{"instance_type": "h100-ib-8", "nodes": 2, "within": within}]

    plan, found = fit(region, order(items=items), vpc.model_copy(update={"fabrics": fabrics}))

    assert [item.text for item in found] == expected
    assert (plan.system, plan.fabrics) == (None, ())


def test_a_region_whose_spares_take_whole_nvlink_domains() -> None:
    region = reference("us-east-04a")
    spares = region.model_copy(update={"region": region.region.model_copy(update={"spares": 18})})

    _, found = fit(spares, order("gb200-nvl72", 17))

    assert "all nodes of an NVLink domain of gb200-nvl72 are spares (18)" in [item.text for item in found]


def test_the_example_order_fits_into_the_example_region() -> None:
    [example] = [item for item in load_fleet(ENVIRONMENTS).orders if item.order == "heron-train"]

    plan, found = fit(reference("us-east-04a"), example)

    assert found == []
    assert plan.fabrics == ("ib-east-1",)
    assert example.placed_in is None


def test_a_cluster_on_several_fabrics_with_hosts_of_the_type_is_refused() -> None:
    region = reference("us-east-04a")
    fabrics = [fabric.model_copy(update={"halls": ("a",) if index else ("b",)}) for index, fabric in
               enumerate(region.region.fabrics)]  # fmt: skip
    split = region.model_copy(update={"region": region.region.model_copy(update={"fabrics": tuple(fabrics)})})
    [vpc] = [vpc for tenant in region.tenants for vpc in tenant.vpcs if vpc.name == "cobalt"]
    items = [{"instance_type": "h100-ib-8", "nodes": 2}]

    _, found = fit(split, order(items=items), vpc.model_copy(update={"fabrics": BOTH}))

    assert [item.text for item in found] == [
        "VPC cobalt of the cluster is on ib-east-1, ib-east-2, and h100-ib-8 must be on one fabric"
    ]
