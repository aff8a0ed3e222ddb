"""How nodes of a pool are to have their address in their VPC, as the data wish it."""

from __future__ import annotations

from components.lookups.pools import PlacedPool
from components.render.backends import BARE_METAL, BORDERS, CONTROL_PLANES
from components.specs.environment import Environment
from components.specs.network.node_addresses import NodeNetwork
from components.specs.region.catalog import BootMode


def wanted_network(environment: Environment, placed: PlacedPool, boot: BootMode) -> NodeNetwork | None:
    """Return how nodes of ``placed`` that boot by ``boot`` have their address; None where nobody gives them one."""
    region = environment.region
    told = region.nodes.addresses
    port = environment.instance_types.by_name[placed.pool.instance_type].dpu.interface
    if told is None or port is None or boot is not BootMode.DISK or not _hands_over(environment, placed):
        return None
    return NodeNetwork(interface=port, mtu_bytes=region.dpus.mtu_bytes, dns=told.dns, ntp=told.ntp)


def addressed(environment: Environment, placed: PlacedPool) -> bool:
    """Tell whether hosts of ``placed`` have a link each, so that each has an address."""
    vpc = placed.vpc
    return environment.region.nodes.addresses is not None and vpc is not None and BORDERS[vpc.isolation].link_per_host


def _hands_over(environment: Environment, placed: PlacedPool) -> bool:
    region = environment.region
    metal, control_planes = BARE_METAL[region.bare_metal.backend], CONTROL_PLANES[region.control_planes.backend]
    return addressed(environment, placed) and metal.data_template is not None and control_planes.takes_addresses
