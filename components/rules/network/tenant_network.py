"""Rules about the address plan of a region, and about numbers allocated from the plan."""

import ipaddress
from collections import Counter, defaultdict
from collections.abc import Iterator

from components.lookups.intervals import bounds, overlaps
from components.lookups.pools import DataPath, place, problem, tenant_file
from components.render.backends import NETWORK_BACKENDS
from components.render.network.ovn_services import BLOCK
from components.rules.rule import Rules
from components.specs.base import Address, Network
from components.specs.environment import Environment
from components.specs.ipv6 import Network6
from components.specs.network.border import TWO_BYTES
from components.specs.network.tenant_network import Isolation, PrefixKind, VpcSpec
from components.specs.network.vpc_allocation import PREFIXES, VpcAllocation
from components.specs.reading.loader import ALLOCATIONS, REGION
from components.specs.reading.problems import Problem, dotted, listed
from components.specs.region.region import RegionSpec

AREA = "networks"
"""Prefix of the names of these rules in waivers and reports."""

_MAX = 3
_Entry = tuple[DataPath, str, Network]
"""Path, name and value of a network."""
SINGLE_NETWORKS = ("management", "bmc", "boot", "storage", "control_plane_vips", "dpu_loopbacks", "ovn", "tenants")
MAX_VNI = 16_777_215
MAX_ASN = 4_294_967_295
SERVICE_PREFIXES = range(12, 29)
"""Allowed prefix lengths for Services. Kubernetes accepts no prefix wider than /12, and a prefix narrower than /28
lacks the tenth address, which the cluster's DNS uses."""

_UNUSABLE = {
    "0.0.0.0/8": "is reserved for this network",
    "127.0.0.0/8": "never leaves a machine (loopback)",
    "169.254.0.0/16": "never leaves a link (link-local)",
    "224.0.0.0/4": "is multicast",
    "240.0.0.0/4": "is reserved, and routers drop it",
}
"""Networks without host addresses (IANA's special-purpose addresses), with the reason."""


def unusable(environment: Environment) -> Iterator[Problem]:
    """Report networks without usable host addresses: loopback, link-local, multicast, reserved."""
    for path, _, network in _written(environment):
        found = [f"{one}, which {why}" for one, why in _UNUSABLE.items() if network.overlaps(Network(one))]
        if found:
            more = f", and {len(found) - 1} other networks without host addresses" if len(found) > 1 else ""
            text = f"{network} overlaps {found[0]}{more}; write a network for hosts, like 10.64.0.0/16"
            yield problem(environment, REGION, path, text)


def networks_disjoint(environment: Environment) -> Iterator[Problem]:
    """Report networks of a region that overlap; a network that overlaps several others is reported once."""
    pairs = list(overlaps((*bounds(entry[2]), entry) for entry in _written(environment)))
    count = Counter(path for pair in pairs for path, *_ in pair)
    others = defaultdict[_Entry, list[_Entry]](list)
    for pair in pairs:
        other, wide = sorted(pair, key=lambda entry: count[entry[0]])  # The later one if both overlap as many.
        others[wide].append(other)
    for (path, _, network), overlapped in others.items():
        where = listed((f"{name} ({that}, {place(environment, REGION, at)})" for at, name, that in overlapped), _MAX)
        text = f"{network} overlaps {where}; networks of a region must be disjoint, move one"
        yield problem(environment, REGION, path, text)


def joints(environment: Environment) -> Iterator[Problem]:
    """Report networks of a region that overlap networks reserved by the isolation backend in each VPC."""
    joined: dict[tuple[Isolation, Network | Network6], list[str]] = {}
    for vpc in (vpc for tenant in environment.tenants for vpc in tenant.vpcs):
        for joint in NETWORK_BACKENDS[vpc.isolation].joints:
            if isinstance(joint, Network) or vpc.ipv6 is not None:
                joined.setdefault((vpc.isolation, joint), []).append(vpc.name)
    ipv6 = environment.region.networks.tenants_ipv6
    named = [(path, network) for path, _, network in _written(environment)]
    for path, network in (*named, *([(("networks", "tenants_ipv6"), ipv6)] if ipv6 else ())):
        for (isolation, joint), names in joined.items():
            if type(joint) is type(network) and joint.overlaps(network):
                text = f"{network} overlaps {joint}, which {isolation} reserves in VPC {listed(names)}; move it"
                yield problem(environment, REGION, path, text)


