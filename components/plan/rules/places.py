"""Where things stand and how large they get: what rules of several concepts ask."""

from __future__ import annotations

from collections import Counter

from components.plan.pools import DataPath, clusters, declared_spares, most_nodes, problem, rack_hosts
from components.plan.spares import spares_for
from components.specs.environment import Environment
from components.specs.node_pool import NodePoolSpec


def place(environment: Environment, file: str, path: DataPath) -> str:
    """Return ``file:line`` of the value at ``path``, for the other side of a problem."""
    return problem(environment, file, path, "").place


def most_hosts(environment: Environment) -> dict[str, int]:
    """Return how many hosts each cluster may come to need with its spares, or has already."""
    held = Counter(key.partition("/")[0] for key in environment.allocations.hosts.values())
    return {
        placed.cluster.name: max(
            held[placed.cluster.name], sum(_planned(environment, pool) for pool in placed.cluster.pools)
        )
        for placed in clusters(environment)
    }


def _planned(environment: Environment, pool: NodePoolSpec) -> int:
    nodes = most_nodes(environment, pool)
    return max(rack_hosts(environment, pool), nodes + spares_for(nodes, declared_spares(environment, pool)))
