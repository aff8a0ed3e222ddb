"""Nodes that orders can still get in a region: free hosts without spares and without contracted nodes."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from components.lookups.host_use import HostUse, counted_hosts
from components.lookups.pools import most_nodes, pools
from components.lookups.spares import nodes_within, usable_nodes
from components.specs.environment import Environment
from components.specs.hosts.instance_types import Scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Capacity of one instance type of a region for further orders, in nodes."""

    free: int = 0
    """Hosts in service that no pool has."""
    spare: int = 0
    """Free hosts that further pools would keep as spares, or that are in incomplete NVLink domains."""
    reserved: int = 0
    """Free hosts for contracted nodes that the tenants' pools do not request yet."""
    domains: Mapping[str, int]
    """Nodes by failure domain, before ``reserved``."""
    nodes: int = 0
    """Nodes that an order can get. A further limit is the inventory without spares, minus all promised nodes."""


def rooms(environment: Environment) -> dict[str, Room]:
    """Return the room of each instance type with hosts in ``environment``, by name of the type."""
    free = Counter(
        (placed.host.instance_type, placed.failure_domain)
        for placed in counted_hosts(environment)
        if placed.use is HostUse.FREE
    )
    promised, reserved = _promised(environment)
    usable = usable_nodes(environment)
    found = {}
    for kind in environment.instance_types.instance_types:
        if kind.name not in usable:
            continue
        spares = environment.region.spares
        hosts = {domain: count for (name, domain), count in free.items() if name == kind.name}
        full = kind.nodes_per_rack if kind.scale is Scale.RACK else 1
        domains = {name: nodes_within(count, spares) for name, count in sorted(hosts.items()) if count >= full}
        total = sum(domains.values())
        found[kind.name] = Room(
            free=sum(hosts.values()),
            spare=sum(hosts.values()) - total,
            reserved=min(total, reserved[kind.name]),
            domains=domains,
            nodes=max(0, min(total - reserved[kind.name], usable[kind.name] - promised[kind.name])),
        )
    return found


def _promised(environment: Environment) -> tuple[Counter[str], Counter[str]]:
    """Return nodes by instance type: those that tenants may have, and the part of them that no pool requests."""
    wanted = Counter[tuple[str, str]]()
    for placed in pools(environment):
        wanted[placed.tenant.tenant, placed.pool.instance_type] += most_nodes(environment, placed.pool)
    contracted = Counter[tuple[str, str]]()
    for tenant in environment.tenants:
        for contract in tenant.contract:
            contracted[tenant.tenant, contract.instance_type] += contract.nodes
    promised, reserved = Counter[str](), Counter[str]()
    for key in {*wanted, *contracted}:
        promised[key[1]] += max(wanted[key], contracted[key])
        reserved[key[1]] += max(0, contracted[key] - wanted[key])
    return promised, reserved
