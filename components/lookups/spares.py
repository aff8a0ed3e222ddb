"""Number of spares: hosts of a pool in one failure domain beyond the pool's nodes there."""

from functools import lru_cache

from components.specs.base import PercentOrCount, count_of


def spares_for(nodes: int, spares: PercentOrCount) -> int:
    """Return the number of spares for ``nodes`` of one pool in one failure domain."""
    return count_of(spares, nodes) if nodes else 0


@lru_cache(maxsize=4096)
def nodes_within(hosts: int, spares: PercentOrCount) -> int:
    """Return the maximum number of nodes if ``hosts`` must cover these nodes and their spares."""
    nodes = max(0, hosts - spares_for(hosts, spares))
    while nodes + 1 + spares_for(nodes + 1, spares) <= hosts:
        nodes += 1
    return nodes
