"""Replacement strategy of rollout groups: nodes surge only if their failure domain has spare hosts."""

from collections import Counter

from components.lookups.host_use import HostUse, counted_hosts
from components.lookups.pools import pools
from components.specs.base import limit_of
from components.specs.environment import Environment
from components.specs.keys import group_key, pool_of
from components.specs.pools.node_pool import RolloutSpec
from components.specs.struct import Struct


class Replacement(Struct):
    """Replacement strategy of the nodes of one rollout group."""

    max_surge: int
    """Number of nodes created before old nodes are deleted; if above 0, no node is unavailable."""
    max_unavailable: int
    """Number of nodes that may be unavailable simultaneously; the hosts of these nodes become free for new nodes."""
    reason: str
    """Explanation of the strategy, as message text."""


def replacement(rollout: RolloutSpec, nodes: int, spares: int) -> Replacement:
    """Return the replacement strategy of a group of ``nodes`` with ``spares`` free hosts in its failure domain.

    A new node needs a free host that the group may claim. Without a free host, old nodes are deleted first, so that
    their hosts become free; otherwise the rollout would never progress.
    """
    wanted, away = limit_of(rollout.surge, nodes), max(1, limit_of(rollout.max_unavailable, nodes))
    if surge := min(wanted, spares):
        limited = f" of {wanted} requested" if surge < wanted else ""
        reason = f"{surge}{limited} at a time, new nodes first: the failure domain has {_hosts(spares)}"
        return Replacement(max_surge=surge, max_unavailable=0, reason=reason)
    why = f"surge is {wanted}, but the failure domain has no spare host" if wanted else "surge is 0"
    return Replacement(max_surge=0, max_unavailable=away, reason=f"{away} at a time, old nodes first: {why}")


def spare_hosts(environment: Environment, of_pool: str | None = None) -> Counter[str]:
    """Return the number of spare hosts in service by rollout group, optionally only for pool ``of_pool``."""
    return Counter(
        group_key(placed.pool, placed.failure_domain)
        for placed in counted_hosts(environment, of_pool)
        if placed.pool is not None and placed.use is HostUse.SPARE
    )


def replacements(environment: Environment) -> dict[str, Replacement]:
    """Return the replacement strategy of each rollout group in the lock file."""
    spares, rollouts = spare_hosts(environment), {placed.key: placed.pool.rollout for placed in pools(environment)}
    return {
        key: replacement(rollouts[pool_of(key)], group.nodes, spares[key])
        for key, group in environment.allocations.groups.items()
        if pool_of(key) in rollouts
    }


def _hosts(count: int) -> str:
    return "1 spare host" if count == 1 else f"{count} spare hosts"
