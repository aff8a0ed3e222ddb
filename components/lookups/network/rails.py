"""Rails of clusters whose pods get virtual functions of RoCE ports, and the required number of addresses.

A rail is a subnet of the cluster's prefix on the fabric; all rails have the same size. NVIDIA's IPAM assigns each node
a block of each subnet for its pods. A block has as many addresses as a port can have virtual functions.
"""

from components.lookups.control_planes import most_nodes_of
from components.lookups.network.fabrics import cutting, on_roce
from components.lookups.number_kinds import ADDRESS_BITS
from components.lookups.pools import PlacedCluster, most_nodes
from components.render.network.port_functions import CNI_PLUGINS, MULTUS
from components.render.network.rails import NV_IPAM, Rails, block_of
from components.render.pod_placement import services
from components.render.region.kustomizations import ByManifests
from components.specs.base import Network
from components.specs.environment import Environment

_GROWTH = 2
"""Factor of a new prefix's capacity relative to the current nodes."""


def rails_needed(environment: Environment, placed: PlacedCluster) -> dict[str, int]:
    """Return the number of addresses that ``placed`` needs per rail, by fabric with rails: one block for each node.

    One additional block covers the network, broadcast and gateway addresses.
    """
    kinds = cutting(environment, placed)
    if not kinds:
        return {}
    nodes = sum(most_nodes(environment, pool) for pool in placed.cluster.pools if pool.instance_type in kinds)
    fabrics = {fabric.name for _, fabric in on_roce(environment, placed) if fabric.rails}
    return dict.fromkeys(sorted(fabrics), (nodes + 1) * block_of(kinds.values()))


def rail_ports(environment: Environment, placed: PlacedCluster) -> int:
    """Return the maximum number of RoCE ports per node of ``placed`` whose virtual functions pods can use."""
    return max((kind.roce_ports for kind in cutting(environment, placed).values()), default=0)


def prefix_length(subnets: int, needed: int) -> int:
    """Return the length of a new prefix for a number of ``subnets``, each with twice the ``needed`` addresses."""
    return ADDRESS_BITS - (_GROWTH * needed - 1).bit_length() - (subnets - 1).bit_length()


def room_of_rail(subnets: int, prefix: Network) -> int:
    """Return the number of addresses per subnet if ``prefix`` is divided into ``subnets``."""
    return prefix.num_addresses // subnets


def rails_of(environment: Environment, placed: PlacedCluster) -> Rails | None:
    """Return the rail input of ``placed``; None if its pods get no virtual functions of RoCE ports.

    Raises:
        KeyError: the lock files do not match the data; ``components.rules.checks`` reports the place.
    """
    kinds = cutting(environment, placed)
    if not kinds:
        return None
    numbers = environment.allocations.clusters[placed.cluster.name]
    [(name, prefix)] = numbers.rail_prefixes.items()
    return Rails(
        fabric=environment.region.fabrics_by_name[name],
        prefix=prefix,
        subnets=numbers.rail_subnets,
        instance_types=tuple(kinds.values()),
        multus=environment.versions.tool(MULTUS),
        cni_plugins=environment.versions.optional_tool(CNI_PLUGINS),
        placement=services(system_pool=placed.cluster.has_system_pool),
        nodes=most_nodes_of(environment, placed.cluster),
        by_manifests=ByManifests.taken(environment.versions, (NV_IPAM.chart,)),
        pins=environment.image_pins.charts_of(placed.cluster.name),
    )
