"""Fabric ports that a pod requests to use all ports of its node."""

from components.lookups.network.fabrics import on_roce, partition
from components.lookups.network.rails import rails_of
from components.lookups.pools import PlacedCluster
from components.render.network import infiniband, rails
from components.render.network.device_plugins import resource_of
from components.specs.environment import Environment
from components.specs.hosts.instance_types import InstanceType, PortUse


def ports_of_node(
    environment: Environment, placed: PlacedCluster, kind: InstanceType
) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return the resource requests of a pod for all ports of its node on a fabric, and the networks to attach."""
    mine = rails_of(environment, placed)
    if mine is not None and kind in mine.instance_types:
        each = range(kind.roce_ports)
        names = tuple(rails.attachment_of(mine.fabric.name, rail) for rail in each)
        return {rails.resource_of(rail): 1 for rail in each}, names
    part = partition(environment, placed)
    if part is None or kind not in part.instance_types:
        return {}, ()
    ports = 1 if kind.port_use is PortUse.SHARED else kind.infiniband_ports
    cut = kind.port_use is PortUse.FUNCTIONS
    networks = (infiniband.attachment_of(part.fabric.name),) * ports if cut else ()
    return {resource_of(kind.port_use): ports}, networks


def joins_host_network(environment: Environment, placed: PlacedCluster, kind: InstanceType) -> bool:
    """Return whether pods reach the ports of nodes of ``kind`` only in the network of the node: shared RoCE ports."""
    return any(other == kind and not other.roce_functions for other, _ in on_roce(environment, placed))
