"""Contracts: what tenants paid for is there, and they get no more than that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from operator import attrgetter

from components.lookups.pools import PlacedPool, most_nodes, place, pools, problem, tenant_file
from components.lookups.spares import nodes_within
from components.specs.environment import Environment
from components.specs.reading.problems import Problem, listed

_PLACE = attrgetter("instance_type", "hall", "rack", "leaf")
"""Marks of a host that decide its failure domain, so that hosts of a rack are asked about once."""


def contracted_nodes(environment: Environment) -> Iterator[Problem]:
    """Report tenants whose pools come to more nodes of an instance type than the contract has.

    A contract is about GPUs: nodes without any may go with it unsaid, such as those of add-ons.
    """
    planned = Counter[tuple[str, str]]()
    last, left = {}, usable_nodes(environment)
    left.subtract(_promised(environment))
    for placed in pools(environment):
        key = (placed.tenant.tenant, placed.pool.instance_type)
        planned[key] += most_nodes(environment, placed.pool)
        last[key] = placed
    yield from _not_contracted(environment, planned, last)
    for tenant in environment.tenants:
        for index, contract in enumerate(tenant.contract):
            key = (tenant.tenant, contract.instance_type)
            if planned[key] > contract.nodes:
                there = place(environment, last[key].file, last[key].path)
                more = planned[key] - contract.nodes
                remedy = f"write {planned[key]}, or make the pools smaller"
                if more > left[contract.instance_type]:
                    remedy = f"make the pools smaller by {more}, since no more can be promised without racks to come"
                text = (
                    f"{contract.nodes} {contract.instance_type} are contracted, the pools up to {there} come to"
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
                f"has no {kind} ({listed(contracted)}), and the pools up to {there} come to {count};"
                f" write {{instance_type: {kind}, nodes: {count}}} there too, or make these pools smaller"
            )
            yield problem(environment, placed.file, ("contract",), text, name)


def contracted_capacity(environment: Environment) -> Iterator[Problem]:
    """Report an instance type of which tenants were promised more than can run beside its spares.

    Hosts out of service count, since a fault is recorded whatever was promised; ``plan.report.contracts`` tells what it
    leaves unmet.
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
                    f"with these {contract.nodes} tenants are promised {promised[kind]} {kind}, the inventory has room"
                    f" for {room[kind]} beside spares; {remedy} or add racks"
                )
                yield problem(environment, tenant_file(tenant), ("contract", index, "nodes"), text, tenant.tenant)


def autoscaling(environment: Environment) -> Iterator[Problem]:
    """Report pools that may grow beyond what the whole inventory could give them."""
    growing = [placed for placed in pools(environment) if placed.pool.autoscaling]
    room = usable_nodes(environment) if growing else Counter()
    for placed in growing:
        pool = placed.pool
        if pool.max_nodes is not None and pool.max_nodes > room[pool.instance_type]:
            text = (
                f"{pool.max_nodes} {pool.instance_type} nodes can never come to be, the inventory has room for"
                f" {room[pool.instance_type]} beside spares; write at most that"
            )
            yield problem(environment, placed.file, (*placed.path, "max_nodes"), text)


def _promised(environment: Environment) -> Counter[str]:
    found = Counter[str]()
    for contract in (contract for tenant in environment.tenants for contract in tenant.contract):
        found[contract.instance_type] += contract.nodes
    return found


def usable_nodes(environment: Environment) -> Counter[str]:
    """Return how many nodes of each instance type can run once all hosts work, beside the region's spares."""
    places = Counter(map(_PLACE, environment.hosts))
    one = {_PLACE(host): host for host in environment.hosts}
    hosts = Counter[tuple[str, str]]()
    for key, count in places.items():
        hosts[key[0], environment.failure_domain(one[key])] += count
    room = Counter[str]()
    for (kind, _), count in hosts.items():
        room[kind] += nodes_within(count, environment.region.spares)
    return room
