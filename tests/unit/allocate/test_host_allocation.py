"""Allocation of hosts: whole failure domains first, spares in each, no faulty hosts, and no unrequested release."""

from __future__ import annotations

from collections import Counter

import pytest

from components.allocate.allocation import attempt
from components.allocate.releases import release_hosts, replace_hosts
from components.specs.environment import Environment
from components.specs.locks import AllocationsLock, GroupAllocation
from components.specs.pools.node_pool import PoolRole
from components.specs.reading.problems import ArgumentError, SpecError
from components.specs.region.region import SiteSpec
from tests.support.checks.places import resolved
from tests.support.data.environment_data import LAPTOP
from tests.support.data.small_region import allocated, changed, faults, nodes, rack, racks, small_region, tenant


def _hosts(lock: AllocationsLock) -> dict[str, int]:
    """Return hosts by pool and rack."""
    return dict(sorted(Counter(f"{pool}/{host.partition('-')[0]}" for host, pool in lock.hosts.items()).items()))


def _nodes(lock: AllocationsLock) -> dict[str, int]:
    return {name: group.nodes for name, group in sorted(lock.groups.items())}


def test_racks_are_filled_in_natural_order() -> None:
    lock = allocated(small_region(), tenants=(tenant("ant", nodes(9)),)).allocations

    assert _nodes(lock) == {"ant-one/lab/a1": 3, "ant-one/lab/a10": 3, "ant-one/lab/a2": 3}


def test_a_pool_may_have_other_spares_than_its_region() -> None:
    none = allocated(small_region(), tenants=(tenant("ant", nodes(8, spares=0)),)).allocations
    half = allocated(small_region(), tenants=(tenant("ant", nodes(4, spares="50%")),)).allocations

    assert (_nodes(none), _hosts(none)) == (dict.fromkeys(("ant-one/lab/a1", "ant-one/lab/a2"), 4),) * 2
    assert _nodes(half) == dict.fromkeys(("ant-one/lab/a1", "ant-one/lab/a2"), 2)
    assert _hosts(half) == dict.fromkeys(("ant-one/lab/a1", "ant-one/lab/a2"), 3)


def test_a_host_out_of_service_is_not_allocated() -> None:
    region = changed(small_region(), out_of_service=faults("a1-u1"))
    lock = allocated(region, tenants=(tenant("ant", nodes(3)), tenant("bee", nodes(2)))).allocations

    assert "a1-u1" not in lock.hosts
    assert _hosts(lock) == {"ant-one/lab/a2": 4, "bee-one/lab/a10": 3}


def test_a_broken_host_is_kept_and_is_replaced_on_request() -> None:
    before = allocated(small_region(), tenants=(tenant("ant", nodes(2)), tenant("bee", nodes(3))))
    broken = changed(before, out_of_service=faults("a1-u1", "a2-u1"))
    assert allocated(broken).allocations == before.allocations

    numbers, pins = replace_hosts(broken, "ant-one/lab")
    assert numbers.hosts == before.allocations.hosts | {"a1-u4": "ant-one/lab"}
    replaced = changed(broken, allocations=numbers, image_pins=pins)
    assert allocated(replaced).allocations == numbers
    repaired = changed(replaced, out_of_service={})
    assert allocated(repaired).allocations == numbers
    assert release_hosts(repaired, "ant-one/lab")[0].hosts == before.allocations.hosts


def test_a_pool_without_a_free_host_for_its_broken_one_is_reported() -> None:
    before = allocated(small_region(), tenants=(tenant("ant", nodes(3)),), out_of_service=faults("b1-u1"))
    broken = changed(before, out_of_service=faults("a1-u1", "b1-u1"))
    with pytest.raises(SpecError) as caught:
        replace_hosts(broken, "ant-one/lab")
    assert caught.value.problems[0].text == (
        "ant-one/lab needs 1 host in a1, where no host is free; spares are in use, 3 of 3 nodes can run; return a host"
        f" once it is repaired: jacquard host {before.name} HOST --to production --evidence FILE"
    )
    with pytest.raises(SpecError) as caught:
        replace_hosts(before, "ant-one/lab")
    assert caught.value.problems[0].text == (
        "ant-one/lab needs no replacement: the hosts of all its nodes and spares are in service, 3 of 3 nodes can run"
    )


