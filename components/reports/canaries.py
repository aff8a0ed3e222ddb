"""Canaries that are far smaller than the first wave, because a wave never divides a rollout group."""

from collections.abc import Iterator

from components.lookups.pools import place, pools
from components.specs.environment import Environment
from components.specs.keys import domain_of
from components.specs.struct import Struct

_TIMES = 20
"""Ratio of a first wave to its canary from which the first wave is reported. A rack with a single canary is below."""


class LargeCanary(Struct):
    """Pool whose first wave is much larger than its canary."""

    place: str
    """File and line of the canary."""
    pool: str
    """Pool as ``cluster/pool``."""
    canary: int
    """Requested number of nodes in the first wave."""
    group: str
    """Failure domain of the first wave."""
    nodes: int
    """Nodes in the first wave."""
    of: int
    """Nodes of the pool."""

    def __str__(self) -> str:
        """Return the pool as one line, with the remedy."""
        return (
            f"{self.place}: the canary of {self.pool} is {self.canary}, but its first wave has {self.nodes} of"
            f" {self.of} nodes, because a wave cannot divide rollout group {self.group}; divide the pool, or remove the"
            " canary"
        )


def large_canaries(environment: Environment) -> Iterator[LargeCanary]:
    """Yield the pools whose first wave is most of the pool, or at least twenty times as large as the canary."""
    for placed in pools(environment):
        canary = placed.pool.rollout.canary
        groups = environment.allocations.groups_by_pool.get(placed.key, {})
        sizes = {key: group.nodes for key, group in groups.items()}
        enough = [key for key, nodes in sizes.items() if nodes > canary]
        if not canary or not enough or canary in sizes.values():
            continue
        first, total = min(enough, key=lambda key: sizes[key]), sum(sizes.values())
        if sizes[first] * 2 > total or sizes[first] >= _TIMES * canary:
            yield LargeCanary(
                place=place(environment, placed.file, (*placed.path, "rollout", "canary")),
                pool=placed.key,
                canary=canary,
                group=domain_of(first),
                nodes=sizes[first],
                of=total,
            )
