"""Hosts of a region with their use: node, spare, free or out of service."""

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum

from components.specs.environment import Environment
from components.specs.hosts.inventory import HostSpec
from components.specs.keys import group_key
from components.specs.struct import Struct


class HostUse(StrEnum):
    """Use of a host."""

    NODE = "node"
    SPARE = "spare"
    """The host is assigned to a pool beyond the nodes of its rollout group."""
    OUT_OF_SERVICE = "out-of-service"
    """The host runs no workload, whether or not it is assigned to a pool."""
    FREE = "free"


class CountedHost(Struct):
    """A host with its failure domain and use."""

    host: HostSpec
    failure_domain: str
    use: HostUse
    pool: str | None
    """Pool that the host is assigned to, as ``cluster/pool``; None when it is free."""


def counted_hosts(environment: Environment, of_pool: str | None = None) -> Iterator[CountedHost]:
    """Yield all hosts, or those of one pool, in the order of the inventory.

    Failures determine at run time which hosts of a group are spares; this function counts the last hosts as spares.
    """
    lock, running = environment.allocations, Counter[str]()
    for host in environment.hosts if of_pool is None else environment.hosts_by_pool.get(of_pool, ()):
        pool = of_pool or lock.hosts.get(host.host)
        domain = environment.failure_domain(host)
        group = group_key(pool, domain) if pool else ""
        if host.host in environment.out_of_service:
            use = HostUse.OUT_OF_SERVICE
        elif pool is None:
            use = HostUse.FREE
        elif group in lock.groups and running[group] < lock.groups[group].nodes:
            use = HostUse.NODE
            running[group] += 1
        else:
            use = HostUse.SPARE
        yield CountedHost(host=host, failure_domain=domain, use=use, pool=pool)
