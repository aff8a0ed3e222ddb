"""How many broken nodes of a failure domain are repaired side by side, and how long a new node may take."""

from __future__ import annotations

import math

from components.lookups.pools import declared_spares
from components.lookups.spares import spares_for
from components.render.hosts.bare_metal_controllers import PROVISIONED_AT_ONCE
from components.specs.base import limit_of
from components.specs.environment import Environment
from components.specs.pools.node_pool import NodePoolSpec

_MINUTE = 60
_TURN_MINUTES = 30
"""What a host takes to be wiped and to boot an image where the region has measured nothing: more than most need, since
a turn that is thought too short ends machines that only queue."""


def most_broken(environment: Environment, pool: NodePoolSpec, nodes: int) -> int:
    """Return up to how many broken nodes of a group of ``nodes`` are repaired; with more of them none is.

    So many nodes of one rack do not break by themselves: their rack, switch or control plane did. A repair that fails
    takes a spare, so that there are never more than these; one node is repaired without any, since it is lost either
    way. No figure is larger than what the pool's data say, nor than an NVLink domain, whose spares are within it.
    """
    spares = spares_for(nodes, declared_spares(environment, pool))
    return min(limit_of(pool.health.max_unhealthy, nodes), max(1, spares))


def startup_seconds(environment: Environment, pool: NodePoolSpec, nodes: int) -> int:
    """Return how long a new node of a pool of ``nodes`` may take, with the time that it may wait for its turn.

    Cluster API counts from the moment its Machine was made until a host runs its image, and then anew. All nodes of a
    pool may be wanted at once, on hosts of one controller, which provisions so many at a time.
    """
    steps = environment.region.nodes.durations
    turn = steps.deprovision_minutes + steps.boot_minutes if steps else _TURN_MINUTES
    turns_before = max(0, provisioning_turns(nodes) - 1)
    return pool.health.node_startup_timeout_seconds + turns_before * turn * _MINUTE


def provisioning_turns(nodes: int) -> int:
    """Return in how many turns one controller provisions hosts for so many nodes that are wanted at the same time."""
    return math.ceil(nodes / PROVISIONED_AT_ONCE)
