"""Nodes that orders can still get in a region: free hosts without spares and without contracted nodes."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from components.lookups.host_use import HostUse, counted_hosts
from components.lookups.pools import by_instance_type, promised_nodes, requested_nodes
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
    wanted, contracted = requested_nodes(environment), promised_nodes(environment)
    promised = by_instance_type(wanted | contracted)  # of each tenant, the larger of both
    reserved = by_instance_type(contracted - wanted)
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
