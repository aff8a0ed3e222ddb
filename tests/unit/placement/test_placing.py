"""The region of an order: constraints, capacity, ranks, and the written files."""

from __future__ import annotations

import datetime as dt
from functools import partial
from typing import Any

import pytest

from components.placement import placing
from components.placement.decision import Reason
from components.placement.placing import Placement, with_region
from components.rules.checks import check
from components.specs.environment import Environment
from components.specs.fleet.order import OrderSpec
from components.specs.locks import AllocationsLock
from tests.support.data.fleets import GPUS, OPEN, PLAIN, empty_region, fleet, order

NO_FABRIC = f"fabric: has no fabric for 4 {GPUS}; items with 'within: region' need none (4)"
SHORT = f"capacity: {{}} {GPUS} are ordered, {{}} are orderable ({{}} free, {{}} for spares, 0 contracted) ({{}})"
TODAY = dt.date(2026, 11, 1)
place = partial(placing.place, today=TODAY)


def reasons(wanted: OrderSpec, environment: Environment, **entries: dict[str, Any]) -> list[str]:
    """Return the reasons against a region for an order that only fits this region."""
    placement = place(wanted, fleet(**entries), [environment], {})
    [verdict] = placement.decision.verdicts
    assert placement.edits is None
    assert placement.decision.region is None
    assert (placement.decision.closest, verdict.rank) == (environment.name, None)
    return [f"{item.reason}: {item.text} ({item.lacking})" for item in verdict.refusals]


@pytest.mark.parametrize(
    ("constraints", "entry", "expected"),
    [
        ({}, {"status": "building"}, "status: is building (0)"),
        ({}, {"status": "draining"}, "status: is draining (0)"),
        ({}, {"status": "retired"}, "status: is retired (0)"),
        ({"regions": ["other"]}, {}, "excluded: is not in other (0)"),
        ({"excluded_regions": ["desk"]}, {}, "excluded: is excluded (0)"),
        ({"jurisdictions": ["it", "eu"]}, {}, "jurisdiction: is in us, not in it, eu (0)"),
        ({"near": "other"}, {"latency_group": "west"}, "latency: is in latency group west, other in east (0)"),
        ({"near": "other"}, {}, "latency: is in latency group none, other in east (0)"),
        ({"capabilities": ["roce", "soc-2"]}, {}, "capability: has no roce, soc-2 (0)"),
    ],
)
def test_a_region_that_does_not_satisfy_a_constraint(
    constraints: dict[str, Any], entry: dict[str, Any], expected: str
) -> None:
    entries = {"desk": OPEN | entry, "other": OPEN | {"latency_group": "east"}}

    assert reasons(order(constraints=constraints), empty_region("desk"), **entries) == [expected]


@pytest.mark.parametrize(
    ("constraints", "entry"),
    [
        ({"regions": ["desk", "other"]}, {}),
        ({"excluded_regions": ["other"]}, {}),
        ({"jurisdictions": ["eu", "us"]}, {"jurisdictions": ["us", "ca"]}),
        ({"near": "desk"}, {}),
        ({"near": "other"}, {"latency_group": "east"}),
        ({"capabilities": ["vms", "storage-vast", "soc-2"]}, {"capabilities": ["soc-2"]}),
    ],
)
def test_a_region_that_satisfies_the_constraints(constraints: dict[str, Any], entry: dict[str, Any]) -> None:
    known = fleet(desk=OPEN | entry, other=OPEN | {"status": "draining", "latency_group": "east"})

    assert place(order(constraints=constraints), known, [empty_region("desk")], {}).decision.region == "desk"


@pytest.mark.parametrize(
    ("wanted", "gpus", "expected"),
    [
        (order(nodes=22), 24, SHORT.format(22, 21, 24, 3, 1)),
        (order(nodes=9), 8, SHORT.format(9, 7, 8, 1, 2)),
        (order(), 0, f"instance-type: has no {GPUS} (4)"),
        (order("h200-ib-8"), 24, "instance-type: has no h200-ib-8 (4)"),
        (order(items=[{"instance_type": GPUS, "nodes": 4}]), 24, NO_FABRIC),
        (order(version="v1.34.6", isolation="kube-ovn"), 24, "rules: "),
    ],
)  # fmt: skip
def test_a_region_without_room(wanted: OrderSpec, gpus: int, expected: str) -> None:
    [found] = reasons(wanted, empty_region("desk", gpus), desk=OPEN)

    assert found.startswith(expected)


def test_a_new_cluster_requires_nodes_for_its_system_pool() -> None:
    desk = empty_region("desk")
    lone = desk.model_copy(update={"hosts": tuple(host for host in desk.hosts if host.instance_type == GPUS)})

    assert reasons(order(), lone, desk=OPEN) == [
        "capacity: 2 nodes without GPUs are required for the system pool, 0 are orderable (2)"
    ]


def test_a_region_with_problems_gets_no_order() -> None:
    broken = empty_region("desk").model_copy(update={"allocations": AllocationsLock(schema_version=1)})

    assert [item.partition(" ")[0] for item in reasons(order(), broken, desk=OPEN)] == ["data:"]


def test_all_reasons_against_a_region_are_listed() -> None:
    wanted = order("h200-ib-8", constraints={"jurisdictions": ["eu"], "capabilities": ["roce"]})

    found = place(wanted, fleet(desk=OPEN | {"status": "building"}), [empty_region("desk")], {}).decision

    assert [item.reason for item in found.verdicts[0].refusals] == [
        Reason.STATUS,
        Reason.JURISDICTION,
        Reason.CAPABILITY,
        Reason.INSTANCE_TYPE,
    ]