def test_a_group_that_grows_does_not_count_on_a_broken_host() -> None:
    before = allocated(small_region(), tenants=(tenant("ant", nodes(2)),))
    edits = {"tenants": (tenant("ant", nodes(3)),), "out_of_service": faults("a1-u1")}

    grown = allocated(before, **edits).allocations
    assert _nodes(grown) == {"ant-one/lab/a1": 2, "ant-one/lab/a2": 1}
    assert _hosts(grown) == {"ant-one/lab/a1": 3, "ant-one/lab/a2": 2}


def test_a_shortage_counts_hosts_out_of_service() -> None:
    region = changed(small_region(), out_of_service=faults("a1-u1", "a1-u2", "a2-u1"))
    [problem] = attempt(changed(region, tenants=(tenant("ant", nodes(30)),))).problems

    assert problem.text == resolved(
        "30 h100-ib-8 nodes requested, 9 available: rack a1 has 4 of which 1 is a spare and 2 are out of service, rack"
        " a2 has 4 of which 1 is a spare and 1 is out of service, rack a10 has 4 of which 1 is a spare, rack b1 has 4"
        " of which 1 is a spare (inventory/hall-a.csv, inventory/hall-b.csv, out_of_service.yaml; spares: 2% in"
        " region.yaml:<spares>); lower nodes to 9, lower spares, or add a rack",
        LAPTOP,
    )


def test_a_shortage_of_system_nodes_is_not_fixed_by_a_single_one() -> None:
    broken = (f"{rack}-u{unit}" for rack in ("a1", "a2", "a10", "b1") for unit in range(1, 3 if rack == "b1" else 5))
    region = changed(small_region(), out_of_service=faults(*broken))
    system, more = (nodes(2, name=name, role=PoolRole.SYSTEM) for name in ("system", "more"))
    [alone] = attempt(changed(region, tenants=(tenant("ant", system),))).problems
    [beside, _] = attempt(changed(region, tenants=(tenant("ant", system, more),))).problems

    assert "2 h100-ib-8 nodes requested, 1 available: " in alone.text
    assert alone.text.endswith("; lower spares, or add a rack, since role system requires 2 nodes or more")
    assert beside.text.endswith("; lower nodes to 1, lower spares, or add a rack")


def test_a_pool_of_racks_gets_whole_racks_including_its_spares() -> None:
    lock = allocated(small_region(), tenants=(tenant("ant", racks(2)),)).allocations

    assert _hosts(lock) == {"ant-one/rack/n1": 4, "ant-one/rack/n2": 4}
    assert _nodes(lock) == {"ant-one/rack/n1": 3, "ant-one/rack/n2": 3}


def test_a_rack_with_a_host_out_of_service_is_kept_but_not_newly_allocated() -> None:
    region = changed(small_region(), out_of_service=faults("n1-u1"))
    lock = allocated(region, tenants=(tenant("ant", racks(2)),)).allocations
    assert _hosts(lock) == {"ant-one/rack/n2": 4, "ant-one/rack/n3": 4}

    before = allocated(small_region(), tenants=(tenant("ant", racks(2)),))
    assert allocated(before, out_of_service=faults("n1-u1", "n1-u2")).allocations == before.allocations


def test_too_few_whole_racks_are_reported_with_the_reason() -> None:
    region = changed(small_region(), out_of_service=faults("n1-u1"))
    wanted = (tenant("ant", racks(1)), tenant("bee", racks(3)))
    [problem] = attempt(changed(region, tenants=wanted)).problems

    assert (problem.file, problem.path) == ("tenants/bee.yaml", "clusters[0].pools[0].racks")
    assert problem.text == (
        "3 racks of nvl requested, 1 available: there are 3 of which 1 is incomplete with hosts out of service and 1"
        " is in other pools (inventory/hall-a.csv, out_of_service.yaml); lower racks to 1 or add a rack"
    )


def test_an_autoscaled_pool_has_hosts_for_its_most_nodes_and_bounds_in_each_group() -> None:
    pool = nodes(3, min_nodes=2, max_nodes=6, autoscaling=True)
    lock = allocated(small_region(), tenants=(tenant("ant", pool),)).allocations

    assert lock.groups == {
        "ant-one/lab/a1": GroupAllocation(nodes=2, min_nodes=1, max_nodes=3),
        "ant-one/lab/a2": GroupAllocation(nodes=1, min_nodes=1, max_nodes=3),
    }
    assert _hosts(lock) == {"ant-one/lab/a1": 4, "ant-one/lab/a2": 4}


