"""Rules about lock file entries of running nodes: missing entries would be allocated again while nodes use them."""

from collections import Counter
from collections.abc import Container, Iterator

from components.lookups.pools import clusters, place, problem
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.keys import cluster_of, pool_of
from components.specs.reading.loader import ALLOCATIONS
from components.specs.reading.problems import Problem, dotted

Entry = tuple[str | int, ...]
"""Section and name of an entry of the lock file, such as ``("vpcs", "acme")``."""


def numbers_gone(environment: Environment) -> Iterator[Problem]:
    """Report clusters and VPCs with running nodes but without a lock file entry, even if edits are accepted."""
    lock = environment.allocations
    for entry, nodes in running_nodes(environment).items():
        section, name = entry
        if nodes and name not in getattr(lock, str(section)):
            yield problem(environment, ALLOCATIONS, entry, f"is missing; {restored(entry, nodes)}")


def running_nodes(environment: Environment) -> Counter[Entry]:
    """Return the number of running nodes by lock file entry, for clusters in the data."""
    counts, lock = Counter[Entry](), environment.allocations
    vpcs = {placed.cluster.name: placed.cluster.vpc for placed in clusters(environment)}
    for key, group in lock.groups.items():
        cluster = cluster_of(key)
        if cluster in vpcs:
            allocation = lock.clusters.get(cluster)
            counts["clusters", cluster] += group.nodes
            counts["vpcs", allocation.vpc if allocation else vpcs[cluster]] += group.nodes
    return counts


def running_by_pool(environment: Environment) -> Counter[str]:
    """Return the number of running nodes by pool, of pools with rollout groups only."""
    groups = environment.allocations.groups_by_pool
    return Counter({pool: sum(group.nodes for group in mine.values()) for pool, mine in groups.items()})


def running_hosts(environment: Environment) -> dict[str, str]:
    """Return the hosts of pools with nodes, each with its pool. The lock file does not record which ones are spares."""
    lock = environment.allocations
    nodes = Counter[str]()
    for key, group in lock.groups.items():
        nodes[pool_of(key)] += group.most_nodes
    return {host: pool for host, pool in lock.hosts.items() if nodes[pool]}


def first_group(environment: Environment, keys: Container[str]) -> str:
    """Return the place of the first rollout group of a pool in ``keys`` in the lock file."""
    first = next((group for group in environment.allocations.groups if pool_of(group) in keys), "")
    return place(environment, ALLOCATIONS, ("groups", first))


def restored(entry: Entry, nodes: int) -> str:
    """Return the remedy for an entry that ``nodes`` running nodes depend on."""
    return f"restore the file with git checkout, because {nodes} nodes run with {dotted(entry)}"


RULES = Rules(locks=(numbers_gone,), blocking=(numbers_gone,))
