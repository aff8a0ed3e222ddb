"""Addresses of hosts in their VPC: one for each, on a separate link, and stable when others are added or removed."""

from __future__ import annotations

from functools import cache
from ipaddress import IPv4Address, IPv4Network
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from components.allocate.allocation import attempt
from components.allocate.node_addresses import give_addresses, link_of
from components.lookups.network.dpu_clusters import links, running_dpu
from components.specs.environment import Environment
from components.specs.keys import cluster_of
from components.specs.locks import AllocationsLock, ImagesLock
from components.specs.network.dpus import DpuClusterSpec
from components.specs.network.node_addresses import NodeAddressesSpec
from components.specs.network.tenant_network import Isolation
from components.specs.reading.loader import load_environment
from components.specs.region.tenant import TenantSpec
from tests.support.data.environment_data import ENVIRONMENTS

_TENANTS = ("ant", "bee", "cat")
_EMPTY = {"allocations": AllocationsLock(schema_version=1), "image_pins": ImagesLock(schema_version=1)}

orders = st.dictionaries(st.sampled_from(_TENANTS), st.integers(1, 9), max_size=len(_TENANTS))
"""Nodes by tenant."""
histories = st.tuples(st.booleans(), st.lists(orders, min_size=2, max_size=5))
"""Whether the region has two DPU clusters, and the sequence of orders."""


@cache
def _laptop() -> Environment:
    return load_environment("laptop", ENVIRONMENTS)


def _begun(*, two: bool) -> Environment:
    """Return a region without tenants that allocates addresses to hosts."""
    region = _laptop().region
    nodes = region.nodes.model_copy(update={"addresses": NodeAddressesSpec(dns=(IPv4Address("10.6.0.53"),))})
    dpus = region.dpus.model_copy(
        update={"vip": None, "virtual_router_id": None, "clusters": (_dpus("one", 0), _dpus("two", 1, "a03"))}
    )
    return _laptop().model_copy(
        update={**_EMPTY, "region": region.model_copy(update={"nodes": nodes, **({"dpus": dpus} if two else {})})}
    )


def _dpus(name: str, place: int, from_rack: str | None = None) -> DpuClusterSpec:
    return DpuClusterSpec(
        name=name,
        vip=IPv4Address("10.0.0.20") + place,
        virtual_router_id=51 + place,
        loopbacks=IPv4Network(f"10.4.{place}.0/24"),
        halls=("a",),
        from_rack=from_rack,
    )


def _tenant(name: str, nodes: int) -> TenantSpec:
    model = _laptop().tenants[1]
    [vpc], [cluster] = model.vpcs, model.clusters
    pool = cluster.pools[0].model_copy(update={"nodes": nodes})
    own = {"name": name, "isolation": Isolation.DPF_HBN}
    return model.model_copy(
        update={
            "tenant": name,
            "vpcs": (vpc.model_copy(update=own),),
            "clusters": (cluster.model_copy(update={"name": f"{name}-one", "vpc": name, "pools": (pool,)}),),
        }
    )


def _ordered(before: Environment, order: dict[str, int]) -> Environment:
    region = before.model_copy(update={"tenants": tuple(_tenant(*wish) for wish in sorted(order.items()))})
    found = attempt(region)
    return region.model_copy(update={"allocations": found.numbers, "image_pins": found.pins})


def _vpc_of(lock: AllocationsLock, host: str) -> str | None:
    return lock.clusters[cluster_of(lock.hosts[host])].vpc if host in lock.hosts else None


@given(histories)
def test_each_host_has_a_separate_address_on_a_link_of_its_dpu_cluster(
    history: tuple[bool, list[dict[str, int]]],
) -> None:
    two, steps = history
    region = _begun(two=two)
    for order in steps:
        region = _ordered(region, order)
        lock, at = region.allocations, running_dpu(region)

        assert lock.addresses.keys() == lock.hosts.keys()
        assert len({*map(link_of, lock.addresses.values())}) == len(lock.addresses)
        for host in region.hosts:
            if host.host in lock.addresses:
                vpc, address = lock.vpcs[_vpc_of(lock, host.host) or ""], lock.addresses[host.host]
                assert any(link_of(address).subnet_of(prefix) for prefix in vpc.of_kind("hosts"))
                assert int(address) - int(link_of(address).network_address) == 2
                assert int(link_of(address).network_address) in set(links(vpc, at(host) or ""))


@given(histories)
def test_added_or_removed_hosts_move_no_address_of_others(history: tuple[bool, list[dict[str, int]]]) -> None:
    two, steps = history
    region = _begun(two=two)
    for order in steps:
        old, region = region.allocations, _ordered(region, order)
        for host, address in old.addresses.items():
            if _vpc_of(old, host) == _vpc_of(region.allocations, host):
                assert region.allocations.addresses[host] == address


@given(histories)
def test_a_released_address_is_not_reused_in_the_same_change(
    history: tuple[bool, list[dict[str, int]]],
) -> None:
    two, steps = history
    region = _begun(two=two)
    for _, order in pairwise([{}, *steps]):
        old, region = region.allocations.addresses, _ordered(region, order)
        for host, address in region.allocations.addresses.items():
            assert old.get(host) == address or address not in old.values()


def test_of_two_hosts_with_one_address_the_second_gets_another() -> None:
    region = _ordered(_begun(two=False), {"ant": 3})
    lock = region.allocations
    first, second, *_ = lock.addresses
    edited = lock.model_copy(update={"addresses": {**lock.addresses, second: lock.addresses[first]}})

    mended, problems = give_addresses(region.model_copy(update={"allocations": edited}), lock.vpcs, lock.hosts)

    assert problems == []
    assert mended[first] == lock.addresses[first]
    assert len(set(mended.values())) == len(mended)


def test_a_prefix_without_free_links_is_reported() -> None:
    region = _ordered(_begun(two=False), {"ant": 3})
    lock = region.allocations
    narrow = lock.vpcs["ant"].model_copy(update={"hosts": IPv4Network("10.65.0.0/29")})

    given_ones, problems = give_addresses(region, {"ant": narrow}, lock.hosts)

    assert [str(address) for address in given_ones.values()] == ["10.65.0.2", "10.65.0.6"]
    [first, *_] = problems
    assert "10.65.0.0/29 has no free link for " in first.text
