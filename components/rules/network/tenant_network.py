"""The address plan of a region, and the numbers taken from it."""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Iterator

from components.lookups.intervals import bounds, overlaps
from components.lookups.pools import DataPath, place, problem, tenant_file
from components.render.backends import BORDERS
from components.render.network.ovn_services import BLOCK
from components.rules.region.running import running_nodes
from components.specs.base import Address, Network
from components.specs.environment import Environment
from components.specs.ipv6 import Network6
from components.specs.keys import cluster_of
from components.specs.network.border import TWO_BYTES
from components.specs.network.tenant_network import Isolation, PrefixKind, VpcSpec
from components.specs.network.vpc_allocation import PREFIXES, VpcAllocation
from components.specs.reading.loader import ALLOCATIONS, REGION, WAIVERS
from components.specs.reading.problems import Problem, dotted, listed
from components.specs.region.tenant import TenantSpec
from components.specs.storage.storage import NfsClassSpec

AREA = "networks"
"""First part of the names of these rules, as waivers and reports write them."""

SINGLE_NETWORKS = ("management", "bmc", "boot", "storage", "control_plane_vips", "dpu_loopbacks", "ovn", "tenants")
MAX_VNI = 16_777_215
MAX_ASN = 4_294_967_295
SERVICE_PREFIXES = range(12, 29)
"""Prefix lengths that Services may have: Kubernetes takes none wider than /12, and one narrower than /28 has no tenth
address for the cluster's DNS."""
_MAX_TENANTS_SHOWN = 3

_UNUSABLE = {
    "0.0.0.0/8": "stands for this network",
    "127.0.0.0/8": "never leaves a machine (loopback)",
    "169.254.0.0/16": "never leaves a link (link-local)",
    "224.0.0.0/4": "is for groups (multicast)",
    "240.0.0.0/4": "is reserved, and routers drop it",
}
"""Networks that no machine has an address in (IANA's special-purpose addresses), with why."""


def unusable(environment: Environment) -> Iterator[Problem]:
    """Report networks that machines cannot have addresses in: loopback, link-local, multicast, reserved."""
    for path, _, network in _written(environment):
        for special, why in _UNUSABLE.items():
            if network.overlaps(Network(special)):
                text = f"{network} reaches into {special}, which {why}; write a network of machines, like 10.64.0.0/16"
                yield problem(environment, REGION, path, text)


def networks_disjoint(environment: Environment) -> Iterator[Problem]:
    """Report networks of a region that overlap."""
    for other, (path, _, network) in overlaps((*bounds(entry[2]), entry) for entry in _written(environment)):
        where = f"{other[1]} ({other[2]}, {place(environment, REGION, other[0])})"
        text = f"{network} overlaps {where}; networks of a region must be disjoint, move one"
        yield problem(environment, REGION, path, text)


def joints(environment: Environment) -> Iterator[Problem]:
    """Report networks of a region that the network of a VPC's clusters takes for itself in each of them."""
    joined: dict[tuple[Isolation, Network | Network6], list[str]] = {}
    for vpc in (vpc for tenant in environment.tenants for vpc in tenant.vpcs):
        for joint in BORDERS[vpc.isolation].joints:
            if isinstance(joint, Network) or vpc.ipv6 is not None:
                joined.setdefault((vpc.isolation, joint), []).append(vpc.name)
    ipv6 = environment.region.networks.tenants_ipv6
    named = [(path, network) for path, _, network in _written(environment)]
    for path, network in (*named, *([(("networks", "tenants_ipv6"), ipv6)] if ipv6 else ())):
        for (isolation, joint), names in joined.items():
            if type(joint) is type(network) and joint.overlaps(network):
                text = f"{network} overlaps {joint}, which {isolation} takes for itself in VPC {listed(names)}; move it"
                yield problem(environment, REGION, path, text)


