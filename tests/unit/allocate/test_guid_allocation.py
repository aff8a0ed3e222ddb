"""Allocation of GUIDs for virtual functions: with room for growth, stable while in use, moved only if unused."""

from __future__ import annotations

from components.allocate.allocation import attempt
from components.specs.environment import Environment
from components.specs.locks import ClusterAllocation, Freed
from components.specs.network.fabrics import GuidNumbers
from tests.support.data.small_region import allocated, changed, nodes, small_region, tenant

ANT = tenant("ant", nodes(2), fabrics=("ib",))


def _guids(lock: dict[str, ClusterAllocation]) -> dict[str, str]:
    return {name: str(cluster.guids["ib"]) for name, cluster in lock.items()}


def test_guids_have_room_for_growth_and_grow_in_place() -> None:
    bee = tenant("bee", nodes(1), fabrics=("ib",))
    before = allocated(small_region(), tenants=(ANT, bee))
    grown = allocated(before, tenants=(tenant("ant", nodes(4), fabrics=("ib",)), bee))

    assert _guids(before.allocations.clusters) == {
        "ant-one": "0x0000000000001000-0x00000000000010ff",
        "bee-one": "0x0000000000001200-0x000000000000127f",
    }
    assert _guids(grown.allocations.clusters)["ant-one"] == "0x0000000000001000-0x00000000000011ff"
    assert grown.allocations.quarantine == {}


def _side_by_side(size: int) -> Environment:
    """Return a region with a range of ``size`` GUIDs, and two clusters whose GUIDs are adjacent."""
    fabric = changed(small_region().region.fabrics[0], guids=GuidNumbers(first=0x1000, last=0x1000 + size - 1))
    region = changed(small_region(), region=changed(small_region().region, fabrics=(fabric,)))
    return allocated(region, tenants=(ANT, tenant("bee", nodes(1), fabrics=("ib",))))


def test_guids_of_a_running_cluster_are_kept_when_the_next_ones_are_used() -> None:
    before = _side_by_side(512)
    grown = changed(before, tenants=(tenant("ant", nodes(6), fabrics=("ib",)), before.tenants[1]))

    assert _guids(before.allocations.clusters) == {
        "ant-one": "0x0000000000001000-0x00000000000010ff",
        "bee-one": "0x0000000000001100-0x000000000000117f",
    }
    [problem] = attempt(grown).problems
    assert problem.path == "clusters[0]"
    assert problem.text == (
        "needs 768 GUIDs on ib, and its range (0x0000000000001000-0x00000000000010ff, 256 GUIDs) cannot grow because"
        " the numbers after it are taken; pods use the range, so it cannot move: shrink pools until they need 256"
        " GUIDs, or add the new nodes to another cluster"
    )


def test_guids_of_a_cluster_without_nodes_move_when_the_next_ones_are_used() -> None:
    before = _side_by_side(4096)
    lock = before.allocations
    groups = {key: changed(group, nodes=0) for key, group in lock.groups.items()}
    tight = {
        **lock.clusters,
        "bee-one": changed(lock.clusters["bee-one"], guids={"ib": GuidNumbers(first=0x1100, last=0x117F)}),
    }
    idle = changed(before, allocations=changed(lock, groups=groups, clusters=tight))

    moved = allocated(idle, tenants=(tenant("ant", nodes(3), fabrics=("ib",)), before.tenants[1])).allocations

    assert _guids(moved.clusters)["ant-one"] == "0x0000000000001400-0x00000000000015ff"
    assert moved.quarantine == {"ant/ant-one": Freed(guids={"ib": (lock.clusters["ant-one"].guids["ib"],)})}


def test_guids_grow_by_the_required_number_if_a_power_of_two_does_not_fit() -> None:
    before = _side_by_side(640)
    third = allocated(before, tenants=(before.tenants[0],))
    grown = allocated(third, tenants=(tenant("ant", nodes(2), fabrics=("ib",)),))

    assert _guids(grown.allocations.clusters)["ant-one"] == "0x0000000000001000-0x00000000000010ff"


def test_a_smaller_cluster_keeps_its_guids() -> None:
    before = allocated(small_region(), tenants=(ANT,))
    after = allocated(before, tenants=(tenant("ant", nodes(1), fabrics=("ib",)),))

    assert after.allocations.clusters == before.allocations.clusters
