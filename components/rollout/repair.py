"""Limit on broken nodes up to which nodes are repaired, per failure domain, and the startup timeout of new nodes."""

import math

from components.lookups.pools import declared_spares
from components.lookups.spares import spares_for
from components.render.hosts.bare_metal_controllers import PROVISIONED_AT_ONCE
from components.specs.base import limit_of
from components.specs.environment import Environment
from components.specs.pools.node_pool import NodePoolSpec

_MINUTE = 60
_BATCH_MINUTES = 30
"""Minutes to wipe a host and boot an image, used if the region has no measured durations. The value exceeds the time
that most hosts need: a shorter timeout would terminate machines that only wait in the queue.
"""


def most_broken(environment: Environment, pool: NodePoolSpec, nodes: int) -> int:
    """Return the maximum number of broken nodes in a group of ``nodes`` at which nodes are repaired.

    If more nodes are broken, none is repaired, because the likely cause is the rack, the switch or the control plane. A
    failed repair uses a spare host, so the limit is the number of spares. One node is repaired even without a spare,
    since the node is lost in any case. The limit never exceeds the pool's ``health.max_unhealthy``, nor the size of an
    NVLink domain, whose spares are inside the domain.
    """
    spares = spares_for(nodes, declared_spares(environment, pool))
    return min(limit_of(pool.health.max_unhealthy, nodes), max(1, spares))


def startup_seconds(environment: Environment, pool: NodePoolSpec, nodes: int) -> int:
    """Return the startup timeout of a new node in a pool of ``nodes``, in seconds, including its time in the queue.

    Cluster API measures from the creation of the Machine until a host runs its image, and then restarts the timer. All
    nodes of a pool may be requested simultaneously on hosts of one controller. A controller provisions
    `PROVISIONED_AT_ONCE` hosts in parallel.
    """
    steps = environment.region.nodes.durations
    batch_minutes = steps.deprovision_minutes + steps.boot_minutes if steps else _BATCH_MINUTES
    batches_before = max(0, provisioning_turns(nodes) - 1)
    return pool.health.node_startup_timeout_seconds + batches_before * batch_minutes * _MINUTE


def provisioning_turns(nodes: int) -> int:
    """Return the number of batches in which one controller provisions hosts for ``nodes`` requested simultaneously."""
    return math.ceil(nodes / PROVISIONED_AT_ONCE)