def _written(environment: Environment) -> list[tuple[DataPath, str, Network]]:
    """Return every network that the data of a region writes, with its path and its name."""
    return [*region_networks(environment), *behind_border(environment), *_rails(environment)]


def region_networks(environment: Environment) -> list[tuple[DataPath, str, Network]]:
    """Return all networks of the address plan with their paths and names."""
    networks = environment.region.networks
    single = [
        (("networks", key), f"networks.{key}", network)
        for key in SINGLE_NETWORKS
        if (network := getattr(networks, key)) is not None
    ]
    public = [(("networks", "public", i), f"networks.public[{i}]", one) for i, one in enumerate(networks.public)]
    return [*single, *public]


def behind_border(environment: Environment) -> list[tuple[DataPath, str, Network]]:
    """Return the networks behind the border, which regions may have in common."""
    border = environment.region.networks.border
    named = enumerate(border.networks if border else ())
    return [(("networks", "border", "networks", i), f"networks.border.networks[{i}]", one) for i, one in named]


def _rails(environment: Environment) -> list[tuple[DataPath, str, Network]]:
    """Return the networks of pods on rails, which the pods reach beside all others."""
    return [
        (("fabrics", index, "rail_prefixes"), f"rail_prefixes of {fabric.name}", fabric.rail_prefixes)
        for index, fabric in enumerate(environment.region.fabrics)
        if fabric.rail_prefixes is not None
    ]


def number_ranges(environment: Environment) -> Iterator[Problem]:
    """Report ranges beyond what the protocols can count."""
    networks = environment.region.networks
    vnis, targets = (MAX_VNI, "the VNIs there are"), (MAX_ASN, "the route targets beside an ASN of two bytes")
    if networks.asn.last > TWO_BYTES:
        targets = (TWO_BYTES, "the route targets beside an ASN of four bytes")
        if networks.route_targets is None:
            vnis = (TWO_BYTES, "the VNIs that a route target has room for beside an ASN of four bytes")
    for key, most, what in (("vni", *vnis), ("route_targets", *targets), ("asn", MAX_ASN, "the ASNs there are")):
        numbers = getattr(networks, key)
        if numbers is None:
            continue
        if numbers.first < 1 or numbers.last > most:
            text = f"{numbers} leaves 1-{most}, {what}; write a range within"
            yield problem(environment, REGION, ("networks", key), text)


def asn_capacity(environment: Environment) -> Iterator[Problem]:
    """Report too few ASNs: VPCs take them from the first upwards, DPUs from the last downwards by their loopback."""
    networks = environment.region.networks
    asns, vpcs = networks.asn, sum(len(tenant.vpcs) for tenant in environment.tenants)
    count, needed = asns.last - asns.first + 1, networks.dpu_loopbacks.num_addresses + vpcs
    if count < needed:
        text = (
            f"{asns} has {count} numbers, {needed} are needed: one for each address of networks.dpu_loopbacks"
            f" ({networks.dpu_loopbacks}) and each of {vpcs} VPCs; write a wider range"
        )
        yield problem(environment, REGION, ("networks", "asn"), text)


def service_prefixes(environment: Environment) -> Iterator[Problem]:
    """Report prefixes that Kubernetes cannot number services from."""
    widest, narrowest = SERVICE_PREFIXES[0], SERVICE_PREFIXES[-1]
    for tenant in environment.tenants:
        for index, vpc in enumerate(tenant.vpcs):
            sizes: dict[DataPath, int] = {("services",): vpc.services}
            sizes |= {
                ("more_prefixes", at, "size"): more.size
                for at, more in enumerate(vpc.more_prefixes)
                if more.kind is PrefixKind.SERVICES
            }
            for path, size in sizes.items():
                if size not in SERVICE_PREFIXES:
                    text = f"/{size} is no size for services; write one from /{widest} to /{narrowest}"
                    yield problem(environment, tenant_file(tenant), ("vpcs", index, *path), text)


