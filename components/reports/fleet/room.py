"""Nodes that orders can still get in a region: free hosts without spares and without contracted nodes, by day."""

import datetime as dt
from collections import Counter
from collections.abc import Mapping, Sequence

from components.lookups.contracts import changes, kept_nodes, promised_nodes, turns
from components.lookups.host_use import HostUse, counted_hosts
from components.lookups.pools import by_instance_type, pools, requested_nodes
from components.lookups.spares import nodes_within, usable_nodes
from components.specs.environment import Environment
from components.specs.fleet.order import OrderSpec
from components.specs.hosts.instance_types import Scale
from components.specs.struct import Struct


class Period(Struct):
    """Days for which nodes are needed."""

    today: dt.date = dt.date.min
    """Day from which the contracts that end release their nodes; earlier ends release nothing."""
    first: dt.date = dt.date.min
    """First day, not before ``today``."""
    last: dt.date = dt.date.max
    """Last day."""

    def days(self, environment: Environment, reservations: Sequence[OrderSpec]) -> list[dt.date]:
        """Return the first day and all later days on which the promised nodes of a region change, in order."""
        changing = {*changes(environment), *turns(reservations)}
        return [self.first, *sorted(day for day in changing if self.first < day <= self.last)]


class Room(Struct):
    """Capacity of one instance type of a region for further orders, in nodes."""

    free: int = 0
    """Hosts in service that no pool has, or whose pool is released before the period."""
    spare: int = 0
    """Free hosts that further pools would keep as spares, or that are in incomplete NVLink domains."""
    reserved: int = 0
    """Free hosts for contracted nodes that the tenants' pools do not request yet, and for reserved orders, on the day
    that needs most of them; nodes of contracts that end before that day serve first."""
    domains: Mapping[str, int]
    """Nodes by failure domain, before ``reserved``."""
    nodes: int = 0
    """Nodes that an order can get. A further limit is the inventory without spares, minus all promised nodes."""


def rooms(
    environment: Environment, period: Period | None = None, reservations: Sequence[OrderSpec] = ()
) -> dict[str, Room]:
    """Return the room of each instance type with hosts in ``environment``, by name of the type.

    Args:
        environment: the region.
        period: days for which the nodes are needed; by default all days, so that each contract counts.
        reservations: other orders that are reserved in the region.
    """
    period = period or Period()
    wanted, days = requested_nodes(environment), period.days(environment, reservations)
    kept = [kept_nodes(environment, period.today, day) for day in days]
    contracted = [promised_nodes(environment, day) for day in days]
    released = {key for key in wanted if not any(nodes[key] for nodes in (*kept, *contracted))}
    promised, reserved = Counter[str](), Counter[str]()
    for day, pools_then, contracts_then in zip(days, kept, contracted, strict=True):
        ordered = reserved_nodes(environment, reservations, day)
        freed = by_instance_type({key: count for key, count in (wanted - pools_then).items() if key not in released})
        promised |= by_instance_type(pools_then | contracts_then) + ordered
        reserved |= by_instance_type(contracts_then - pools_then) + ordered - freed
    hosts = _free_hosts(environment, released)
    usable = usable_nodes(environment)
    found = {}
    for kind in environment.instance_types.instance_types:
        if kind.name not in usable:
            continue
        spares = environment.region.spares
        free = {domain: count for (name, domain), count in hosts.items() if name == kind.name}
        full = kind.nodes_per_rack if kind.scale is Scale.RACK else 1
        domains = {name: nodes_within(count, spares) for name, count in sorted(free.items()) if count >= full}
        total = sum(domains.values())
        found[kind.name] = Room(
            free=sum(free.values()),
            spare=sum(free.values()) - total,
            reserved=min(total, reserved[kind.name]),
            domains=domains,
            nodes=max(0, min(total - reserved[kind.name], usable[kind.name] - promised[kind.name])),
        )
    return found


def _free_hosts(environment: Environment, released: set[tuple[str, str]]) -> Counter[tuple[str, str]]:
    """Return the hosts that no pool has in the period, by instance type and failure domain.

    Args:
        environment: the region.
        released: tenants and instance types whose pools are removed before the period. Of pools that shrink, it is
            unknown which hosts become free.
    """
    gone = {item.key for item in pools(environment) if (item.tenant.tenant, item.pool.instance_type) in released}
    return Counter(
        (placed.host.instance_type, placed.failure_domain)
        for placed in counted_hosts(environment)
        if placed.use is HostUse.FREE or (placed.use in {HostUse.NODE, HostUse.SPARE} and placed.pool in gone)
    )


def reserved_nodes(environment: Environment, reservations: Sequence[OrderSpec], day: dt.date) -> Counter[str]:
    """Return the nodes of ``reservations`` in a region on ``day``, by instance type, in whole NVLink domains."""
    nodes, kinds = Counter[str](), environment.instance_types.by_name
    for order in reservations:
        for item in order.items if order.is_active(day) else ():
            kind = kinds.get(item.instance_type)
            is_rack = kind is not None and kind.scale is Scale.RACK
            each = nodes_within(kind.nodes_per_rack, environment.region.spares) if kind and is_rack else 1
            nodes[item.instance_type] += -(-item.nodes // max(1, each)) * max(1, each)
    return nodes
