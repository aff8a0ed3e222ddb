"""Rules about contracts: contracted capacity is available, and tenants do not exceed it."""

from collections import Counter
from collections.abc import Iterator, Mapping

from components.lookups.pools import (
    PlacedPool,
    by_instance_type,
    place,
    pools,
    problem,
    promised_nodes,
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
        for index, contract in enumerate(tenant.contract):
            key = (tenant.tenant, contract.instance_type)
            if planned[key] > contract.nodes:
                there = place(environment, last[key].file, last[key].path)
                more = planned[key] - contract.nodes
                remedy = f"write {planned[key]}, or make the pools smaller"
                if more > remaining[contract.instance_type]:
                    remedy = f"make the pools smaller by {more}, because the inventory has no more capacity"
                text = (
                    f"{contract.nodes} {contract.instance_type} are contracted, but the pools up to {there} have"
                    f" {planned[key]}; {remedy}"
                )
                yield problem(environment, tenant_file(tenant), ("contract", index, "nodes"), text, tenant.tenant)


def _not_contracted(
    environment: Environment, planned: Mapping[tuple[str, str], int], last: Mapping[tuple[str, str], PlacedPool]
) -> Iterator[Problem]:
    for (name, kind), placed in last.items():
        contracted = [contract.instance_type for contract in placed.tenant.contract]
        known = environment.instance_types.by_name.get(kind)
        if contracted and kind not in contracted and known and known.gpu and planned[name, kind]:
            count, there = planned[name, kind], place(environment, placed.file, placed.path)
            text = (
                f"has no {kind} ({listed(contracted)}), but the pools up to {there} have {count}; write"
                f" {{instance_type: {kind}, nodes: {count}}} there too, or make these pools smaller"
            )
            yield problem(environment, placed.file, ("contract",), text, name)


def contracted_capacity(environment: Environment) -> Iterator[Problem]:
    """Report an instance type whose contracted nodes exceed the inventory without spares.

    Hosts out of service count as available, because a fault must not make the data invalid.
    ``components.reports.contracts`` reports unmet contracts.
    """
    room, promised = usable_nodes(environment), Counter[str]()
    for tenant in environment.tenants:
        for index, contract in enumerate(tenant.contract):
            kind = contract.instance_type
            before, promised[kind] = promised[kind], promised[kind] + contract.nodes
            if kind in environment.instance_types.by_name and before <= room[kind] < promised[kind]:
                short = promised[kind] - room[kind]
                remedy = f"lower it by {short}" if short < contract.nodes else "remove the contract"
                text = (
                    f"with these {contract.nodes} nodes, tenants are promised {promised[kind]} {kind}, but the"
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
