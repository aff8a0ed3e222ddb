"""``show ENV network --path`` agrees with an independent model of rendered rules and the edge router's contract."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from ipaddress import IPv4Address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.render.backends import NETWORK_BACKENDS as BACKENDS
from components.render.backends import Filter
from components.render.manifest import Manifest
from components.render.network.packets import ALL
from components.render.network.tenant_network import on_dpus
from components.reports.network.endpoints import endpoint, ports
from components.reports.network.paths import Region
from components.rules.network import isolation as networks
from components.specs.base import Network
from components.specs.environment import Environment
from components.specs.ipv6 import Network6
from components.specs.network.border import BorderSpec
from components.specs.network.tenant_network import Isolation
from components.specs.network.vpc_allocation import IPV6_PREFIXES, MorePrefix
from components.specs.struct import replace
from tests.support.network.drawn_regions import (
    DENIED,
    MIXED,
    NAMES,
    NETWORK_BACKENDS,
    PEERINGS,
    PLAIN,
    PORTS,
    TENANTS,
    Wish,
    region,
)
from tests.support.network.reachability import reachability
from tests.support.network.rendered_network import OUTSIDE, End

ELSEWHERE = tuple(map(Network6, ("2001:db8::/32", "fe80::/64", "fd00:100:64::/112", "fd43::/40")))
"""IPv6 networks outside VPCs: external, link-local, of a CNI, and others."""
EVERY = (("tcp", 1), ("udp", 1), ("icmp", 0), ("other", 1))
"""Protocols, with ports that no rule names, for queries without a port."""
PAIRS = 20
"""Number of tested pairs of ends in each region."""


def ends(environment: Environment) -> dict[str, End]:
    """Return ends of all sorts by address: in each VPC, control planes, networks of the region, unused addresses."""
    networks, lock = environment.region.networks, environment.allocations
    border = networks.border.networks if networks.border else ()
    shared = (networks.management, networks.bmc, networks.storage, networks.dpu_loopbacks, *border)
    unused = (networks.tenants[-2], networks.control_plane_vips[-2])
    registry = environment.region.registry
    assert registry is not None
    assert registry.address is not None
    apis = (one.vip for one in lock.clusters.values())
    denied = (one[9] for one in DENIED)
    every = (OUTSIDE, *denied, *(one[1] for one in shared), *unused, registry.address, *apis)
    found = [End(address=address) for address in every]
    for name, numbers in lock.vpcs.items():
        found += [End(address=one, vpc=name, sends_as=numbers.pods[7]) for one in _public(environment, name)]
        found += [End(address=one[5], vpc=name) for one in (numbers.pods, numbers.services, numbers.load_balancers)]
        found.append(End(address=numbers.hosts[6], vpc=name, on_host=True))
        more = numbers.more_prefixes.values()
        found += [
            End(address=one.prefix[6], vpc=name, on_host=one.kind == "hosts", cluster=one.cluster) for one in more
        ]
    return {str(end.address): end for end in found}


def _public(environment: Environment, vpc: str) -> list[IPv4Address]:
    addresses = environment.allocations.public_ips.items()
    return [address for key, address in addresses if key.startswith(f"{vpc}-one/")]


def disagreements(environment: Environment, drawn: random.Random, pairs: int) -> list[str]:
    model, rendered, every = Region(environment), reachability(environment), ends(environment)
    points = {name: endpoint(environment, name) for name in every}
    inside, found = [name for name, end in every.items() if end.vpc], list[str]()
    for _ in range(pairs):
        pair = [drawn.choice(inside), drawn.choice(list(every))]
        drawn.shuffle(pair)
        source, target = pair
        port = drawn.choice((None, *PORTS))
        asked = ALL if port is None else ports("{}/{}".format(*port).removesuffix("/0"))
        answer = model.path(points[source], points[target], asked)
        judged = all(
            rendered.reaches(every[source], every[target], one) for one in (EVERY if port is None else (port,))
        )
        if answer.reached != judged:
            steps = [(step.way.value, step.device, step.rule) for step in answer.steps]
            found.append(f"{source} -> {target} {port}: rendered {judged}, model {steps}")
    return found


SEEDS = st.integers(0, 1 << 32)
Pairs = set[tuple[str, str]]


def reported_alike(wishes: dict[str, Wish], border: BorderSpec | None, peerings: Pairs, seed: int) -> None:
    drawn = random.Random(seed)  # noqa: S311 - no secret is drawn
    assert disagreements(region(wishes, border, peerings=peerings), drawn, PAIRS) == []


@given(TENANTS, NETWORK_BACKENDS, PEERINGS, SEEDS)
@settings(max_examples=300)
def test_reported_paths_match_rendered_rules(
    wishes: dict[str, Wish], border: BorderSpec | None, peerings: Pairs, seed: int
) -> None:
    reported_alike(wishes, border, peerings, seed)


@given(MIXED, NETWORK_BACKENDS, SEEDS)
@settings(max_examples=60)
def test_reported_paths_match_rendered_rules_with_every_backend(
    wishes: dict[str, Wish], border: BorderSpec | None, seed: int
) -> None:
    reported_alike(wishes, border, set(), seed)


@given(TENANTS | MIXED, NETWORK_BACKENDS)
@settings(max_examples=100)
def test_every_vpc_with_egress_reaches_only_the_port_of_the_registry(
    wishes: dict[str, Wish], border: BorderSpec | None
) -> None:
    environment = region(wishes, border)
    registry, rendered = environment.region.registry, reachability(environment)
    assert registry is not None
    assert registry.address is not None
    target = End(address=registry.address)

    for end in ends(environment).values():
        routed = end.vpc is not None and wishes[end.vpc].isolation is not Isolation.DPF_OVN
        public = end.address not in environment.region.networks.tenants
        if not routed or public:
            continue
        assert rendered.reaches(end, target, ("tcp", registry.port))
        filtered = BACKENDS[wishes[end.vpc or ""].isolation].filters
        if filtered is Filter.HOSTS or (filtered is Filter.PODS and not end.on_host):
            assert not rendered.reaches(end, target, ("tcp", 22))
            assert not rendered.reaches(end, target, ("udp", registry.port))


@given(TENANTS | MIXED, NETWORK_BACKENDS, PEERINGS)
@settings(max_examples=100)
def test_hosts_of_two_tenants_reach_each_other_only_with_mutual_peering_or_a_waiver(
    wishes: dict[str, Wish], border: BorderSpec | None, peerings: Pairs
) -> None:
    environment = region(wishes, border, peerings=peerings)
    rendered, waived = reachability(environment), {one.subject for one in networks.without_isolation(environment)}
    peered = {(vpc.name, peer.vpc) for tenant in environment.tenants for vpc in tenant.vpcs for peer in vpc.peers}
    hosts = [end for end in ends(environment).values() if end.on_host]

    pairs = [(one, other) for one in hosts for other in hosts if one.vpc != other.vpc]
    met = {(one.vpc, other.vpc) for one, other in pairs if rendered.reaches(one, other)}
    assert {pair for pair in met - peered if not waived & set(pair)} == set()
    assert {(one, other) for one in waived for other in waived - {one}} <= met


@pytest.mark.nightly
@given(TENANTS, NETWORK_BACKENDS, PEERINGS, SEEDS)
@settings(max_examples=10_000)
def test_reported_paths_match_rendered_rules_in_many_regions(
    wishes: dict[str, Wish], border: BorderSpec | None, peerings: Pairs, seed: int
) -> None:
    reported_alike(wishes, border, peerings, seed)


@given(TENANTS, NETWORK_BACKENDS, PEERINGS)
@settings(max_examples=100)
def test_a_vpc_on_dpus_reaches_only_prefixes_of_its_peers(
    wishes: dict[str, Wish], border: BorderSpec | None, peerings: Pairs
) -> None:
    environment = region(wishes, border, peerings=peerings)
    rendered, plan = reachability(environment), environment.region.networks
    isolated = {one.name for tenant in environment.tenants for one in tenant.vpcs if on_dpus(one)}
    private = [end for end in ends(environment).values() if end.vpc in isolated and end.address in plan.tenants]
    peered = {(vpc.name, peer.vpc) for tenant in environment.tenants for vpc in tenant.vpcs for peer in vpc.peers}

    pairs = [(one, other) for one in private for other in private if one.vpc != other.vpc]
    assert [pair for pair in pairs if rendered.reaches(*pair) and (pair[0].vpc, pair[1].vpc) not in peered] == []
    grouped = {vpc.name for tenant in environment.tenants for vpc in tenant.vpcs if vpc.security_group}
    bare = [pair for pair in pairs if (pair[0].vpc, pair[1].vpc) in peered and not grouped & {pair[0].vpc, pair[1].vpc}]
    assert [pair for pair in bare if not rendered.reaches(*pair)] == []


@given(TENANTS, NETWORK_BACKENDS, PEERINGS, st.sets(st.sampled_from(DENIED), max_size=1))
@settings(max_examples=100)
def test_denied_networks_are_unreachable_in_both_directions(
    wishes: dict[str, Wish], border: BorderSpec | None, peerings: Pairs, of_region: set[Network]
) -> None:
    filtered = {name: wish for name, wish in wishes.items() if wish.isolation is not Isolation.DPF_OVN}
    environment = region(filtered, border, peerings=peerings, deny=tuple(of_region))
    rendered = reachability(environment)

    for end in ends(environment).values():
        # Kube-OVN and policies isolate pods only.
        if end.vpc is None or (end.on_host and filtered[end.vpc].isolation is not Isolation.DPF_HBN):
            continue
        for network in (*of_region, *filtered[end.vpc].deny):
            other = End(address=network[9])
            assert not rendered.reaches(end, other)
            assert not rendered.reaches(other, end)


@given(TENANTS, NETWORK_BACKENDS)
@settings(max_examples=100)
def test_pods_send_ipv6_only_to_pods_and_services_of_their_cluster(
    wishes: dict[str, Wish], border: BorderSpec | None
) -> None:
    filtered = {
        name: replace(wish, ipv6=True)
        for name, wish in wishes.items()
        if BACKENDS[wish.isolation].filters is Filter.PODS
    }
    environment = region(filtered, border)
    rendered, lock = reachability(environment), environment.allocations.vpcs
    others = {prefix for name in lock for prefix in lock[name].ipv6.values()} | set(ELSEWHERE)

    for name, numbers in lock.items():
        pod, own = End(address=numbers.pods[5], vpc=name), set(numbers.ipv6.values())
        assert len(own) == len(IPV6_PREFIXES)
        assert {prefix for prefix in others if rendered.lets_out(pod, prefix[5])} == own


@given(TENANTS, NETWORK_BACKENDS, PEERINGS)
@settings(max_examples=100)
def test_clusters_of_a_vpc_reach_each_other_and_peers_of_the_vpc(
    wishes: dict[str, Wish], border: BorderSpec | None, peerings: Pairs
) -> None:
    shared = {name: replace(wish, second=True, group=None) for name, wish in wishes.items()}
    environment = region(shared, border, peerings=peerings)
    rendered = reachability(environment)
    two = {
        name: End(address=own.prefix[6], vpc=name, cluster=own.cluster) for name, own in _pods_of_second(environment)
    }
    one = {name: End(address=environment.allocations.vpcs[name].pods[5], vpc=name) for name in two}

    for name, other in two.items():
        assert rendered.reaches(one[name], other)
        assert rendered.reaches(other, one[name])
        for far in ends(environment).values():
            if far.vpc != name:
                assert rendered.reaches(one[name], far) == rendered.reaches(other, far)
                assert rendered.reaches(far, one[name]) == rendered.reaches(far, other)


def _pods_of_second(environment: Environment) -> list[tuple[str, MorePrefix]]:
    of_vpcs = ((name, one) for name, vpc in environment.allocations.vpcs.items() for one in vpc.more_prefixes.values())
    return [(name, one) for name, one in of_vpcs if one.cluster and one.kind == "pods"]


def test_a_peer_of_a_peer_is_no_peer() -> None:
    ant, bee, cat = NAMES[:3]
    environment = region(dict.fromkeys(NAMES[:3], PLAIN), None, peerings=[(ant, bee), (bee, cat)])
    rendered, lock = reachability(environment), environment.allocations.vpcs
    end = {name: End(address=lock[name].pods[5], vpc=name) for name in NAMES[:3]}

    reached = {(one, other) for one in end for other in end if rendered.reaches(end[one], end[other])}

    assert reached == {(one, other) for one in end for other in end} - {(ant, cat), (cat, ant)}


def test_a_peering_declared_by_one_side_opens_nothing() -> None:
    ant, bee = NAMES[:2]
    environment = region(dict.fromkeys((ant, bee), PLAIN), None, peerings=[(ant, bee)])
    [one, other] = environment.tenants
    silent = other.model_copy(update={"vpcs": (other.vpcs[0].model_copy(update={"peers": ()}),)})
    lock = environment.allocations.vpcs
    pair = [End(address=lock[name].pods[5], vpc=name) for name in (ant, bee)]

    assert reachability(environment).reaches(*pair)
    assert not reachability(environment.model_copy(update={"tenants": (one, silent)})).reaches(*pair)


def _changed(old: str, new: str) -> Callable[[Manifest], Manifest]:
    def change(item: Manifest) -> Manifest:
        return replace(item, body=json.loads(json.dumps(item.body).replace(old, new)))

    return change


def test_the_judge_sees_a_route_target_that_is_anothers_and_a_dpu_that_denies_it() -> None:
    environment = region(dict.fromkeys(NAMES[:2], PLAIN), None)
    one, other = (environment.allocations.vpcs[name] for name in NAMES[:2])
    pair = [End(address=numbers.pods[5], vpc=name) for name, numbers in environment.allocations.vpcs.items()]
    mixed = _changed(f"{other.asn}:{other.route_target}", f"{one.asn}:{one.route_target}")

    def open_too(item: Manifest) -> Manifest:
        return _changed(str(environment.region.networks.tenants), "192.0.2.0/24")(mixed(item))

    assert not reachability(environment).reaches(*pair)
    assert not reachability(environment, mixed).reaches(*pair)
    assert reachability(environment, open_too).reaches(*pair)
