"""Effect of spares on the replacement of a group, and limits on groups that roll out in parallel."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from components.rollout.limits import RolloutLimits
from components.rollout.replacement import Replacement, replacement, replacements, spare_hosts
from components.specs.environment import Environment
from components.specs.hosts.out_of_service import HostState, OutOfServiceSpec
from components.specs.keys import pool_of
from components.specs.network.fabrics import FabricKind
from components.specs.pools.node_pool import RolloutSpec
from components.specs.pools.nodes import RolloutLimitsSpec
from tests.support.data.small_region import allocated, changed, nodes, racks, small_region, tenant

BROKEN = OutOfServiceSpec(state=HostState.RMA, since=dt.date(2026, 11, 3), reason="fans")


def limited(environment: Environment, **limits: Any) -> RolloutLimits:
    nodes_of_region = changed(environment.region.nodes, rollouts=RolloutLimitsSpec(**limits))
    return RolloutLimits(changed(environment, region=changed(environment.region, nodes=nodes_of_region)))


@pytest.fixture
def region() -> Environment:
    """Return a region in which tenant one has 6 nodes in two racks with a spare each, and two whole racks."""
    pools = (
        nodes(6, spares=1, rollout={"surge": 1, "max_unavailable": 2}),
        racks(2, spares=0, rollout={"max_unavailable": 4}),
    )
    return allocated(small_region(), tenants=(tenant("one", *pools, fabrics=("ib",)),))


@pytest.mark.parametrize(
    ("amount", "nodes", "unavailable"), [("5%", 8, 1), ("50%", 5, 2), ("50%", 1, 1), ("0%", 8, 1), (0, 8, 1), (2, 8, 2)]
)
def test_unavailable_nodes_stay_within_the_limit_but_at_least_one_is_permitted(
    amount: int | str, nodes: int, unavailable: int
) -> None:
    found = replacement(RolloutSpec(max_unavailable=amount), nodes, spares=0)

    assert (found.max_surge, found.max_unavailable) == (0, unavailable)


@pytest.mark.parametrize(
    ("surge", "spares", "surges", "away", "reason"),
    [
        (0, 3, 0, 2, "2 at a time, old nodes first: surge is 0"),
        (
            2,
            0,
            0,
            2,
            "2 at a time, old nodes first: surge is 2, but the failure domain has no spare host",
        ),
        (2, 1, 1, 0, "1 of 2 requested at a time, new nodes first: the failure domain has 1 spare host"),
        ("50%", 7, 4, 0, "4 at a time, new nodes first: the failure domain has 7 spare hosts"),
    ],
)
def test_spares_decide_whether_new_nodes_are_created_first(
    surge: int | str, spares: int, surges: int, away: int, reason: str
) -> None:
    rollout = RolloutSpec(surge=surge, max_unavailable=2)

    found = replacement(rollout, 8, spares)

    assert found == Replacement(max_surge=surges, max_unavailable=away, reason=reason)


def test_a_group_surges_while_its_failure_domain_has_a_spare(region: Environment) -> None:
    assert replacements(region)["one-one/lab/a1"] == Replacement(
        max_surge=1, max_unavailable=0, reason="1 at a time, new nodes first: the failure domain has 1 spare host"
    )


def test_a_group_whose_spare_broke_reuses_its_hosts(region: Environment) -> None:
    [*_, spare] = sorted(
        host for host, pool in region.allocations.hosts.items() if pool == "one-one/lab" and "a1-" in host
    )
    spoilt = changed(region, out_of_service={spare: BROKEN})

    assert spare_hosts(spoilt)["one-one/lab/a1"] == 0
    assert replacements(spoilt)["one-one/lab/a1"] == Replacement(
        max_surge=0,
        max_unavailable=2,
        reason="2 at a time, old nodes first: surge is 1, but the failure domain has no spare host",
    )
    assert replacements(spoilt)["one-one/lab/a2"] == replacements(region)["one-one/lab/a2"]


@pytest.mark.parametrize("pool", ["one-one/lab", "one-one/rack"])
def test_the_spares_of_one_pool_are_those_of_the_whole_region_that_are_its_own(region: Environment, pool: str) -> None:
    every = spare_hosts(region)

    assert every
    assert spare_hosts(region, pool) == {key: count for key, count in every.items() if pool_of(key) == pool}


@pytest.mark.parametrize(
    ("limits", "groups", "expected"),
    [
        ({}, ["rack/n1", "rack/n2"], []),
        ({"max_unavailable_per_pool": 8}, ["rack/n1", "rack/n2"], []),
        (
            {"max_unavailable_per_pool": "50%"},
            ["rack/n1", "rack/n2"],
            ["8 nodes would be unavailable simultaneously in one-one/rack, max_unavailable_per_pool allows 4"],
        ),
        ({"max_unavailable_per_pool": "50%"}, ["rack/n1", "lab/a1"], []),
        (
            {"max_rolling_nvlink_domains": 1},
            ["rack/n1", "rack/n2", "lab/a1", "lab/a2"],
            ["2 NVLink domains would roll simultaneously in one-one/rack, max_rolling_nvlink_domains allows 1"],
        ),
        (
            {"max_unavailable_per_fabric": 7},
            ["rack/n1", "rack/n2"],
            ["8 nodes would be unavailable simultaneously in fabric ib, max_unavailable_per_fabric allows 7"],
        ),
        ({"max_unavailable_per_fabric": 7}, ["rack/n1", "lab/a1", "lab/a2"], []),
    ],
)
def test_limits_hold_for_groups_that_roll_together(
    region: Environment, limits: dict[str, Any], groups: list[str], expected: list[str]
) -> None:
    keys = [f"one-one/{group}" for group in groups]

    assert [str(excess) for excess in limited(region, **limits).broken_by(keys)] == expected


@pytest.mark.parametrize(
    ("fabric", "vpc", "counts"),
    [
        ({"kind": FabricKind.ETHERNET}, (), True),
        ({"kind": FabricKind.ETHERNET, "halls": ("b",)}, (), False),
        ({}, (), False),
        ({}, ("ib",), True),
    ],
)
def test_a_fabric_counts_the_nodes_that_are_on_it(fabric: dict[str, Any], vpc: tuple[str, ...], counts: object) -> None:
    base = small_region()
    [infiniband] = base.region.fabrics
    one = changed(base, region=changed(base.region, fabrics=(changed(infiniband, **fabric),)))
    environment = allocated(
        one, tenants=(tenant("one", racks(1, spares=0, rollout={"max_unavailable": 4}), fabrics=vpc),)
    )

    [group] = environment.allocations.groups
    found = list(limited(environment, max_unavailable_per_fabric=1).broken_by([group]))

    assert bool(found) is counts