def test_a_cluster_keeps_its_site_and_the_fabric_of_its_vpc() -> None:
    region = small_region()
    sites = tuple(SiteSpec(name=name, halls=(name,)) for name in ("a", "b"))
    [fabric] = region.region.fabrics
    apart = changed(region.region, sites=sites, fabrics=(changed(fabric, halls=("b",)),))
    there = tenant("ant", nodes(2))
    there = changed(there, clusters=(changed(there.clusters[0], site="b"),))

    for owner in (there, tenant("ant", nodes(2), fabrics=("ib",))):
        lock = allocated(changed(region, region=apart), tenants=(owner,)).allocations
        assert _hosts(lock) == {"ant-one/lab/b1": 3}


def _shrunk(count: int) -> Environment:
    before = allocated(small_region(), tenants=(tenant("ant", nodes(9)),))
    return changed(before, tenants=(tenant("ant", nodes(count)),))


def test_a_smaller_pool_releases_surplus_hosts_on_request() -> None:
    numbers, pins = release_hosts(_shrunk(4), "ant-one/lab")

    assert _nodes(numbers) == {"ant-one/lab/a1": 2, "ant-one/lab/a10": 1, "ant-one/lab/a2": 1}
    assert _hosts(numbers) == {"ant-one/lab/a1": 3, "ant-one/lab/a10": 2, "ant-one/lab/a2": 2}
    assert [*pins.groups] == [*numbers.groups]


def test_hosts_out_of_service_are_released_first_then_the_last_of_the_last_rack() -> None:
    broken = changed(_shrunk(4), out_of_service=faults("a1-u1"))
    before = broken.allocations.hosts.keys()
    one, _ = release_hosts(broken, "ant-one/lab", 1)
    three, _ = release_hosts(broken, "ant-one/lab", 3)

    assert before - one.hosts.keys() == {"a1-u1"}
    assert before - three.hosts.keys() == {"a1-u1", "a10-u4", "a10-u3"}


def test_released_hosts_are_not_allocated_in_the_same_step() -> None:
    shrunk = _shrunk(4)
    wanted = (*shrunk.tenants, tenant("bee", nodes(4)))
    with pytest.raises(SpecError, match="4 h100-ib-8 nodes requested, 3 available"):
        release_hosts(changed(shrunk, tenants=wanted), "ant-one/lab")

    numbers, pins = release_hosts(shrunk, "ant-one/lab")
    later = allocated(changed(shrunk, allocations=numbers, image_pins=pins), tenants=wanted)
    assert sum(group.nodes for key, group in later.allocations.groups.items() if key.startswith("bee-one/")) == 4


def test_a_pool_of_racks_releases_whole_racks() -> None:
    before = allocated(small_region(), tenants=(tenant("ant", racks(3)),))
    shrunk = changed(before, tenants=(tenant("ant", racks(1)),))
    kept = allocated(shrunk).allocations
    assert _hosts(kept) == _hosts(before.allocations)
    assert _nodes(kept) == {"ant-one/rack/n1": 3, "ant-one/rack/n2": 0, "ant-one/rack/n3": 0}

    numbers, _ = release_hosts(shrunk, "ant-one/rack", 1)
    assert _nodes(numbers) == {"ant-one/rack/n1": 3, "ant-one/rack/n2": 0}


@pytest.mark.parametrize(
    ("pool", "count", "text"),
    [
        (
            "ant-one/lab",
            6,
            (
                "tenants/ant.yaml  clusters[0].pools[0].nodes: ant-one/lab has 5 hosts beyond its nodes and spares,"
                " not 6; lower nodes here first"
            ),
        ),
    ],
)
def test_a_rejected_release_states_the_reason(pool: str, count: int | None, text: str) -> None:
    with pytest.raises(SpecError) as caught:
        release_hosts(_shrunk(4), pool, count)
    assert str(caught.value) == f"environments/laptop: 1 problem\n  {text}"


def test_an_unknown_pool_is_an_error_of_the_argument() -> None:
    for release, option in ((release_hosts, "--release-hosts"), (replace_hosts, "--replace-hosts")):
        with pytest.raises(ArgumentError) as caught:
            release(_shrunk(4), "ant-one/lap")
        assert str(caught.value) == (
            f"{option}: there is no pool 'ant-one/lap' (pools: ant-one/lab); did you mean 'ant-one/lab'?"
        )


def test_a_new_rack_moves_no_allocation() -> None:
    before = allocated(small_region(), tenants=(tenant("ant", nodes(4), racks(1)),))
    after = allocated(before, hosts=(*rack("a0"), *rack("n0"), *before.hosts))

    assert after.allocations == before.allocations
