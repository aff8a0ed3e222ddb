"""Which clusters give pods functions of ports on RoCE, and the addresses that they need on its rails.

A rail is a subnet of the cluster's prefix on the fabric, all its rails in equal parts. NVIDIA's IPAM gives each node a
block of each subnet, as many addresses as a port has functions at most, and pods of the node take theirs from it.
"""

from __future__ import annotations

from components.lookups.fabrics import cutting, on_roce
from components.lookups.number_kinds import ADDRESS_BITS
from components.lookups.pools import PlacedCluster, most_nodes
from components.render.network.port_functions import MULTUS
from components.render.network.rails import NV_IPAM, Rails, block_of
from components.render.region.kustomizations import ByManifests
from components.specs.base import Network
from components.specs.environment import Environment

_GROWTH = 2
"""How many times the nodes of today a new prefix has room for."""


def rails_needed(environment: Environment, placed: PlacedCluster) -> dict[str, int]:
    """Return how many addresses ``placed`` needs on a rail of each fabric with rails: a block for each node.

    One block more makes up for network, broadcast and gateway.
    """
    kinds = cutting(environment, placed)
    if not kinds:
        return {}
    nodes = sum(most_nodes(environment, pool) for pool in placed.cluster.pools if pool.instance_type in kinds)
    fabrics = {fabric.name for _, fabric in on_roce(environment, placed) if fabric.rails}
    return dict.fromkeys(sorted(fabrics), (nodes + 1) * block_of(kinds.values()))


def rail_ports(environment: Environment, placed: PlacedCluster) -> int:
    """Return how many rails nodes of ``placed`` have ports on whose functions pods get."""
    return max((kind.roce_ports for kind in cutting(environment, placed).values()), default=0)


def prefix_length(subnets: int, needed: int) -> int:
    """Return the length of a new prefix of ``subnets``, each with twice the addresses that are ``needed``."""
    return ADDRESS_BITS - (_GROWTH * needed - 1).bit_length() - (subnets - 1).bit_length()


def room_of_rail(subnets: int, prefix: Network) -> int:
    """Return how many addresses each of ``subnets`` of ``prefix`` has."""
    return prefix.num_addresses // subnets


def rails_of(environment: Environment, placed: PlacedCluster) -> Rails | None:
    """Return what gives pods of ``placed`` functions of ports on RoCE; None where nothing does.

    Raises:
        KeyError: the lock files do not fit the data; ``components.rules.checks`` says where.
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
        by_manifests=ByManifests.taken(environment.versions, (NV_IPAM.chart,)),
        pins=environment.image_pins.charts_of(placed.cluster.name),
    )
