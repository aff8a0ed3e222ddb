"""Rules about IPv6 in addition to IPv4: range, prefix sizes, support by networks and backends, and immutability."""

from collections.abc import Iterator

from components.lookups.add_ons import takes_ipv6
from components.lookups.control_planes import most_nodes_of
from components.lookups.pools import DataPath, PlacedCluster, clusters, place, problem, tenant_file
from components.render.add_ons.cni import DUAL_STACK, POD_PREFIX_PER_NODE_IPV6
from components.render.backends import CONTROL_PLANES
from components.rules.region.cluster_api import PATH
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.ipv6 import Ipv6Spec, Network6
from components.specs.reading.loader import ALLOCATIONS, REGION, VERSIONS
from components.specs.reading.problems import Problem, listed
from components.specs.region.cluster_api import numbers

_USABLE = {"fc00::/7": "private, RFC 4193", "2000::/3": "public"}
_SIZES = {
    # Kubernetes and Cilium divide the prefix among nodes and support at most 16 bits for the node's part.
    "pods": (48, POD_PREFIX_PER_NODE_IPV6),
    # The API server accepts at most 20 bits. Fewer than 8 bits leave too few addresses.
    "services": (108, 120),
}
"""Prefix lengths of the widest and the narrowest prefix, by use."""


def usable(environment: Environment) -> Iterator[Problem]:
    """Report an IPv6 network outside the usable ranges."""
    network = environment.region.networks.tenants_ipv6
    if network is not None and not any(network.subnet_of(Network6(usable_range)) for usable_range in _USABLE):
        within = " or ".join(f"{usable_range} ({what})" for usable_range, what in _USABLE.items())
        text = f"{network} is not within {within}; write a network of one of them, like fd42:7a1c:e500::/40"
        yield problem(environment, REGION, ("networks", "tenants_ipv6"), text)


def given(environment: Environment) -> Iterator[Problem]:
    """Report VPCs with IPv6 in a region without ``networks.tenants_ipv6``."""
    if environment.region.networks.tenants_ipv6 is None:
        for tenant in environment.tenants:
            for index, vpc in enumerate(tenant.vpcs):
                if vpc.ipv6 is not None:
                    there = place(environment, REGION, ("networks",))
                    text = (
                        f"requires networks.tenants_ipv6 ({there}); add it there, like fd42:7a1c:e500::/40, or remove"
                        " it"
                    )
                    yield problem(environment, tenant_file(tenant), ("vpcs", index, "ipv6"), text)


def sizes(environment: Environment) -> Iterator[Problem]:
    """Report sizes that Kubernetes does not accept, and pod prefixes that are too small for their cluster."""
    for tenant in environment.tenants:
        for index, vpc in enumerate(tenant.vpcs):
            for kind, (widest, narrowest) in _SIZES.items() if vpc.ipv6 else ():
                size: int = getattr(vpc.ipv6, kind)
                if not widest <= size <= narrowest:
                    text = f"/{size} is not a valid size for IPv6 {kind}; write one from /{widest} to /{narrowest}"
                    yield problem(environment, tenant_file(tenant), ("vpcs", index, "ipv6", kind), text)
    for placed, path, ipv6 in _dual_stack(environment):
        name, nodes = placed.cluster.name, most_nodes_of(environment, placed.cluster)
        room = 1 << max(0, POD_PREFIX_PER_NODE_IPV6 - ipv6.pods)
        if room < nodes and ipv6.pods <= _SIZES["pods"][1]:
            wide = POD_PREFIX_PER_NODE_IPV6 - (nodes - 1).bit_length()
            each = f"a /{POD_PREFIX_PER_NODE_IPV6} each"
            text = f"/{ipv6.pods} fits the pods of {room} nodes ({each}), {name} has {nodes}; write /{wide}"
            yield problem(environment, placed.file, (*path, "pods"), text)


def networks(environment: Environment) -> Iterator[Problem]:
    """Report clusters with IPv6 whose pod network supports IPv4 only."""
    for placed, path, _ in _dual_stack(environment):
        if not takes_ipv6(environment, placed):
            text = (
                f"the network of {placed.cluster.name} supports IPv4 only; remove it, or use {listed(DUAL_STACK)} as"
                " its network"
            )
            yield problem(environment, placed.file, path, text)


def control_planes(environment: Environment) -> Iterator[Problem]:
    """Report clusters with IPv6 whose control plane would get only the IPv4 range."""
    backend = environment.region.control_planes.backend
    last, release = CONTROL_PLANES[backend].one_family_until, environment.versions.cluster_api.releases.get(backend)
    if last is None or release is None or numbers(release) > numbers(last):
        return
    there = place(environment, VERSIONS, (*PATH, backend))
    for placed, path, _ in _dual_stack(environment):
        text = (
            f"{backend} {release} ({there}) uses only the first range of a cluster; remove it, or write a later release"
            f" than {last} there"
        )
        yield problem(environment, placed.file, path, text)


def kept(environment: Environment) -> Iterator[Problem]:
    """Report existing clusters for which IPv6 was added or removed."""
    lock = environment.allocations
    for placed in clusters(environment):
        old, name = lock.clusters.get(placed.cluster.name), placed.cluster.vpc
        vpc = lock.vpcs.get(name)
        if old is None or vpc is None or {old.tenant, vpc.tenant} != {placed.tenant.tenant} or old.vpc != name:
            continue
        spec = placed.vpc
        if spec is None or spec.has_own(placed.cluster.name):
            continue
        has, wants = bool(vpc.of_cluster(placed.cluster.name).ipv6), spec.ipv6_of(placed.cluster.name) is not None
        if has != wants:
            there, path = place(environment, ALLOCATIONS, ("vpcs", name)), placed.vpc_path
            what = "runs with IPv4 only" if wants else f"runs with {listed(map(str, vpc.ipv6.values()))}"
            remedy = "remove it" if wants else "write it back"
            text = (
                f"{placed.cluster.name} {what} ({there}), and address families of a cluster are immutable; {remedy}, or"
                " move to a new VPC with a new cluster"
            )
            yield problem(environment, placed.file, (*path, "ipv6") if wants else path, text)


def _dual_stack(environment: Environment) -> Iterator[tuple[PlacedCluster, DataPath, Ipv6Spec]]:
    """Yield clusters with IPv6, each with the path of the setting."""
    for placed in clusters(environment):
        ipv6 = placed.vpc.ipv6_of(placed.cluster.name) if placed.vpc else None
        if ipv6 is not None:
            yield placed, (*placed.vpc_path, "ipv6"), ipv6


RULES = Rules(data=(usable, given, sizes, networks, control_planes, kept))
