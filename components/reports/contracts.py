"""Contracts unmet because of hosts out of service. The report never prevents you from recording a fault."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from components.lookups.pools import place, pools, tenant_file
from components.specs.environment import Environment
from components.specs.keys import group_key, pool_of
from components.specs.reading.problems import listed

MAX_HOSTS_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmet:
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


def unmet_contracts(environment: Environment) -> Iterator[Unmet]:
    """Yield the contracts unmet because of hosts out of service, in the order of tenants.

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
        for index, contract in enumerate(tenant.contract):
            kind, mine = contract.instance_type, groups[tenant.tenant, contract.instance_type]
            to_come = max(0, contract.nodes - sum(sizes[key] for key in mine))
            from_free = min(to_come, max(0, hosts.free[kind]))
            hosts.free[kind] -= from_free
            running = sum(min(sizes[key], hosts.held[key]) for key in mine) + from_free
            missed = [host for key in mine if hosts.held[key] < sizes[key] for host in hosts.broken[key]]
            broken = missed or hosts.broken[kind]
            if broken and running < contract.nodes:
                yield Unmet(
                    place=place(environment, tenant_file(tenant), ("contract", index, "nodes")),
                    tenant=tenant.tenant,
                    instance_type=kind,
                    contracted=contract.nodes,
                    running=running,
                    out_of_service=tuple(broken),
                )
