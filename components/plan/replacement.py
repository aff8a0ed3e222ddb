"""How each rollout group is replaced: spares of its failure domain decide whether new nodes can come first."""

from __future__ import annotations

from collections import Counter

from components.plan.capacity import HostUse, counted_hosts
from components.plan.pools import group_key, pool_of, pools
from components.render.pool_rollout import Replacement, replacement
from components.specs.environment import Environment


def spare_hosts(environment: Environment, pool_key: str | None = None) -> Counter[str]:
    """Return how many hosts in service each rollout group, or each of one pool, has beyond its nodes."""
    return Counter(
        group_key(placed.pool, placed.failure_domain)
        for placed in counted_hosts(environment, pool_key)
        if placed.pool is not None and placed.use is HostUse.SPARE
    )


def replacements(environment: Environment) -> dict[str, Replacement]:
    """Return how each rollout group of the lock file is replaced, and why so."""
    spares, rollouts = spare_hosts(environment), {placed.key: placed.pool.rollout for placed in pools(environment)}
    return {
        key: replacement(rollouts[pool_of(key)], group.nodes, spares[key])
        for key, group in environment.allocations.groups.items()
        if pool_of(key) in rollouts
    }
