"""Network configuration that the data declare for the nodes of a pool in their VPC."""

from components.lookups.pools import PlacedPool
from components.render.backends import BARE_METAL, CONTROL_PLANES, NETWORK_BACKENDS
from components.specs.environment import Environment
from components.specs.network.node_addresses import NodeNetwork
from components.specs.region.catalog import BootMode


def wanted_network(environment: Environment, placed: PlacedPool, boot: BootMode) -> NodeNetwork | None:
    """Return the network configuration of nodes of ``placed`` with boot mode ``boot``; None if nodes get no address."""
    region = environment.region
    settings = region.nodes.addresses
    port = environment.instance_types.by_name[placed.pool.instance_type].dpu.interface
    if settings is None or port is None or boot is not BootMode.DISK or not _supports_addresses(environment, placed):
        return None
    return NodeNetwork(interface=port, mtu_bytes=region.dpus.mtu_bytes, dns=settings.dns, ntp=settings.ntp)


def addressed(environment: Environment, placed: PlacedPool) -> bool:
    """Return whether each host of ``placed`` has a separate link and therefore an address."""
    vpc = placed.vpc
    return (
        environment.region.nodes.addresses is not None
        and vpc is not None
        and NETWORK_BACKENDS[vpc.isolation].link_per_host
    )


def _supports_addresses(environment: Environment, placed: PlacedPool) -> bool:
    region = environment.region
    metal, control_planes = BARE_METAL[region.bare_metal.backend], CONTROL_PLANES[region.control_planes.backend]
    return addressed(environment, placed) and metal.data_template is not None and control_planes.takes_addresses
