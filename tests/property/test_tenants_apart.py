"""Tenants share no number, and a new tenant changes no objects of others, for arbitrary tenants."""

from __future__ import annotations

import json
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.inputs import tenant_network
from components.inputs.manifests import manifests
from components.lookups.pools import clusters
from components.lookups.slices import SliceKind, slices
from components.render.manifest import objects
from components.specs.environment import Environment
from components.specs.keys import cluster_of
from components.specs.network.border import BorderSpec
from components.specs.reading.problems import SpecError
from components.specs.struct import replace
from tests.support.network.drawn_regions import NAMES, NETWORK_BACKENDS, PEERINGS, PLAIN, RAILS, TENANTS, Wish, region

Pairs = set[tuple[str, str]]
Range = tuple[str, int, int]
"""Sort of number, first and last."""


def ranges(environment: Environment) -> Iterator[tuple[str, Range]]:
    """Yield every allocated number with its tenant, as in the lock file."""
    lock = json.loads(environment.allocations.model_dump_json())
    for vpc in lock["vpcs"].values():
        tenant = vpc["tenant"]
        for key in ("hosts", "pods", "services", "load_balancers"):
            yield tenant, _addresses("address", vpc[key])
        for more in vpc["more_prefixes"].values():
            yield tenant, _addresses("address", more["prefix"])
        for key in ("vni", "asn"):
            yield tenant, (key, vpc[key], vpc[key])
        target = (vpc["asn"] << 32) + vpc["route_target"]
        yield tenant, ("route target", target, target)
        for fabric, pkey in vpc["pkeys"].items():
            number = int(str(pkey), 0)
            yield tenant, (f"pkey on {fabric}", number, number)
        for fabric, vni in vpc["fabric_vnis"].items():
            yield tenant, (f"vni on {fabric}", vni, vni)
    for cluster in lock["clusters"].values():
        yield from ((cluster["tenant"], one) for one in _of_cluster(cluster))
    for key, address in lock["public_ips"].items():
        yield lock["clusters"][cluster_of(key)]["tenant"], _addresses("address", address)


def _of_cluster(cluster: dict[str, Any]) -> Iterator[Range]:
    yield _addresses("address", cluster["vip"])
    for fabric, guids in cluster["guids"].items():
        first, last = (int(number, 16) for number in guids.split("-"))
        yield f"guid on {fabric}", first, last
    for prefix in cluster["rail_prefixes"].values():
        yield _addresses("address", prefix)


def _addresses(sort: str, text: str) -> Range:
    network = IPv4Network(text)
    return sort, int(network[0]), int(network[-1])


def shared(environment: Environment) -> list[Any]:
    """Return pairs of overlapping numbers of different tenants."""
    found = sorted((one, tenant) for tenant, one in ranges(environment))
    met, last = [], dict[str, tuple[int, str]]()
    for (sort, first, end), tenant in found:
        before = last.get(sort)
        if before and first <= before[0] and before[1] != tenant:
            met.append((sort, first, tenant, before))
        last[sort] = max(before or (end, tenant), (end, tenant))
    return met


def rails_of(environment: Environment) -> dict[str, list[IPv4Network]]:
    """Return the subnets of the IP pools rendered into each cluster, by cluster."""
    found = {}
    for item in clusters(environment):
        rendered = (one for concept in tenant_network.of_cluster(environment, item) for one in concept.render())
        pools = [one.body["spec"] for one in rendered if one.kind == "IPPool"]
        assert all(IPv4Address(one["gateway"]) in IPv4Network(one["subnet"]) for one in pools)
        found[item.cluster.name] = [IPv4Network(one["subnet"]) for one in pools]
    return found


def of_tenants(environment: Environment, names: set[str]) -> dict[str, str]:
    """Return the text of every object in the slices of these tenants and of their clusters, by slice and position."""
    found = {}
    for part in slices(environment):
        tenant = part.subject.removesuffix("-one") if part.kind is SliceKind.CLUSTER else part.subject
        if part.kind in {SliceKind.TENANT, SliceKind.CLUSTER} and tenant in names:
            for number, item in enumerate(objects(manifests(environment, part))):
                found[f"{part.name} {number} {item.key}"] = json.dumps(item.body)
    return found


def stays(wishes: dict[str, Wish], border: BorderSpec | None, peerings: Pairs, newcomer: str) -> None:
    of_others = [pair for pair in peerings if newcomer not in pair]
    before = region({name: wish for name, wish in wishes.items() if name != newcomer}, border, peerings=of_others)
    after = region(wishes, border, before, of_others)

    rest = set(wishes) - {newcomer}
    assert of_tenants(after, rest) == of_tenants(before, rest)
    assert shared(after) == []
    assert len({tenant for tenant, _ in ranges(after)}) == len(wishes)


