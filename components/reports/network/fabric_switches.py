"""Configuration of Ethernet fabric switches that isolate VPCs: a contract with the operators of the switches.

Jacquard configures no switches. All ports of a host belong to the VPC of its cluster, so each port is in exactly one
VRF, independent of the host's configuration.
"""

from collections import defaultdict
from collections.abc import Iterator

from components.inputs.tenant_network import PlacedVpc, vpcs
from components.lookups.network.fabrics import ports_on, reached
from components.lookups.network.rails import rails_of
from components.lookups.pools import clusters_of, vpc_of_host
from components.render.network.rails import gateway, subnet
from components.specs.base import Address, Network, Spec
from components.specs.environment import Environment
from components.specs.network.fabrics import FabricSpec, RoceSpec


class FabricRail(Spec):
    """Rail of a cluster on a fabric: a subnet of pods in the VRF of the VPC."""

    cluster: str
    rail: int
    """Number of the rail: the position of the ports in ``roce_interfaces`` of the instance type, counted from zero."""
    subnet: Network
    gateway: Address
    """Gateway address of the subnet, the same on each leaf switch."""


class FabricVrf(Spec):
    """VRF of a VPC on a fabric."""

    vpc: str
    tenant: str
    vni: int
    """VNI of the VRF, unique on the fabric."""
    hosts: dict[str, int]
    """Ports in the VRF by host: all ports of the host on the fabric."""
    rails: tuple[FabricRail, ...]
    """Subnets of pods in the VRF, each for the ports of one cluster's hosts on one rail."""


class FabricSwitches(Spec):
    """Configuration of the switches of a fabric."""

    fabric: str
    halls: tuple[str, ...]
    roce: RoceSpec
    """Treatment of RDMA packets on all ports and links."""
    vrfs: tuple[FabricVrf, ...]
    """One VRF per VPC, in the order of the data, without routes between VRFs."""
    unused: dict[str, int]
    """Ports without a VRF, by host: the host is free, or its VPC is not on the fabric."""


def fabric_switches(environment: Environment) -> Iterator[FabricSwitches]:
    """Yield the configuration of the switches of each Ethernet fabric that isolates VPCs.

    Raises:
        KeyError: the lock files do not match the data; ``components.rules.checks`` reports the place.
    """
    for fabric in environment.region.fabrics:
        if fabric.roce is None:
            continue
        halls, hosts = reached(environment, fabric), _hosts(environment, fabric)
        vrfs = tuple(
            FabricVrf(
                vpc=placed.vpc.spec.name,
                tenant=placed.vpc.tenant,
                vni=placed.vpc.numbers.fabric_vnis[fabric.name],
                hosts=hosts.pop(placed.vpc.spec.name, {}),
                rails=tuple(_rails(environment, placed, fabric)),
            )
            for placed in vpcs(environment)
            if fabric.name in placed.vpc.spec.fabrics
        )
        unused = {host: ports for vpc_ports in hosts.values() for host, ports in vpc_ports.items()}
        yield FabricSwitches(fabric=fabric.name, halls=halls, roce=fabric.roce, vrfs=vrfs, unused=unused)


def _rails(environment: Environment, placed: PlacedVpc, fabric: FabricSpec) -> Iterator[FabricRail]:
    """Yield the rails of the clusters of a VPC on ``fabric``."""
    for item in clusters_of(placed.tenant):
        mine = rails_of(environment, item) if item.cluster.vpc == placed.vpc.spec.name else None
        if mine is None or mine.fabric != fabric:
            continue
        for rail in range(mine.ports):
            addresses = subnet(mine.prefix, mine.subnets, rail)
            yield FabricRail(cluster=item.cluster.name, rail=rail, subnet=addresses, gateway=gateway(addresses))


def _hosts(environment: Environment, fabric: FabricSpec) -> dict[str | None, dict[str, int]]:
    """Return the ports on ``fabric`` by VPC and host, in the order of the inventory."""
    vpc_of, halls = vpc_of_host(environment), reached(environment, fabric)
    ports = {kind.name: ports_on(kind, fabric) for kind in environment.instance_types.instance_types}
    ports_by_vpc: dict[str | None, dict[str, int]] = defaultdict(dict)
    for host in environment.hosts:
        if host.hall in halls and ports.get(host.instance_type):
            ports_by_vpc[vpc_of(host)][host.host] = ports[host.instance_type]
    return ports_by_vpc
