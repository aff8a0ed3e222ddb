"""What switches of Ethernet fabrics must do so that each VPC hears its own hosts alone: a contract with their owners.

No switch is configured from here. Ports of a host are all of one VPC, that of its cluster, so a port is in one VRF and
no host chooses among them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from components.inputs.tenant_network import PlacedVpc, vpcs
from components.lookups.fabrics import ports_on, reached
from components.lookups.pools import clusters_of, vpc_of_host
from components.lookups.rails import rails_of
from components.render.network.rails import gateway, subnet
from components.specs.base import Address, Network, Spec
from components.specs.environment import Environment
from components.specs.network.fabrics import FabricSpec, RoceSpec


class FabricRail(Spec):
    """A rail of a cluster on a fabric: a subnet of pods in the VRF of its VPC."""

    cluster: str
    rail: int
    """Number of the rail, from 0, which is the place of its ports in ``roce_interfaces`` of the instance type."""
    subnet: Network
    gateway: Address
    """Address that switches answer to in the subnet, on each leaf the same."""


class FabricVrf(Spec):
    """The VRF of a VPC on a fabric."""

    vpc: str
    tenant: str
    vni: int
    """VNI of the VRF, unique on the fabric."""
    hosts: dict[str, int]
    """Ports in the VRF by host: all that the host has on the fabric."""
    rails: tuple[FabricRail, ...]
    """Subnets of pods in the VRF, each on the ports that hosts of its cluster have on its rail."""


class FabricSwitches(Spec):
    """What the switches of a fabric carry, and for whom."""

    fabric: str
    halls: tuple[str, ...]
    roce: RoceSpec
    """What packets of RDMA are like, on all ports and links."""
    vrfs: tuple[FabricVrf, ...]
    """VRFs of VPCs, in the order of the data; nothing is routed between them."""
    unused: dict[str, int]
    """Ports in no VRF by host: nobody has the host, or its VPC is not on the fabric."""


def fabric_switches(environment: Environment) -> Iterator[FabricSwitches]:
    """Yield what the switches of each Ethernet fabric do that keeps VPCs apart.

    Raises:
        KeyError: the lock files do not fit the data; ``components.rules.checks`` says where.
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
        unused = {host: ports for found in hosts.values() for host, ports in found.items()}
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
    """Return the ports of hosts on ``fabric``, by VPC and host, in the order of the inventory."""
    vpc_of, halls = vpc_of_host(environment), reached(environment, fabric)
    ports = {kind.name: ports_on(kind, fabric) for kind in environment.instance_types.instance_types}
    found: dict[str | None, dict[str, int]] = defaultdict(dict)
    for host in environment.hosts:
        if host.hall in halls and ports.get(host.instance_type):
            found[vpc_of(host)][host.host] = ports[host.instance_type]
    return found
