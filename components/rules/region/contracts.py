"""Rules about contracts: contracted capacity is available, and tenants do not exceed it."""

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Mapping

from components.lookups.contracts import first_days, most_contracted, promised_nodes
from components.lookups.pools import (
    PlacedPool,
    by_instance_type,
    place,
    pools,
    problem,
    requested_nodes,
    tenant_file,
)
from components.lookups.spares import usable_nodes
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.reading.loader import REGION
from components.specs.reading.problems import Problem, listed


def contracted_nodes(environment: Environment) -> Iterator[Problem]:
    """Report tenants whose pools have more nodes of an instance type than contracted.

    Contracts apply to GPUs: nodes without GPUs, such as nodes for add-ons, need no contract.
    """
    planned, remaining = requested_nodes(environment), usable_nodes(environment)
    remaining.subtract(by_instance_type(promised_nodes(environment)))
    last = {(placed.tenant.tenant, placed.pool.instance_type): placed for placed in pools(environment)}
    yield from _not_contracted(environment, planned, last)
    for tenant in environment.tenants:
        for kind, most in most_contracted(tenant).items():
            key = (tenant.tenant, kind)
            if planned[key] > most:
                index = max(at for at, entry in enumerate(tenant.contract) if entry.instance_type == kind)
                there = place(environment, last[key].file, last[key].path)
                more = planned[key] - most
                remedy = f"write {tenant.contract[index].nodes + more}, or make the pools smaller"
                if more > remaining[kind]:
                    remedy = f"make the pools smaller by {more}, because the inventory has no more capacity"
                several = " on one day" if most != tenant.contract[index].nodes else ""
                text = (
                    f"{most} {kind} are contracted{several}, but the pools up to {there} have {planned[key]}; {remedy}"
                )
                yield problem(environment, tenant_file(tenant), ("contract", index, "nodes"), text, tenant.tenant)


def _not_contracted(
    environment: Environment, planned: Mapping[tuple[str, str], int], last: Mapping[tuple[str, str], PlacedPool]
) -> Iterator[Problem]:
    for (name, kind), placed in last.items():
        contracted = list(dict.fromkeys(contract.instance_type for contract in placed.tenant.contract))
        known = environment.instance_types.by_name.get(kind)
        if contracted and kind not in contracted and known and known.gpu and planned[name, kind]:
            count, there = planned[name, kind], place(environment, placed.file, placed.path)
            text = (
                f"has no {kind} ({listed(contracted)}), but the pools up to {there} have {count}; write"
                f" {{instance_type: {kind}, nodes: {count}}} there too, or make these pools smaller"
            )
            yield problem(environment, placed.file, ("contract",), text, name)


def contracted_capacity(environment: Environment) -> Iterator[Problem]:
    """Report an instance type whose contracted nodes exceed the inventory without spares on a day.

    Each entry is reported for its first such day. Hosts out of service count as available, because a fault must not
    make the data invalid.
    ``components.reports.contracts`` reports unmet contracts.
    """
    room = usable_nodes(environment)
    entries = [(tenant, *entry) for tenant in environment.tenants for entry in enumerate(tenant.contract)]
    reported: set[tuple[str, int]] = set()
    for day in first_days(contract for _, _, contract in entries):
        promised = Counter[str]()
        for tenant, index, contract in entries:
            kind, nodes = contract.instance_type, contract.nodes if contract.is_active(day) else 0
            before, promised[kind] = promised[kind], promised[kind] + nodes
            is_new = (tenant.tenant, index) not in reported
            if is_new and kind in environment.instance_types.by_name and before <= room[kind] < promised[kind]:
                reported.add((tenant.tenant, index))
                short, on = promised[kind] - room[kind], f" on {day}" if day > dt.date.min else ""
                remedy = f"lower it by {short}" if short < nodes else "remove the contract"
                text = (
                    f"with these {nodes} nodes, tenants are promised {promised[kind]} {kind}{on}, but the"
                    f" inventory fits {room[kind]} {_without_spares(environment)}; {remedy} or add racks"
                )
                yield problem(environment, tenant_file(tenant), ("contract", index, "nodes"), text, tenant.tenant)


def autoscaling(environment: Environment) -> Iterator[Problem]:
    """Report autoscaling pools whose maximum number of nodes exceeds the whole inventory."""
    growing = [placed for placed in pools(environment) if placed.pool.autoscaling]
    room = usable_nodes(environment) if growing else Counter()
    for placed in growing:
        pool = placed.pool
        if pool.max_nodes is not None and pool.max_nodes > room[pool.instance_type]:
            text = (
                f"{pool.max_nodes} {pool.instance_type} nodes exceed the inventory, which fits"
                f" {room[pool.instance_type]} {_without_spares(environment)}; write at most that"
            )
            yield problem(environment, placed.file, (*placed.path, "max_nodes"), text)


def _without_spares(environment: Environment) -> str:
    return f"without spares ({environment.region.spares}, {place(environment, REGION, ('spares',))})"


RULES = Rules(
    data=(contracted_nodes, contracted_capacity, autoscaling), waivable=(contracted_nodes, contracted_capacity)
)