def service_addresses(environment: Environment) -> Iterator[Problem]:
    """Report addresses of shared services that two have, or outside the network they are reached through."""
    region = environment.region
    first: dict[object, DataPath] = {}
    shared: dict[DataPath, Address | None] = {
        ("dpus", key): getattr(region.dpus, key) for key in ("vip", "ovn_central", "management_api")
    }
    shared |= {("dpus", "clusters", index, "vip"): item.vip for index, item in enumerate(region.dpus.clusters)}
    announcement = region.control_planes.announcement
    for index, peer in enumerate(announcement.peers if announcement else ()):
        if not peer.multihop:
            shared["control_planes", "announcement", "peers", index, "address"] = peer.address
    if region.nodes.join_service is not None:
        shared["nodes", "join_service", "address"] = region.nodes.join_service.address
    for path, address in shared.items():
        if address is None:
            continue
        yield from _within(environment, path, address, "management")
        other = first.setdefault(address, path)
        if other != path:
            text = f"{address} is also {dotted(other)} ({place(environment, REGION, other)}); pick another address"
            yield problem(environment, REGION, path, text)
    for index, entry in enumerate(region.storage):
        server = entry.server if isinstance(entry, NfsClassSpec) else None
        if isinstance(server, ipaddress.IPv4Address):
            yield from _within(environment, ("storage", index, "server"), server, "storage")


def _within(environment: Environment, path: DataPath, address: Address, key: str) -> Iterator[Problem]:
    """Report an address that no machine in ``networks.<key>`` can have."""
    network: Network = getattr(environment.region.networks, key)
    there = place(environment, REGION, ("networks", key))
    if address not in network:
        text = f"{address} is outside networks.{key} ({network}, {there}); pick an address in it"
        yield problem(environment, REGION, path, text)
    elif int(address) in bounds(network):
        text = (
            f"{address} is the first or last of networks.{key} ({network}, {there}), which no machine has; pick another"
        )
        yield problem(environment, REGION, path, text)


def ovn_central(environment: Environment) -> Iterator[Problem]:
    """Report VPCs on OVN in a region that has no OVN database, or no network for its addresses on DPUs."""
    region = environment.region
    needed = {("dpus", "ovn_central"): region.dpus.ovn_central, ("networks", "ovn"): region.networks.ovn}
    for tenant in environment.tenants:
        for index, vpc in enumerate(tenant.vpcs):
            for path, value in needed.items() if BORDERS[vpc.isolation].ovn else ():
                if value is None:
                    line = environment.positions.line(REGION, path[:1])
                    text = f"{vpc.isolation} needs {dotted(path)} in {REGION}:{line}; add it there or write dpf-hbn"
                    yield problem(environment, tenant_file(tenant), ("vpcs", index, "isolation"), text)


def ovn_addresses(environment: Environment) -> Iterator[Problem]:
    """Report a network for OVN's addresses with too few of them: each DPU takes four, and one is the router's."""
    network, dpus = environment.region.networks.ovn, len(environment.hosts)
    if network is not None and network.num_addresses < BLOCK * dpus + 1:
        text = (
            f"{network} has {network.num_addresses:,} addresses, {BLOCK} for each of {dpus:,} DPUs and the router's are"
            " needed; write a wider network"
        )
        yield problem(environment, REGION, ("networks", "ovn"), text)


def isolation_kept(environment: Environment) -> Iterator[Problem]:
    """Report VPCs whose borders would be torn down under running nodes to be drawn by something else."""
    for tenant, index, vpc, nodes in _switched(environment):
        there = place(environment, ALLOCATIONS, ("vpcs", vpc.name))
        before = environment.allocations.vpcs[vpc.name].isolation
        text = (
            f"'{vpc.isolation}' instead of {before}, behind which {nodes} nodes run ({there}), and their borders would"
            f" go at once; write {before}, and {vpc.isolation} in a new VPC with a new cluster"
        )
        yield problem(environment, tenant_file(tenant), ("vpcs", index, "isolation"), text)


