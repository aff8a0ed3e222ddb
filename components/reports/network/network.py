"""Report on tenant networks of a region: prefixes and numbers by owner, and the free part of each range."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from components.allocate.ledger import freed_numbers, numbers_of, room, written, written_size
from components.inputs.tenant_network import PlacedVpc, vpcs
from components.lookups.network.dns import has_names
from components.lookups.network.dpu_clusters import running_dpu
from components.lookups.number_kinds import NUMBER_KINDS, Kind
from components.lookups.numbers import Block, Blocks, as_block
from components.lookups.pools import clusters_of, vpc_of_host
from components.render.backends import NETWORK_BACKENDS
from components.render.network.vpc import denied
from components.render.region.dns import domain_of
from components.specs.base import Address, Network, Spec
from components.specs.environment import Environment
from components.specs.ipv6 import Network6
from components.specs.network.tenant_network import Egress, Ingress, Isolation
from components.specs.reading.problems import dotted

FORMAT = 1


class ClusterNetwork(Spec):
    """Cluster with its allocated numbers."""

    cluster: str
    api: Address
    """Address of the control plane."""
    guids: dict[str, str]
    """GUIDs of virtual functions, ``first-last``, by InfiniBand fabric."""
    rail_prefixes: dict[str, Network]
    """Prefixes of pods on rails, by RoCE fabric."""
    public_addresses: tuple[Address, ...]
    """Public addresses of VMs, in the order of the data."""
    api_name: str | None
    """DNS name of the control plane; None without a DNS name."""
    domain: str | None
    """DNS domain of VMs and Services; None if no records are written."""


class DpuShare(Spec):
    """Share of a VPC's hosts and links in one DPU cluster."""

    dpu_cluster: str
    hosts: int
    """Number of hosts of the VPC whose DPUs the DPU cluster manages."""
    links: tuple[str, ...]
    """Links to hosts that the DPU cluster assigns, counted from 0 in the prefix for hosts or in the prefix that the
    text names; empty if the DPU cluster assigns all links."""


class VpcNetwork(Spec):
    """VPC with its allocated numbers and DPU clusters."""

    vpc: str
    tenant: str
    isolation: Isolation
    vni: int | None
    """VNI of the VPC's routes; None without EVPN."""
    route_target: str | None
    """Route target of the VPC's routes, ``<ASN>:<number>``; None without EVPN."""
    prefixes: dict[str, Network]
    """Prefixes of hosts, pods, services and load balancers."""
    prefixes_ipv6: dict[str, Network6]
    """IPv6 prefixes of pods and services; empty with IPv4 only."""
    egress: Egress
    ingress: Ingress
    denied: tuple[Network, ...]
    """Denied networks; networks denied to all VPCs are first."""
    security_group: str | None
    """Security group for the VPC's external traffic; None for unrestricted traffic."""
    peers: dict[str, str]
    """Route targets of peered VPCs, by ``TENANT/VPC``."""
    pkeys: dict[str, str]
    """Partition key by InfiniBand fabric, in hexadecimal."""
    fabric_vnis: dict[str, int]
    """VNI of the VPC's VRF by Ethernet fabric whose switches isolate VPCs."""
    clusters: tuple[ClusterNetwork, ...]
    dpus: tuple[DpuShare, ...]
    """DPU clusters of its hosts; empty if DPUs do not isolate the VPC."""
    addresses: dict[str, Address]
    """Configured address by host. The preceding address belongs to the DPU and is the gateway of the host."""


class DpuShard(Spec):
    """DPU cluster of the region."""

    dpu_cluster: str
    api: Address
    """Address of the DPU cluster's API."""
    loopbacks: Network
    """Network of the DPUs' VTEPs."""
    dpus: int
    """Number of DPUs in the inventory that the DPU cluster manages."""


class RangeUse(Spec):
    """Range of the address plan, with its use."""

    range: str
    """Place in ``region.yaml``, such as ``networks.vni``."""
    written: str
    """Range in the notation of ``region.yaml``."""
    unit: str
    """Counted unit, such as ``addresses``."""
    given: int
    """Number of assigned numbers."""
    quarantined: int
    """Number of quarantined numbers, which are not assigned until their release."""
    reserved: int
    """Number of numbers never assigned to tenants: ASNs of DPUs, and network and broadcast addresses."""
    free: int
    largest: str | None
    """Largest free prefix; None if the range does not contain prefixes, or if none is free."""


class RegionNetwork(Spec):
    """Report of ``jacquard show ENV network``."""

    schema_version: int = FORMAT
    environment: str
    networks: dict[str, Network]
    """Networks of the region from which tenants get no numbers, by name."""
    vpcs: tuple[VpcNetwork, ...]
    dpu_clusters: tuple[DpuShard, ...]
    ranges: tuple[RangeUse, ...]


def network(environment: Environment) -> RegionNetwork:
    """Return the report on tenant networks of ``environment``, from its data and lock files.

    Raises:
        KeyError: the lock files do not match the data; ``components.rules.checks`` reports the place.
    """
    plan = environment.region.networks
    shared = ("management", "bmc", "boot", "storage", "ovn")
    return RegionNetwork(
        environment=environment.name,
        networks={name: value for name in shared if (value := getattr(plan, name)) is not None},
        vpcs=tuple(_vpcs(environment)),
        dpu_clusters=tuple(_shards(environment)),
        ranges=tuple(_ranges(environment)),
    )


