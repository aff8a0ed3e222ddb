"""Contracts by day. Entries of one instance type add up on the days that their periods share."""

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Iterator

from components.lookups.pools import requested_nodes
from components.specs.environment import Environment
from components.specs.fleet.order import OrderSpec
from components.specs.region.tenant import ContractSpec, TenantSpec

ONE_DAY = dt.timedelta(days=1)


def contracted_nodes(contracts: Iterable[ContractSpec], day: dt.date) -> Counter[str]:
    """Return the nodes of ``contracts`` on ``day``, by instance type."""
    nodes = Counter[str]()
    for contract in contracts:
        if contract.is_active(day):
            nodes[contract.instance_type] += contract.nodes
    return nodes


def most_contracted(tenant: TenantSpec) -> Counter[str]:
    """Return the highest number of contracted nodes of one day, by instance type of the tenant's contracts."""
    most = Counter[str]({contract.instance_type: 0 for contract in tenant.contract})
    for day in first_days(tenant.contract):
        most |= contracted_nodes(tenant.contract, day)
    return most


def first_days(contracts: Iterable[ContractSpec]) -> list[dt.date]:
    """Return the days on which contracts begin, in order; the highest number of nodes is reached on one of them."""
    return sorted({contract.from_ or dt.date.min for contract in contracts})


def promised_nodes(environment: Environment, day: dt.date | None = None) -> Counter[tuple[str, str]]:
    """Return the contracted nodes on ``day``, or else of each tenant's highest day, by tenant and instance type."""
    nodes = Counter[tuple[str, str]]()
    for tenant in environment.tenants:
        counts = most_contracted(tenant) if day is None else contracted_nodes(tenant.contract, day)
        nodes.update({(tenant.tenant, kind): count for kind, count in counts.items()})
    return nodes


def changes(environment: Environment) -> Iterator[dt.date]:
    """Yield the days on which the number of contracted nodes changes."""
    return turns(contract for tenant in environment.tenants for contract in tenant.contract)


def turns(items: Iterable[ContractSpec | OrderSpec]) -> Iterator[dt.date]:
    """Yield the first day of each period, and the day after its last day."""
    for item in items:
        if item.from_ is not None:
            yield item.from_
        if item.until is not None and item.until < dt.date.max:
            yield item.until + ONE_DAY


def kept_nodes(environment: Environment, today: dt.date, day: dt.date) -> Counter[tuple[str, str]]:
    """Return the nodes that pools still have on ``day``, by tenant and instance type.

    Pools keep their nodes, except those of contracts that end from ``today`` on and before ``day``. A contract that
    ended before ``today`` releases nothing: its pools do not follow its dates.
    """
    kept = requested_nodes(environment)
    for tenant in environment.tenants:
        for contract in tenant.contract:
            if contract.until is not None and today <= contract.until < day:
                key = tenant.tenant, contract.instance_type
                kept[key] = max(0, kept[key] - contract.nodes)
    return kept