def _written(environment: Environment) -> list[_Entry]:
    """Return all networks in the data of a region, with path and name."""
    return [*region_networks(environment), *behind_border(environment), *_rails(environment)]


def region_networks(environment: Environment) -> list[tuple[DataPath, str, Network]]:
    """Return all networks of the address plan, with path and name."""
    networks = environment.region.networks
    single = [
        (("networks", key), f"networks.{key}", network)
        for key in SINGLE_NETWORKS
        if (network := getattr(networks, key)) is not None
    ]
    public = [
        (("networks", "public", i), f"networks.public[{i}]", network) for i, network in enumerate(networks.public)
    ]
    return [*single, *public]


def behind_border(environment: Environment) -> list[tuple[DataPath, str, Network]]:
    """Return the networks behind the network edge, which regions may have in common."""
    border = environment.region.networks.border
    named = enumerate(border.networks if border else ())
    return [(("networks", "border", "networks", i), f"networks.border.networks[{i}]", network) for i, network in named]


def _rails(environment: Environment) -> list[tuple[DataPath, str, Network]]:
    """Return the networks of pods on rails; pods reach these networks in addition to all others."""
    return [
        (("fabrics", index, "rail_prefixes"), f"rail_prefixes of {fabric.name}", fabric.rail_prefixes)
        for index, fabric in enumerate(environment.region.fabrics)
        if fabric.rail_prefixes is not None
    ]


def number_ranges(environment: Environment) -> Iterator[Problem]:
    """Report ranges beyond the limits of the protocols."""
    networks = environment.region.networks
    vnis, targets = (MAX_VNI, "the valid VNIs"), (MAX_ASN, "the route targets with a two-byte ASN")
    if networks.asn.last > TWO_BYTES:
        targets = (TWO_BYTES, "the route targets with a four-byte ASN")
        if networks.route_targets is None:
            vnis = (TWO_BYTES, "the VNIs that fit a route target with a four-byte ASN")
    for key, most, what in (("vni", *vnis), ("route_targets", *targets), ("asn", MAX_ASN, "the valid ASNs")):
        numbers = getattr(networks, key)
        if numbers is None:
            continue
        if numbers.first < 1 or numbers.last > most:
            text = f"{numbers} exceeds 1-{most}, {what}; write a range within"
            yield problem(environment, REGION, ("networks", key), text)


def asn_capacity(environment: Environment) -> Iterator[Problem]:
    """Report a range with too few ASNs: VPCs use ASNs from the start of the range, DPUs from its end."""
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
    """Report prefix lengths that Kubernetes does not accept for Services."""
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
                    text = f"/{size} is not a valid size for services; write one from /{widest} to /{narrowest}"
                    yield problem(environment, tenant_file(tenant), ("vpcs", index, *path), text)


def service_addresses(environment: Environment) -> Iterator[Problem]:
    """Report addresses of shared services that are duplicated, or outside their network."""
    region = environment.region
    first: dict[object, DataPath] = {}
    for path, address in _shared_addresses(region).items():
        if address is None:
            continue
        yield from _within(environment, path, address, "management")
        other = first.setdefault(address, path)
        if other != path:
            text = f"{address} is also {dotted(other)} ({place(environment, REGION, other)}); pick another address"
            yield problem(environment, REGION, path, text)
    for index, entry in enumerate(region.storage):
        for key in entry.SERVERS:
            server = getattr(entry, key)
            if isinstance(server, ipaddress.IPv4Address):
                yield from _within(environment, ("storage", index, key), server, "storage")


def _shared_addresses(region: RegionSpec) -> dict[DataPath, Address | None]:
    """Return the addresses of shared services in ``networks.management``, by path."""
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
    netboot = region.bare_metal.netboot
    for key in ("boot_address", "registry_address") if netboot else ():
        shared["bare_metal", "netboot", key] = getattr(netboot, key)
    return shared


