"""Rules about numbers of running nodes: removed from the lock file, they would be allocated again under the nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from components.lookups.pools import clusters, problem
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.keys import cluster_of
from components.specs.reading.loader import ALLOCATIONS
from components.specs.reading.problems import Problem, dotted

Entry = tuple[str | int, ...]
"""Section and name of an entry of the lock file, such as ``("vpcs", "acme")``."""


def numbers_gone(environment: Environment) -> Iterator[Problem]:
    """Report clusters and VPCs with running nodes but without an entry in the lock file, even with accepted edits."""
    lock = environment.allocations
    for entry, nodes in running_nodes(environment).items():
        section, name = entry
        if nodes and name not in getattr(lock, str(section)):
            yield problem(environment, ALLOCATIONS, entry, f"is missing; {restored(entry, nodes)}")


def running_nodes(environment: Environment) -> Counter[Entry]:
    """Return the number of running nodes by entry of the lock file, for clusters that the data has."""
    found, lock = Counter[Entry](), environment.allocations
    vpcs = {placed.cluster.name: placed.cluster.vpc for placed in clusters(environment)}
    for key, group in lock.groups.items():
        cluster = cluster_of(key)
        if cluster in vpcs:
            given = lock.clusters.get(cluster)
            found["clusters", cluster] += group.nodes
            found["vpcs", given.vpc if given else vpcs[cluster]] += group.nodes
    return found


def restored(entry: Entry, nodes: int) -> str:
    """Return the remedy for an entry that ``nodes`` running nodes depend on."""
    return f"restore the file with git checkout, because {nodes} nodes run with {dotted(entry)}"


RULES = Rules(locks=(numbers_gone,))
