"""Contracts on a day: unmet because of hosts out of service, ended with nodes in use, and about to end.

The reports never prevent you from recording a fault, or from waiting for the end of a tenant's work.
"""

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Iterator

from components.lookups.contracts import ONE_DAY, contracted_nodes
from components.lookups.pools import place, pools, requested_nodes, tenant_file
from components.specs.environment import Environment
from components.specs.keys import group_key, pool_of
from components.specs.reading.problems import listed
from components.specs.region.tenant import TenantSpec
from components.specs.struct import Struct

MAX_HOSTS_SHOWN = 5
ENDING_DAYS = 90
"""Days before its end from which a contract is listed as ending."""


class Unmet(Struct):
    """Contract with fewer available nodes than contracted, because hosts are out of service."""

    place: str
    """File and line of the contract."""
    tenant: str
    instance_type: str
    contracted: int
    running: int
    """Number of nodes that can run; spares replace hosts of the same failure domain."""
    out_of_service: tuple[str, ...]
    """Hosts whose repair would help: hosts of the tenant's groups with missing nodes, or else all hosts of the type."""

    def __str__(self) -> str:
        """Return the unmet contract as one line."""
        hosts = listed(self.out_of_service, MAX_HOSTS_SHOWN)
        return (
            f"{self.place}: {self.contracted} {self.instance_type} are contracted, {self.running} can run, as many as"
            f" hosts in service and their spares allow; out of service: {hosts}"
        )


class EndedContract(Struct):
    """Contracts of one instance type that ended while their tenant still has more nodes than contracted."""

    place: str
    """File and line of the contract that ended last."""
    tenant: str
    instance_type: str
    ended: dt.date
    """Last day of the contract."""
    contracted: int
    """Nodes that are contracted now."""
    planned: int
    """Nodes of all pools of the tenant."""

    def __str__(self) -> str:
        """Return the contract and its remedy as one line."""
        more = self.planned - self.contracted
        return (
            f"{self.place}: the contract for {self.instance_type} ended on {self.ended}; {self.contracted} nodes are"
            f" contracted, but the pools have {self.planned}; make them smaller by {more}, or extend the contract"
        )


class EndingContract(Struct):
    """Contract that ends soon."""

    tenant: str
    instance_type: str
    nodes: int
    until: dt.date
    """Last day of the contract."""
    days: int
    """Days until the last day, 0 on that day."""
    contracted_after: int
    """Nodes of the tenant and the type that are contracted on the day after the last day."""
    planned: int
    """Nodes of all pools of the tenant with the type."""


class _Hosts:
    """Hosts of a region, grouped for the evaluation of contracts."""

    def __init__(self, environment: Environment) -> None:
        self.held = Counter[str]()
        """Number of hosts in service, by rollout group."""
        self.broken: dict[str, list[str]] = defaultdict(list)
        """Hosts out of service, by rollout group and also by instance type."""
        self.free = Counter[str]()
        """Number of hosts in service without a node of a rollout group, by instance type."""
        owners = environment.allocations.hosts
        for host in environment.hosts:
            owner = owners.get(host.host)
            group = group_key(owner, environment.failure_domain(host)) if owner else ""
            if host.host in environment.out_of_service:
                self.broken[group].append(host.host)
                self.broken[host.instance_type].append(host.host)
            else:
                self.held[group] += 1
                self.free[host.instance_type] += 1


def unmet_contracts(environment: Environment, today: dt.date) -> Iterator[Unmet]:
    """Yield the contracts of ``today`` unmet because of hosts out of service, in the order of tenants.

    A spare replaces a host of its failure domain. Contracted nodes that tenants do not request yet are then counted
    against the remaining hosts, tenant by tenant.
    """
    hosts, groups = _Hosts(environment), defaultdict[tuple[str, str], list[str]](list)
    sizes = {key: group.nodes for key, group in environment.allocations.groups.items()}
    placed = {pool.key: pool for pool in pools(environment)}
    for key, nodes in sizes.items():
        if pool := placed.get(pool_of(key)):
            groups[pool.tenant.tenant, pool.pool.instance_type].append(key)
            hosts.free[pool.pool.instance_type] -= min(nodes, hosts.held[key])
    for tenant in environment.tenants:
        for kind, contracted in contracted_nodes(tenant.contract, today).items():
            mine = groups[tenant.tenant, kind]
            to_come = max(0, contracted - sum(sizes[key] for key in mine))
            from_free = min(to_come, max(0, hosts.free[kind]))
            hosts.free[kind] -= from_free
            running = sum(min(sizes[key], hosts.held[key]) for key in mine) + from_free
            missed = [host for key in mine if hosts.held[key] < sizes[key] for host in hosts.broken[key]]
            broken = missed or hosts.broken[kind]
            if broken and running < contracted:
                yield Unmet(
                    place=_place(environment, tenant, kind, today),
                    tenant=tenant.tenant,
                    instance_type=kind,
                    contracted=contracted,
                    running=running,
                    out_of_service=tuple(broken),
                )


def ended_contracts(environment: Environment, today: dt.date) -> Iterator[EndedContract]:
    """Yield the instance types of tenants whose contract ended before ``today`` and whose pools exceed the rest."""
    planned = requested_nodes(environment)
    for tenant in environment.tenants:
        active = contracted_nodes(tenant.contract, today)
        ended: dict[str, dt.date] = {}
        for contract in tenant.contract:
            kind, until = contract.instance_type, contract.until
            if until is not None and until < today:
                ended[kind] = max(until, ended.get(kind, until))
        for kind, until in ended.items():
            if planned[tenant.tenant, kind] > active[kind]:
                yield EndedContract(
                    place=_place(environment, tenant, kind, until),
                    tenant=tenant.tenant,
                    instance_type=kind,
                    ended=until,
                    contracted=active[kind],
                    planned=planned[tenant.tenant, kind],
                )


def ending_contracts(environment: Environment, today: dt.date, days: int = ENDING_DAYS) -> list[EndingContract]:
    """Return the contracts whose last day is ``today`` or at most ``days`` later, by last day and tenant."""
    planned = requested_nodes(environment)
    ending = [
        EndingContract(
            tenant=tenant.tenant,
            instance_type=contract.instance_type,
            nodes=contract.nodes,
            until=contract.until,
            days=(contract.until - today).days,
            contracted_after=contracted_nodes(tenant.contract, contract.until + ONE_DAY)[contract.instance_type],
            planned=planned[tenant.tenant, contract.instance_type],
        )
        for tenant in environment.tenants
        for contract in tenant.contract
        if contract.until is not None and 0 <= (contract.until - today).days <= days
    ]
    return sorted(ending, key=lambda item: (item.until, item.tenant, item.instance_type))


def _place(environment: Environment, tenant: TenantSpec, kind: str, day: dt.date) -> str:
    """Return file and line of the last entry of ``kind`` that is active on ``day``."""
    index = max(at for at, entry in enumerate(tenant.contract) if entry.instance_type == kind and entry.is_active(day))
    return place(environment, tenant_file(tenant), ("contract", index, "nodes"))
