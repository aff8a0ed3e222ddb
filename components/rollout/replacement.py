"""How each rollout group is replaced: spares of its failure domain decide whether new nodes can come first."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from components.lookups.host_use import HostUse, counted_hosts
from components.lookups.pools import pools
from components.specs.base import limit_of
from components.specs.environment import Environment
from components.specs.keys import group_key, pool_of
from components.specs.pools.node_pool import RolloutSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """How the nodes of one rollout group are replaced."""

    max_surge: int
    """Number of nodes that are made before old ones go; none is away then."""
    max_unavailable: int
    """Number of nodes that may be away at once, on whose hosts the new ones are made."""
    reason: str
    """Why nodes are replaced in this way, for people."""


def replacement(rollout: RolloutSpec, nodes: int, spares: int) -> Replacement:
    """Return how the nodes of a group of ``nodes`` are replaced, with ``spares`` free hosts in its failure domain.

    A new node needs a free host that the group may claim; without one the roll would stand still for ever. Then old
    nodes go first, and their hosts are reused.
    """
    wanted, away = limit_of(rollout.surge, nodes), max(1, limit_of(rollout.max_unavailable, nodes))
    if surge := min(wanted, spares):
        short = f" of {wanted} that are asked for" if surge < wanted else ""
        reason = f"{surge}{short} at a time on new hosts first: the failure domain has {_hosts(spares)} to spare"
        return Replacement(max_surge=surge, max_unavailable=0, reason=reason)
    why = f"{wanted} first are asked for, but the failure domain has no host to spare" if wanted else "surge is 0"
    return Replacement(max_surge=0, max_unavailable=away, reason=f"{away} at a time on their own hosts: {why}")


def spare_hosts(environment: Environment, of_pool: str | None = None) -> Counter[str]:
    """Return how many hosts in service each rollout group, or each of one pool, has beyond its nodes."""
    return Counter(
        group_key(placed.pool, placed.failure_domain)
        for placed in counted_hosts(environment, of_pool)
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


def _hosts(count: int) -> str:
    return "1 host" if count == 1 else f"{count} hosts"