@given(TENANTS, NETWORK_BACKENDS, PEERINGS, st.sampled_from(NAMES))
@settings(max_examples=300)
def test_one_tenant_more_leaves_every_object_of_others_and_shares_no_number(
    wishes: dict[str, Wish], border: BorderSpec | None, peerings: Pairs, newcomer: str
) -> None:
    stays(wishes, border, peerings, newcomer)


@pytest.mark.nightly
@given(TENANTS, NETWORK_BACKENDS, PEERINGS, st.sampled_from(NAMES))
@settings(max_examples=10_000)
def test_one_tenant_more_leaves_every_object_of_others_in_many_regions(
    wishes: dict[str, Wish], border: BorderSpec | None, peerings: Pairs, newcomer: str
) -> None:
    stays(wishes, border, peerings, newcomer)


@given(TENANTS, NETWORK_BACKENDS, PEERINGS)
@settings(max_examples=60)
def test_a_peering_takes_no_number_and_changes_only_its_two_vpcs(
    wishes: dict[str, Wish], border: BorderSpec | None, peerings: Pairs
) -> None:
    before, after = region(wishes, border), region(wishes, border, peerings=peerings)
    two = {tenant.tenant for tenant in after.tenants if any(vpc.peers for vpc in tenant.vpcs)}

    was, now = (of_tenants(one, set(wishes)) for one in (before, after))

    assert after.allocations == before.allocations
    assert was.keys() == now.keys()
    changed = {key for key in was if was[key] != now[key]}
    assert {key.partition(" ")[0] for key in changed} == {f"tenant-{name}" for name in two}
    assert all(" DPUServiceConfiguration " in f" {key.replace('/', ' ')} " for key in changed)


@given(TENANTS, NETWORK_BACKENDS)
@settings(max_examples=60)
def test_pods_on_rails_get_addresses_of_their_cluster_and_one_for_each_rail(
    wishes: dict[str, Wish], border: BorderSpec | None
) -> None:
    environment = region({name: replace(wish, rails=True) for name, wish in wishes.items()}, border)
    lock, found = environment.allocations.clusters, rails_of(environment)

    for name in wishes:
        own = found[f"{name}-one"]
        assert len(own) == RAILS.rails
        assert all(one.subnet_of(lock[f"{name}-one"].rail_prefixes[RAILS.name]) for one in own)
    every = [one for subnets in found.values() for one in subnets]
    assert [pair for pair in combinations(every, 2) if pair[0].overlaps(pair[1])] == []


@given(st.lists(TENANTS, min_size=2, max_size=4), NETWORK_BACKENDS)
@settings(max_examples=60)
def test_added_and_removed_tenants_share_no_number(history: list[dict[str, Wish]], border: BorderSpec | None) -> None:
    now = None
    for wishes in history:
        try:
            now = region(wishes, border, now)
        except SpecError as refused:  # A growing cluster keeps its GUIDs, and the numbers after them belong to others.
            if not all("the numbers after it are taken" in one.text for one in refused.problems):
                raise
        assert now is None or shared(now) == []


@pytest.mark.parametrize("rails", [False, True])
def test_a_shared_number_is_detected(rails: bool) -> None:  # noqa: FBT001 - a parameter of the test
    one = region(dict.fromkeys(NAMES[:2], replace(PLAIN, rails=rails)), None)
    lock = one.allocations
    ant, bee = (lock.vpcs[name] for name in NAMES[:2])
    inside = next(ant.pods.subnets(prefixlen_diff=1))
    on_fabric = {"fabric_vnis": ant.fabric_vnis} if rails else {"pkeys": ant.pkeys}

    assert shared(one) == []
    for changes in ({"vni": ant.vni}, {"pods": inside}, {"asn": ant.asn}, on_fabric):
        vpcs = {**lock.vpcs, "bee": bee.model_copy(update=changes)}
        assert shared(one.model_copy(update={"allocations": lock.model_copy(update={"vpcs": vpcs})}))


def test_a_shared_rail_prefix_is_detected() -> None:
    one = region(dict.fromkeys(NAMES[:2], replace(PLAIN, rails=True)), None)
    lock = one.allocations
    ant, bee = (lock.clusters[f"{name}-one"] for name in NAMES[:2])
    inside = {"roce": next(ant.rail_prefixes["roce"].subnets(prefixlen_diff=1))}

    clusters_now = {**lock.clusters, "bee-one": bee.model_copy(update={"rail_prefixes": inside})}
    assert shared(one.model_copy(update={"allocations": lock.model_copy(update={"clusters": clusters_now})}))
