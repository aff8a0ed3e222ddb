"""Number of spares: hosts of a pool in one failure domain beyond the pool's nodes there."""

from collections import Counter
from functools import lru_cache
from operator import attrgetter

from components.specs.base import PercentOrCount, count_of
from components.specs.environment import Environment

_PLACE = attrgetter("instance_type", "hall", "rack", "leaf")
"""Attributes of a host that determine its failure domain; used to resolve each combination once."""


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


def usable_nodes(environment: Environment) -> Counter[str]:
    """Return the maximum number of nodes by instance type if all hosts are in service, without spares."""
    places = Counter(map(_PLACE, environment.hosts))
    host_at = {_PLACE(host): host for host in environment.hosts}
    hosts = Counter[tuple[str, str]]()
    for key, count in places.items():
        hosts[key[0], environment.failure_domain(host_at[key])] += count
    room = Counter[str]()
    for (kind, _), count in hosts.items():
        room[kind] += nodes_within(count, environment.region.spares)
    return room