def _vpcs(environment: Environment) -> Iterator[VpcNetwork]:
    hosts, addresses, plan = _hosts(environment), environment.allocations.addresses, environment.region.networks
    for placed in vpcs(environment):
        spec, numbers, border = placed.vpc.spec, placed.vpc.numbers, NETWORK_BACKENDS[placed.vpc.spec.isolation]
        yield VpcNetwork(
            vpc=spec.name,
            tenant=placed.vpc.tenant,
            isolation=spec.isolation,
            vni=numbers.vni if border.evpn else None,
            route_target=numbers.evpn_target if border.evpn else None,
            prefixes=numbers.prefixes,
            prefixes_ipv6=numbers.ipv6,
            egress=spec.egress,
            ingress=spec.ingress,
            denied=denied(placed.vpc, plan),
            security_group=spec.security_group,
            peers=placed.vpc.peer_targets,
            pkeys={fabric: f"{pkey:#x}" for fabric, pkey in numbers.pkeys.items()},
            fabric_vnis=numbers.fabric_vnis,
            clusters=tuple(_clusters(environment, placed)),
            dpus=tuple(_shares(placed, hosts)) if border.on_dpus else (),
            addresses={
                host: address
                for host, address in addresses.items()
                if any(address in prefix for prefix in numbers.host_links)
            },
        )


def _clusters(environment: Environment, placed: PlacedVpc) -> Iterator[ClusterNetwork]:
    lock, vms = environment.allocations, placed.tenant.vms
    dns, apis = environment.region.dns, environment.region.control_planes.domain
    named = {other.cluster.name for other in clusters_of(placed.tenant) if has_names(environment, other)}
    for cluster in placed.tenant.clusters:
        if cluster.vpc == placed.vpc.spec.name:
            given = lock.clusters[cluster.name]
            yield ClusterNetwork(
                cluster=cluster.name,
                api=given.vip,
                guids={fabric: str(numbers) for fabric, numbers in given.guids.items()},
                rail_prefixes=given.rail_prefixes,
                public_addresses=placed.vpc.public_addresses if vms and vms.cluster == cluster.name else (),
                api_name=f"{cluster.name}.{apis}" if apis else None,
                domain=domain_of(cluster.name, dns) if dns and cluster.name in named else None,
            )


def _hosts(environment: Environment) -> Counter[tuple[str, str]]:
    """Return the number of hosts of each VPC in each DPU cluster."""
    vpc_of, shard_of = vpc_of_host(environment), running_dpu(environment)
    places = ((vpc_of(host), shard_of(host)) for host in environment.hosts)
    return Counter((vpc, at) for vpc, at in places if vpc and at)


def _shares(placed: PlacedVpc, hosts: Counter[tuple[str, str]]) -> Iterator[DpuShare]:
    name, numbers = placed.vpc.spec.name, placed.vpc.numbers
    ranges = defaultdict[str, list[str]](list)
    for prefix, links in numbers.host_links.items():
        for at, parts in links.items():
            ranges[at] += [f"{part}" if prefix == numbers.hosts else f"{part} of {prefix}" for part in parts]
    for at in dict.fromkeys((*ranges, *(at for vpc, at in hosts if vpc == name))):
        yield DpuShare(dpu_cluster=at, hosts=hosts[name, at], links=tuple(ranges[at]))


def _shards(environment: Environment) -> Iterator[DpuShard]:
    region = environment.region
    counts = Counter(map(running_dpu(environment), environment.hosts))
    for item in region.dpus.every(region.networks.dpu_loopbacks):
        yield DpuShard(dpu_cluster=item.name, api=item.vip, loopbacks=item.loopbacks, dpus=counts[item.name])


def _ranges(environment: Environment) -> Iterator[RangeUse]:
    """Yield the ranges of tenants' numbers; ranges of fabrics are last."""
    assigned, freed = _taken(environment)
    for kind, parts in room(environment).items():
        path, text = written(environment, kind)
        properties, blocks = NUMBER_KINDS[kind.section], Blocks(parts)
        size = sum(part.size for part in parts)
        counts = [sum(_within(block, parts) for block in numbers.get(kind, ())) for numbers in (assigned, freed)]
        for block in (*assigned.get(kind, ()), *freed.get(kind, ())):
            blocks.occupy(block)
        yield RangeUse(
            range=f"{dotted(path[:1])}.{kind.fabric}.{path[-1]}" if kind.fabric else dotted(path),
            written=text,
            unit=properties.unit,
            given=counts[0],
            quarantined=counts[1],
            reserved=written_size(environment, kind) - size,
            free=size - sum(counts),
            largest=_largest(blocks, properties.prefix_bits) if properties.prefix_bits else None,
        )


def _taken(environment: Environment) -> tuple[dict[Kind, list[Block]], dict[Kind, list[Block]]]:
    """Return the assigned numbers and the quarantined numbers."""
    lock = environment.allocations
    assigned: dict[Kind, list[Block]] = {}
    freed: dict[Kind, list[Block]] = {}
    for numbers in (*map(numbers_of, lock.vpcs.values()), *map(numbers_of, lock.clusters.values())):
        for kind, _, block in numbers:
            assigned.setdefault(kind, []).append(block)
    assigned[Kind("public_ips")] = [as_block(address) for address in lock.public_ips.values()]
    for holder in lock.quarantine.values():
        for kind, _, block in freed_numbers(holder):
            freed.setdefault(kind, []).append(block)
    return assigned, freed


def _within(block: Block, parts: tuple[Block, ...]) -> int:
    """Return the number of numbers of ``block`` in ``parts``; a range may have been reduced after the allocation."""
    return sum(max(0, min(block.last, part.last) - max(block.first, part.first) + 1) for part in parts)


def _largest(blocks: Blocks, bits: int) -> str | None:
    """Return the length of the largest free prefix, such as ``/12``, for addresses of ``bits`` bits."""
    for length in range(bits + 1):
        if blocks.take(1 << (bits - length)):
            return f"/{length}"
    return None
