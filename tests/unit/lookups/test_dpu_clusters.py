"""The cluster of each DPU, and the host links that each cluster may allocate."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network

import pytest

from components.allocate.allocation import allocate, attempt
from components.lookups.network.dpu_clusters import DpuClusters, links, share
from components.specs.environment import Environment
from components.specs.hosts.inventory import HostSpec
from components.specs.network.dpus import DpuClusterSpec
from components.specs.network.tenant_network import MorePrefixSpec
from components.specs.ranges import NumberRange


def cluster(name: str, place: int, halls: tuple[str, ...] = (), from_rack: str | None = None) -> DpuClusterSpec:
    return DpuClusterSpec(
        name=name,
        vip=IPv4Address("10.0.0.20") + place,
        virtual_router_id=51 + place,
        loopbacks=IPv4Network(f"10.4.{place}.0/24"),
        halls=halls,
        from_rack=from_rack,
    )


def numbers(*ranges: str) -> tuple[NumberRange, ...]:
    ends = (part.split("-") for part in ranges)
    return tuple(NumberRange(first=int(first), last=int(last)) for first, last in ends)


def with_clusters(region: Environment, *clusters: DpuClusterSpec) -> Environment:
    single = {"vip": None, "virtual_router_id": None, "clusters": clusters}
    dpus = region.region.dpus.model_copy(update=single)
    return region.model_copy(update={"region": region.region.model_copy(update={"dpus": dpus})})


TWO = (cluster("one", 0), cluster("two", 1, ("a",), "a03"))


@pytest.mark.parametrize(
    ("hall", "rack", "runs"),
    [
        ("a", "a1", "one"),
        ("a", "a8", "one"),
        ("a", "a9", "two"),
        ("a", "a10", "two"),
        ("b", "b10", "late"),
        ("b", "b2", None),
        ("c", "a9", None),
    ],
)
def test_a_dpu_is_in_the_cluster_that_began_last_before_its_rack(
    region: Environment, hall: str, rack: str, runs: str | None
) -> None:
    listed = (cluster("two", 1, ("a",), "a9"), cluster("one", 0, ("a",)), cluster("late", 2, ("b",), "b9"))

    host = region.hosts[0].model_copy(update={"hall": hall, "rack": rack})

    assert DpuClusters(listed).of(host) == runs


def test_new_racks_and_clusters_move_no_dpu(region: Environment) -> None:
    def places(hosts: tuple[HostSpec, ...], listed: tuple[DpuClusterSpec, ...]) -> dict[str, str | None]:
        return {host.host: DpuClusters(listed).of(host) for host in hosts}

    new = tuple(
        host.model_copy(update={"rack": f"a{number}", "host": f"a{number}-u01"})
        for number, host in enumerate(region.hosts[:9], start=5)
    )
    before = places(region.hosts, TWO)

    after = places((*new, *region.hosts), (cluster("new", 2, ("a",), "a7"), *TWO))

    assert {host: after[host] for host in before} == before
    assert {after[host.host] for host in new} == {"two", "new"}


@pytest.mark.parametrize(
    ("kept", "needed", "given"),
    [
        ({}, {"one": 5, "two": 2}, {"one": ("0-7",), "two": ("8-11",)}),
        ({"one": ("0-7",)}, {"one": 8, "two": 8}, {"one": ("0-7",), "two": ("8-15",)}),
        ({"one": ("0-3",), "two": ("4-7",)}, {"one": 6}, {"one": ("0-3", "8-11"), "two": ("4-7",)}),
        ({"one": ("4-7",)}, {"one": 8}, {"one": ("0-7",)}),
        ({"one": ("0-12",)}, {"two": 3}, {"one": ("0-12",), "two": ("13-15",)}),
        ({"one": ("0-12",)}, {"two": 4}, None),
        ({}, {}, {}),
    ],
    ids=["first", "full", "grows", "fills a gap", "the last of them", "too few", "nobody"],
)
def test_links_are_stable_and_new_ones_are_the_lowest_free(
    kept: dict[str, tuple[str, ...]], needed: dict[str, int], given: dict[str, tuple[str, ...]] | None
) -> None:
    found = share(16, {name: numbers(*ranges) for name, ranges in kept.items()}, needed)

    wanted = None if given is None else {name: numbers(*ranges) for name, ranges in given.items()}
    assert found == wanted


def test_a_vpc_has_a_link_for_each_of_its_hosts_in_the_cluster_of_its_dpu(region: Environment) -> None:
    environment = with_clusters(region, *TWO)

    lock, _ = allocate(environment)

    vpc, hosts = lock.vpcs["acme"], {host.host: host for host in environment.hosts}
    mine = [hosts[name] for name, key in lock.hosts.items() if key.startswith("acme-train/")]
    at = [DpuClusters(TWO).of(host) for host in mine]
    held = {name: sum(part.last - part.first + 1 for part in parts) for name, parts in vpc.links.items()}
    assert held == {name: -(-at.count(name) // 4) * 4 for name in ("one", "two")}
    assert lock.vpcs["globex"].links == {}  # OVN has one bridge for all its hosts.


def test_a_region_that_lists_no_dpu_clusters_counts_no_links(region: Environment) -> None:
    lock, _ = allocate(region)

    assert {name: vpc.links for name, vpc in lock.vpcs.items()} == {"acme": {}, "globex": {}}


def test_another_prefix_for_hosts_has_the_links_that_the_first_has_no_room_for(region: Environment) -> None:
    two = MorePrefixSpec.model_validate({"name": "two", "kind": "hosts", "size": "/27"})
    [acme, globex] = region.tenants
    acme = acme.model_copy(update={"vpcs": (acme.vpcs[0].model_copy(update={"more_prefixes": (two,)}),)})
    narrow = region.allocations.vpcs["acme"].model_copy(update={"hosts": IPv4Network("10.65.16.0/26")})
    vpcs = {**region.allocations.vpcs, "acme": narrow}
    lock = region.allocations.model_copy(update={"vpcs": vpcs})
    grown = with_clusters(region.model_copy(update={"allocations": lock, "tenants": (acme, globex)}), *TWO)

    numbers_now, _ = allocate(grown)

    vpc = numbers_now.vpcs["acme"]
    assert vpc.links == {"one": numbers("0-11"), "two": numbers("12-15")}
    assert vpc.more_prefixes["two"].links == {"two": numbers("0-3")}
    assert len({*links(vpc, "one"), *links(vpc, "two")}) == 20
    again, _ = allocate(grown.model_copy(update={"allocations": numbers_now}))
    assert again.vpcs == numbers_now.vpcs


def test_a_vpc_with_too_few_links_is_reported(region: Environment) -> None:
    narrow = region.allocations.vpcs["acme"].model_copy(update={"hosts": IPv4Network("10.65.16.0/27")})
    vpcs = {**region.allocations.vpcs, "acme": narrow}
    lock = region.allocations.model_copy(update={"vpcs": vpcs})

    [problem] = attempt(with_clusters(region.model_copy(update={"allocations": lock}), *TWO)).problems

    assert (problem.file, problem.path) == ("tenants/acme.yaml", "vpcs[0].hosts")
    assert problem.text == (
        "10.65.16.0/27 has 8 links to hosts, too few for the hosts in each DPU cluster (one 12, two 8),"
        " because links are assigned in blocks of 4; add a prefix for hosts to more_prefixes"
    )