def _within(environment: Environment, path: DataPath, address: Address, key: str) -> Iterator[Problem]:
    """Report an address that is not a host address in ``networks.<key>``."""
    network: Network = getattr(environment.region.networks, key)
    there = place(environment, REGION, ("networks", key))
    if address not in network:
        text = f"{address} is outside networks.{key} ({network}, {there}); pick an address in it"
        yield problem(environment, REGION, path, text)
    elif int(address) in bounds(network):
        text = (
            f"{address} is the first or last of networks.{key} ({network}, {there}), not a host address; pick another"
        )
        yield problem(environment, REGION, path, text)


def ovn_central(environment: Environment) -> Iterator[Problem]:
    """Report VPCs on OVN in a region without OVN databases or without a network for OVN addresses of DPUs."""
    region = environment.region
    needed = {("dpus", "ovn_central"): region.dpus.ovn_central, ("networks", "ovn"): region.networks.ovn}
    for tenant in environment.tenants:
        for index, vpc in enumerate(tenant.vpcs):
            for path, value in needed.items() if NETWORK_BACKENDS[vpc.isolation].ovn else ():
                if value is None:
                    line = environment.positions.line(REGION, path[:1])
                    text = f"{vpc.isolation} requires {dotted(path)} in {REGION}:{line}; add it there or write dpf-hbn"
                    yield problem(environment, tenant_file(tenant), ("vpcs", index, "isolation"), text)


def ovn_addresses(environment: Environment) -> Iterator[Problem]:
    """Report a network for OVN that is too small: each DPU uses four addresses, and the router uses one."""
    network, dpus = environment.region.networks.ovn, len(environment.hosts)
    if network is not None and network.num_addresses < BLOCK * dpus + 1:
        text = (
            f"{network} has {network.num_addresses:,} addresses, but {BLOCK} for each of {dpus:,} DPUs and one for the"
            " router are needed; write a wider network"
        )
        yield problem(environment, REGION, ("networks", "ovn"), text)


def vpc_sizes(environment: Environment) -> Iterator[Problem]:
    """Report VPC prefix sizes that differ from the allocated prefix.

    Another rule reports a VPC with the same name but another tenant.
    """
    for tenant in environment.tenants:
        for index, vpc in enumerate(tenant.vpcs):
            allocation = environment.allocations.vpcs.get(vpc.name)
            for path, wanted, network, assigned in (
                _sizes(vpc, allocation) if allocation and allocation.tenant == tenant.tenant else ()
            ):
                if wanted != network.prefixlen:
                    there = place(environment, ALLOCATIONS, ("vpcs", vpc.name, *assigned))
                    text = (
                        f"/{wanted} wanted, {network} is assigned ({there}), and prefixes of a VPC are immutable; if"
                        f" git diff shows an edit of that file restore it, else write /{network.prefixlen}, or move to"
                        " a new VPC"
                    )
                    yield problem(environment, tenant_file(tenant), ("vpcs", index, *path), text)


def _sizes(vpc: VpcSpec, given: VpcAllocation) -> Iterator[tuple[DataPath, int, Network | Network6, DataPath]]:
    """Yield path, wanted size, assigned prefix and its path in the lock file for each prefix of ``vpc``."""
    for key in PREFIXES:
        yield (key,), getattr(vpc, key), getattr(given, key), (key,)
    for kind, prefix in given.ipv6.items() if vpc.ipv6 else ():
        yield ("ipv6", kind), getattr(vpc.ipv6, kind), prefix, (f"{kind}_ipv6",)
    for index, more in enumerate(vpc.more_prefixes):
        if more.name in given.more_prefixes:
            at = ("more_prefixes", more.name)
            yield ("more_prefixes", index, "size"), more.size, given.more_prefixes[more.name].prefix, at


RULES = Rules(
    data=(
        unusable,
        networks_disjoint,
        joints,
        number_ranges,
        asn_capacity,
        service_addresses,
        service_prefixes,
        vpc_sizes,
        ovn_central,
        ovn_addresses,
    ),
)
