"""Allocation of rail prefixes: large enough for all possible nodes, disjoint, and stable while pods use them."""

from __future__ import annotations

from itertools import combinations

from components.allocate.allocation import attempt
from components.lookups.network.rails import rails_of
from components.lookups.pools import clusters
from components.render.network.rails import subnet
from components.specs.base import Network
from components.specs.environment import Environment
from tests.support.data.small_region import NODE_TYPE, allocated, changed, nodes, tenant
from tests.support.network.with_rails import RANGE, prefixes, with_rails


def _ant(count: int) -> tuple[object, ...]:
    return (tenant("ant", nodes(count), fabrics=("roce",)),)


def _idle(region: Environment) -> Environment:
    """Return the region without nodes in any group."""
    groups = {key: changed(group, nodes=0) for key, group in region.allocations.groups.items()}
    return changed(region, allocations=changed(region.allocations, groups=groups))


def _with_ports(region: Environment, rails: int, ports: int = 4) -> Environment:
    """Return the region with more rails, and nodes with ``ports`` of them."""
    [fabric] = region.region.fabrics
    named = {"roce_ports": ports, "roce_interfaces": tuple(f"p{port}" for port in range(ports))}
    kinds = (
        changed(kind, **named) if kind.name == NODE_TYPE else kind for kind in region.instance_types.instance_types
    )
    return changed(
        region,
        region=changed(region.region, fabrics=(changed(fabric, rails=rails),)),
        instance_types=changed(region.instance_types, instance_types=tuple(kinds)),
    )


def test_prefixes_are_apart_and_have_room_for_twice_the_nodes() -> None:
    bee = tenant("bee", nodes(1), fabrics=("roce",))
    region = allocated(with_rails(), tenants=(tenant("ant", nodes(6), fabrics=("roce",)), bee))

    # (6 + 1) blocks of 4 are 28 addresses, 64 hold twice as many, in 8 subnets; (1 + 1) blocks of 4 are 16 with twice.
    assert prefixes(region) == {"ant-one": "10.200.0.0/23", "bee-one": "10.200.2.0/25"}
    found = [rails_of(region, placed) for placed in clusters(region)]
    assert all(one and one.prefix.subnet_of(RANGE) and one.ports == 4 for one in found)
    assert not any(one.overlaps(other) for one, other in combinations(map(Network, prefixes(region).values()), 2))


def test_a_prefix_is_kept_while_nodes_fit_and_never_changes_under_pods() -> None:
    before = allocated(with_rails(), tenants=_ant(2))
    grown = allocated(before, tenants=_ant(6))

    assert prefixes(grown) == prefixes(before) == {"ant-one": "10.200.0.0/24"}
    [problem] = attempt(changed(grown, tenants=_ant(8))).problems
    assert problem.path == "clusters[0]"
    assert problem.text == (
        "needs 36 addresses on each rail of roce, and 10.200.0.0/24 has 32; pods and switches use it, so it cannot"
        " change: shrink pools with RoCE functions, or add the new nodes to another cluster"
    )


def test_an_unused_prefix_is_replaced_by_a_larger_one() -> None:
    before = allocated(with_rails(), tenants=_ant(2))
    moved = attempt(changed(_idle(before), tenants=_ant(8))).numbers

    assert str(moved.clusters["ant-one"].rail_prefixes["roce"]) == "10.200.4.0/22"
    assert moved.quarantine["ant/ant-one"].rail_prefixes == {"roce": (Network("10.200.0.0/24"),)}


def test_more_rails_change_no_prefix_that_pods_use() -> None:
    before = allocated(with_rails(), tenants=_ant(2))
    bee = tenant("bee", nodes(2), fabrics=("roce",))

    wider = allocated(_with_ports(before, rails=12), tenants=(*_ant(2), bee))

    assert prefixes(wider) == {"ant-one": "10.200.0.0/24", "bee-one": "10.200.2.0/23"}
    cut = {name: one.rail_subnets for name, one in wider.allocations.clusters.items()}
    assert cut == {"ant-one": 8, "bee-one": 16}
    rendered = [rails_of(wider, placed) for placed in clusters(wider)]
    assert [str(subnet(one.prefix, one.subnets, 3)) for one in rendered if one] == ["10.200.0.96/27", "10.200.2.96/27"]


def test_nodes_with_ports_on_rails_beyond_a_prefix_in_use_are_reported() -> None:
    before = allocated(with_rails(), tenants=_ant(2))

    [problem] = attempt(_with_ports(before, rails=12, ports=9)).problems

    assert problem.text == (
        "has nodes with ports on 9 rails of roce, and 10.200.0.0/24 is divided into 8 subnets, one per rail; pods and"
        " switches use it, so it cannot change: move these nodes to another cluster"
    )


def test_a_prefix_that_no_pod_uses_is_cut_for_more_rails() -> None:
    before = _idle(allocated(with_rails(), tenants=_ant(2)))

    moved = attempt(_with_ports(before, rails=12, ports=9)).numbers.clusters["ant-one"]

    assert (str(moved.rail_prefixes["roce"]), moved.rail_subnets) == ("10.200.2.0/23", 16)


def test_prefixes_of_clusters_that_leave_the_fabric_are_kept_back_for_them() -> None:
    before = allocated(with_rails(), tenants=_ant(2))
    left = allocated(before, tenants=(tenant("ant", nodes(2)),))

    assert left.allocations.clusters["ant-one"].rail_prefixes == {}
    assert left.allocations.quarantine["ant/ant-one"].rail_prefixes == {"roce": (Network("10.200.0.0/24"),)}
    assert prefixes(allocated(left, tenants=_ant(2))) == prefixes(before)


def test_an_exhausted_range_is_reported_with_its_position() -> None:
    [problem] = attempt(changed(with_rails(Network("10.200.0.0/25")), tenants=_ant(6))).problems

    full = "no free /23 in fabrics[0].rail_prefixes (region.yaml:1, 10.200.0.0/25); widen it there"
    assert problem.text == full