def without_isolation(environment: Environment) -> Iterator[Problem]:
    """Report VPCs that isolate no host, of tenants with whole nodes in a region where others have such.

    A tenant alone has nobody to be kept from. A waiver for the tenant lets all of its VPCs be.
    """
    owners = [tenant.tenant for tenant in environment.tenants if any(one.pools for one in tenant.clusters)]
    told = {vpc.name for _, _, vpc, _ in _switched(environment)}
    running, walls = running_nodes(environment), " or ".join(name for name in BORDERS if BORDERS[name].isolates_hosts)
    for tenant in environment.tenants if len(owners) > 1 else ():
        others = listed((name for name in owners if name != tenant.tenant), _MAX_TENANTS_SHOWN)
        for index, vpc in enumerate(tenant.vpcs if tenant.tenant in owners else ()):
            border = BORDERS[vpc.isolation]
            if border.isolates_hosts or vpc.name in told:
                continue
            way = f"make a new VPC by {walls}" if running["vpcs", vpc.name] else f"write {walls}"
            text = (
                f"{vpc.isolation} isolates no host ({border.source}), and {tenant.tenant} is root on its nodes, beside"
                f" those of {others}; {way}, give {tenant.tenant} a region of its own, or a waiver in {WAIVERS}"
            )
            yield problem(environment, tenant_file(tenant), ("vpcs", index, "isolation"), text, tenant.tenant)


def _switched(environment: Environment) -> Iterator[tuple[TenantSpec, int, VpcSpec, int]]:
    """Yield VPCs that get other borders while nodes run in them, each with its tenant, its place and these nodes."""
    given, nodes = environment.allocations, Counter[str]()
    for key, group in given.groups.items():
        cluster = given.clusters.get(cluster_of(key))
        nodes[(cluster and cluster.vpc) or ""] += group.nodes
    for tenant in environment.tenants:
        for index, vpc in enumerate(tenant.vpcs):
            old = given.vpcs.get(vpc.name)
            if old and old.tenant == tenant.tenant and old.isolation not in {None, vpc.isolation} and nodes[vpc.name]:
                yield tenant, index, vpc, nodes[vpc.name]


def vpc_sizes(environment: Environment) -> Iterator[Problem]:
    """Report a size that was edited after its prefix had been given, or that the lock file no longer has.

    Another tenant's VPC of the same name is told as that.
    """
    for tenant in environment.tenants:
        for index, vpc in enumerate(tenant.vpcs):
            given = environment.allocations.vpcs.get(vpc.name)
            for path, wanted, network in _sizes(vpc, given) if given and given.tenant == tenant.tenant else ():
                if wanted != network.prefixlen:
                    there = place(environment, ALLOCATIONS, ("vpcs", vpc.name))
                    text = (
                        f"/{wanted} wanted, {network} is given ({there}), and a VPC keeps its prefixes; if git diff"
                        f" shows an edit of that file restore it, else write /{network.prefixlen}, or move to a new VPC"
                    )
                    yield problem(environment, tenant_file(tenant), ("vpcs", index, *path), text)


def _sizes(vpc: VpcSpec, given: VpcAllocation) -> Iterator[tuple[DataPath, int, Network | Network6]]:
    """Yield where the size of each prefix of ``vpc`` stands, the size, and what is given."""
    for key in PREFIXES:
        yield (key,), getattr(vpc, key), getattr(given, key)
    for kind, prefix in given.ipv6.items() if vpc.ipv6 else ():
        yield ("ipv6", kind), getattr(vpc.ipv6, kind), prefix
    for index, more in enumerate(vpc.more_prefixes):
        if more.name in given.more_prefixes:
            yield ("more_prefixes", index, "size"), more.size, given.more_prefixes[more.name].prefix