def test_the_region_with_the_least_room_is_chosen_and_the_others_are_ranked() -> None:
    regions = [empty_region("large"), empty_region("middle", 16), empty_region("small", 8), empty_region("tiny", 3)]
    known = fleet(large=OPEN, middle=OPEN, small=OPEN, tiny=OPEN)

    found = place(order(), known, regions, {}).decision

    assert [(item.region, item.rank, item.left) for item in found.verdicts] == [
        ("small", 1, 3),
        ("middle", 2, 10),
        ("large", 3, 17),
        ("tiny", None, None),
    ]
    assert found.region == "small"
    assert found == place(order(), known, regions[::-1], {}).decision
    assert found.to_json()["verdicts"][3]["refusals"][0]["lacking"] == 2


def test_a_region_outside_the_fleet_is_not_considered() -> None:
    found = place(order(), fleet(desk=OPEN), [empty_region("desk", 3), empty_region("unlisted")], {}).decision

    assert (found.region, [verdict.region for verdict in found.verdicts]) == (None, ["desk"])


def placed(wanted: OrderSpec, environment: Environment, text: str | None = None) -> Placement:
    texts = {environment.name: text} if text else {}
    found = place(wanted, fleet(**{environment.name: OPEN}), [environment], texts)
    assert found.edits, found.decision
    return found


def test_a_new_tenant_gets_a_file_with_contract_network_cluster_and_pools() -> None:
    edits = placed(order(changes={"approval": "not-required"}), empty_region("desk")).edits

    assert edits
    assert edits.file == "tenants/heron.yaml"
    assert edits.text == (
        "# yaml-language-server: $schema=../../../schemas/tenant.schema.json\n"
        "# order heron-train, needed from 2027-01-15\n"
        "schema_version: 1\n"
        "tenant: heron\n"
        "contacts: {alerts: oncall@heron.example, changes: platform@heron.example}\n"
        "contract:\n"
        f"  - {{instance_type: {GPUS}, nodes: 4}}\n"
        "changes: {approval: not-required}\n"
        "\n"
        "vpcs:\n"
        "  - {name: heron-train, isolation: dpf-hbn, hosts: /25, pods: /20, services: /20, load_balancers: /26,"
        " egress: public}\n"
        "\n"
        "clusters:\n"
        "  - name: heron-train\n"
        "    version: v1.35.2\n"
        "    vpc: heron-train\n"
        "    pools:\n"
        f"      - {{name: system, role: system, instance_type: {PLAIN}, nodes: 2}}\n"
        f"      - {{name: h100, instance_type: {GPUS}, nodes: 4}}\n"
        "    storage: [shared-vast]\n"
    )
    assert check(edits.after) == []
    kinds = {host.host: host.instance_type for host in edits.after.hosts}
    pools = [(pool, kinds[host]) for host, pool in edits.numbers.hosts.items()]
    assert pools.count(("heron-train/h100", GPUS)) >= 4
    assert pools.count(("heron-train/system", PLAIN)) >= 2
    assert set(edits.pins.groups) == {key for key in edits.numbers.groups if key.startswith("heron-train/")}


def test_an_order_for_a_cluster_of_the_tenant_adds_pools_and_keeps_the_rest_of_the_file() -> None:
    first = placed(order(), empty_region("desk")).edits
    assert first
    text = first.text.replace("nodes: 4}\n    storage", "nodes: 4}   # training\n    storage")
    more = order(order="heron-more", nodes=3)

    second = placed(more, first.after, text).edits

    assert second
    assert second.text == text.replace(
        f"contract:\n  - {{instance_type: {GPUS}, nodes: 4}}", f"contract:\n  - {{instance_type: {GPUS}, nodes: 7}}"
    ).replace("# training\n", f"# training\n      - {{name: h100-2, instance_type: {GPUS}, nodes: 3}}\n")
    assert first.numbers.hosts.items() <= second.numbers.hosts.items()


def test_an_order_for_another_cluster_of_the_tenant_adds_the_cluster_and_its_vpc() -> None:
    first = placed(order(), empty_region("desk")).edits
    assert first

    second = placed(order(order="heron-serve", cluster="heron-serve", nodes=3), first.after, first.text).edits

    assert second
    [tenant] = second.after.tenants
    assert [cluster.name for cluster in tenant.clusters] == ["heron-train", "heron-serve"]
    assert [vpc.name for vpc in tenant.vpcs] == ["heron-train", "heron-serve"]
    assert [(entry.instance_type, entry.nodes) for entry in tenant.contract] == [(GPUS, 7)]
    assert second.text.startswith(first.text.partition("contract")[0])


def test_a_region_that_has_the_tenant_is_preferred() -> None:
    first = placed(order(), empty_region("large")).edits
    assert first
    regions = [first.after, empty_region("small", 8)]
    known = fleet(large=OPEN, small=OPEN)
    texts = {"large": first.text}

    for wanted in (order(order="more"), order(order="other", cluster="heron-serve")):
        assert place(wanted, known, regions, texts).decision.region == "large"
    assert place(order(tenant="stork", cluster="stork"), known, regions, {}).decision.region == "small"


def test_a_placed_order_keeps_its_region() -> None:
    found = place(order(placed_in="desk"), fleet(desk=OPEN), [empty_region("desk")], {})

    assert (found.decision.region, found.decision.was_placed, found.edits) == ("desk", True, None)
    assert with_region("order: a   # first\n", "desk") == "order: a   # first\nplaced_in: desk\n"


def test_two_orders_do_not_get_the_same_hosts() -> None:
    first = placed(order(nodes=12), empty_region("desk")).edits
    assert first

    found = place(order(order="b", tenant="stork", cluster="stork", nodes=12), fleet(desk=OPEN), [first.after], {})

    assert found.decision.region is None
    assert found.decision.verdicts[0].refusals[0].reason is Reason.CAPACITY
