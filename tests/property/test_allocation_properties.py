"""Invariants of allocation over arbitrary orders: disjoint numbers, correct sums, and stable allocations of others."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import combinations, pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from components.allocate.allocation import attempt
from components.allocate.assignment import spread
from components.lookups.numbers import Block, Blocks
from components.lookups.pools import pools
from components.lookups.spares import nodes_within, spares_for
from components.specs.environment import Environment
from components.specs.ipv6 import Ipv6Spec, Network6
from components.specs.locks import AllocationsLock, ImagesLock
from components.specs.reading.loader import load_environment
from components.specs.region.tenant import TenantSpec
from tests.support.data.environment_data import ENVIRONMENTS

SECTIONS = ("vpcs", "clusters", "hosts", "groups")
_EMPTY = {"allocations": AllocationsLock(schema_version=1), "image_pins": ImagesLock(schema_version=1)}
_TENANTS = ("ant", "bee", "cat", "dog")

orders = st.dictionaries(
    st.sampled_from(_TENANTS), st.tuples(st.integers(1, 9), st.integers(20, 26)), max_size=len(_TENANTS)
)
"""Nodes and pod prefix length by tenant; tenants with an odd number of nodes also have IPv6."""


@cache
def _laptop() -> Environment:
    return load_environment("laptop", ENVIRONMENTS)


def _region(order: dict[str, tuple[int, int]], before: Environment | None = None) -> Environment:
    """Return the environment with these tenants only, allocated as far as hosts suffice."""
    base = before or _dual_stack(_laptop().model_copy(update=_EMPTY))
    region = base.model_copy(update={"tenants": tuple(_tenant(name, *sizes) for name, sizes in sorted(order.items()))})
    found = attempt(region)
    return region.model_copy(update={"allocations": found.numbers, "image_pins": found.pins})


def _dual_stack(environment: Environment) -> Environment:
    networks = environment.region.networks.model_copy(update={"tenants_ipv6": Network6("fd42::/40")})
    return environment.model_copy(update={"region": environment.region.model_copy(update={"networks": networks})})


def _tenant(name: str, nodes: int, pods: int) -> TenantSpec:
    model = _laptop().tenants[1]
    [vpc], [cluster] = model.vpcs, model.clusters
    pool = cluster.pools[0].model_copy(update={"nodes": nodes})
    if nodes % 2:
        vpc = vpc.model_copy(update={"ipv6": Ipv6Spec.model_construct(pods=28 + pods, services=86 + pods)})
    return model.model_copy(
        update={
            "tenant": name,
            "vpcs": (vpc.model_copy(update={"name": name, "pods": pods}),),
            "clusters": (cluster.model_copy(update={"name": f"{name}-one", "vpc": name, "pools": (pool,)}),),
        }
    )


@given(orders)
def test_numbers_are_disjoint_and_in_range(order: dict[str, tuple[int, int]]) -> None:
    region = _region(order)
    lock, networks = region.allocations, region.region.networks

    every = [network for vpc in lock.vpcs.values() for network in vpc.prefixes.values()]
    assert all(not one.overlaps(other) for one, other in combinations(every, 2))
    assert all(network.subnet_of(networks.tenants) for network in every)
    ipv6 = [network for vpc in lock.vpcs.values() for network in vpc.ipv6.values()]
    assert all(not one.overlaps(other) for one, other in combinations(ipv6, 2))
    assert networks.tenants_ipv6 is not None
    assert all(network.subnet_of(networks.tenants_ipv6) for network in ipv6)
    assert len(ipv6) == 2 * sum(nodes % 2 for nodes, _ in order.values())
    for numbers in ([vpc.vni for vpc in lock.vpcs.values()], [entry.vip for entry in lock.clusters.values()]):
        assert len(set(numbers)) == len(numbers) == len(order)
    assert all(entry.vip in networks.control_plane_vips for entry in lock.clusters.values())


@given(orders)
def test_groups_sum_up_to_their_pool_and_have_their_spares(order: dict[str, tuple[int, int]]) -> None:
    region = _region(order)
    short = {problem.file for problem in attempt(region).problems}
    rack_of = {host.host: host.rack for host in region.hosts}
    hosts = Counter(f"{pool}/{rack_of[host]}" for host, pool in region.allocations.hosts.items())

    for placed in pools(region):
        groups = {key: g.nodes for key, g in region.allocations.groups.items() if key.startswith(f"{placed.key}/")}
        assert (sum(groups.values()) == placed.pool.nodes) == (placed.file not in short)
        for key, nodes in groups.items():
            assert hosts[key] >= nodes + spares_for(nodes, region.region.spares)


@given(st.lists(orders, min_size=2, max_size=5))
def test_no_edit_moves_allocations_of_another_tenant(history: list[dict[str, tuple[int, int]]]) -> None:
    region = _region(history[0])
    for before, after in pairwise(history):
        old, region = region.allocations, _region(after, region)
        same = [name for name in before if before.get(name) == after.get(name)]
        for section in SECTIONS:
            for key, value in getattr(old, section).items():
                if key in same or any(
                    str(part).startswith(tuple(f"{name}-one" for name in same)) for part in (key, value)
                ):
                    _assert_kept(section, key, value, region.allocations, short=attempt(region).problems != [])


def _assert_kept(section: str, key: str, value: object, now: AllocationsLock, *, short: bool) -> None:
    """A pool that lacked hosts may grow when others shrink, but must keep its allocations."""
    kept = getattr(now, section).get(key)
    if section == "groups":
        assert kept is not None
        assert kept.nodes >= value.nodes or short  # type: ignore[attr-defined]  # a GroupAllocation by its section
    else:
        assert kept == value


@given(orders)
def test_allocating_twice_changes_nothing(order: dict[str, tuple[int, int]]) -> None:
    region = _region(order)
    again = attempt(region)
    assert (again.numbers, again.pins) == (region.allocations, region.image_pins)


@given(st.lists(st.tuples(st.sampled_from(["take", "occupy"]), st.integers(0, 5), st.integers(0, 90)), max_size=20))
def test_an_allocated_block_is_aligned_and_the_lowest_free_one(steps: list[tuple[str, int, int]]) -> None:
    ranges = (Block(5, 40), Block(64, 90))
    allowed = {number for part in ranges for number in range(part.first, part.last + 1)}
    blocks, taken = Blocks(ranges), set[int]()
    for step, exponent, first in steps:
        size = 1 << exponent
        if step == "occupy":
            block = Block(first, first + size - 1)
            blocks.occupy(block)
        else:
            starts = (at for at in range(0, 91, size) if {*range(at, at + size)} <= allowed - taken)
            expected = next(((at, at + size - 1) for at in starts), None)
            found = blocks.take(size)
            assert (found and (found.first, found.last)) == expected
            block = found or Block(0, -1)
        taken |= {*range(block.first, block.last + 1)}


@given(st.sets(st.integers(0, 31)), st.integers(0, 31), st.integers(0, 3), st.integers(1, 5))
def test_a_block_grows_into_free_numbers_only(used: set[int], first: int, exponent: int, more: int) -> None:
    block = Block(first, first + (1 << exponent) - 1)
    others = used - {*range(block.first, block.last + 1)}
    blocks = Blocks([Block(0, 31)])
    for number in others:
        blocks.occupy(Block(number, number))
    blocks.occupy(block)
    size = block.size << more
    wanted = {*range(block.last + 1, block.first + size)}

    grown = blocks.grow(block, size)
    assert (grown is not None) == (not wanted & others and block.first + size - 1 <= 31)
    assert grown is None or grown == Block(first, first + size - 1)


@given(st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 40)), st.integers(0, 200), st.data())
@settings(max_examples=200)
def test_a_spread_fills_the_room_evenly(room: dict[str, int], nodes: int, data: st.DataObject) -> None:
    now = {domain: data.draw(st.integers(0, most)) for domain, most in room.items()}
    split = spread(nodes, now, room)

    assert sum(split.values()) == min(nodes, sum(room.values()))
    assert all(0 <= split[domain] <= room[domain] for domain in room)
    fresh = spread(nodes, {}, room)
    open_domains = [fresh[domain] for domain in room if fresh[domain] < room[domain]]
    assert max(fresh.values(), default=0) - min(open_domains, default=max(fresh.values(), default=0)) <= 1


@given(st.integers(0, 5000), st.one_of(st.integers(0, 10), st.integers(0, 100).map("{}%".format)))
def test_hosts_carry_as_many_nodes_as_their_spares_allow(hosts: int, spares: int | str) -> None:
    nodes = nodes_within(hosts, spares)
    assert nodes == 0 or nodes + spares_for(nodes, spares) <= hosts
    assert nodes + 1 + spares_for(nodes + 1, spares) > hosts
