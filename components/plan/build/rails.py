"""Which clusters give pods functions of ports on RoCE, and the addresses that they need on its rails.

A rail is a subnet of the cluster's prefix on the fabric, all its rails in equal parts. NVIDIA's IPAM gives each node a
block of each subnet, as many addresses as a port has functions at most, and pods of the node take theirs from it.
"""

from __future__ import annotations

from components.plan.allocate.sorts import ADDRESS_BITS
from components.plan.build.fabrics import cutting, on_roce
from components.plan.pools import PlacedCluster, most_nodes
from components.render.kustomizations import ByManifests
from components.render.port_functions import MULTUS
from components.render.rails import NV_IPAM, Rails, block_of
from components.specs.base import Network
from components.specs.environment import Environment
from components.specs.fabric import FabricSpec

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


def prefix_length(fabric: FabricSpec, needed: int) -> int:
    """Return the length of a new prefix whose subnets have twice the addresses that are ``needed``."""
    return ADDRESS_BITS - (_GROWTH * needed - 1).bit_length() - fabric.rail_bits


def room_of_rail(fabric: FabricSpec, prefix: Network) -> int:
    """Return how many addresses the subnet of a rail of ``prefix`` has."""
    return prefix.num_addresses >> fabric.rail_bits


def rails_of(environment: Environment, placed: PlacedCluster) -> Rails | None:
    """Return what gives pods of ``placed`` functions of ports on RoCE; None where nothing does.

    Raises:
        KeyError: the lock files do not fit the data; ``components.plan.checks`` says where.
    """
    kinds, lock = cutting(environment, placed), environment.allocations.clusters
    if not kinds:
        return None
    [(name, prefix)] = lock[placed.cluster.name].rail_prefixes.items()
    return Rails(
        fabric=environment.region.fabrics_by_name[name],
        prefix=prefix,
        instance_types=tuple(kinds.values()),
        multus=environment.versions.tool(MULTUS),
        by_manifests=ByManifests.taken(environment.versions, (NV_IPAM.chart,)),
        pins=environment.image_pins.charts_of(placed.cluster.name),
    )
