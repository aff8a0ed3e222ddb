"""Hosts that changes of objects affect, and the nodes that run on them before the change."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from components.intents.dpus import DpuDeployment, deployments, dpu_hosts
from components.lookups.effects.changes import Change
from components.lookups.effects.effect import Subject
from components.lookups.host_use import HostUse, counted_hosts
from components.lookups.pools import pools
from components.render.hosts.inventory import names_of
from components.specs.environment import Environment
from components.specs.hosts.inventory import HostSpec
from components.specs.keys import group_key
from components.specs.natural import naturally

MACHINES = (Subject.HOSTS, Subject.DPUS)
"""Subjects of changes that affect single hosts."""


class Machines:
    """Hosts of both sides of a comparison, with their DPUDeployments, tenants and GPUs."""

    def __init__(self, base: Environment, head: Environment) -> None:
        hosts = {host.host: host for side in (base, head) for host in side.hosts}
        self._gpus = {name: _gpus(head, host) for name, host in hosts.items()}
        self._host_of = {name: host.host for host in hosts.values() for name in names_of(host)}
        self._nodes = _nodes(base)
        self._counted = {item.host.host for item in counted_hosts(base) if item.use is HostUse.NODE}
        self._deployments: dict[str, DpuDeployment] = {}
        self._dpus: dict[str, dict[str, None]] = defaultdict(dict)
        for side in (base, head):
            self._deployments |= {item.key: item for item in deployments(side, side.allocations.vpcs)}
            for host, deployment in dpu_hosts(side).items():
                self._dpus[deployment][host] = None

    def of(self, change: Change) -> tuple[str, ...]:
        """Return the hosts that ``change`` affects, in natural order; empty if it does not affect single hosts."""
        if change.row is None or change.row.falls_on not in (*MACHINES, Subject.NODES):
            return ()
        name = change.manifest.name
        if name in self._host_of:
            return (self._host_of[name],)
        if change.row.falls_on is Subject.NODES and not change.row.drains:
            return ()
        return tuple(naturally({host for key in self._keys(change) for host in self._dpus[key]}))

    def of_all(self, changes: Iterable[Change]) -> tuple[str, ...]:
        """Return the hosts that any of ``changes`` affects, in natural order."""
        return tuple(naturally({host for change in changes for host in self.of(change)}))

    def runs_node(self, host: str) -> bool:
        """Return whether a node may run on ``host`` before the change."""
        return host in self._nodes

    def counts_as_node(self, host: str) -> bool:
        """Return whether the lock files of the base count ``host`` as a node instead of a spare."""
        return host in self._counted

    def tenant_of(self, host: str) -> str | None:
        """Return the tenant of the node on ``host`` before the change; None if no node runs there."""
        return self._nodes[host][0] if host in self._nodes else None

    def groups(self, hosts: Iterable[str]) -> set[str]:
        """Return the rollout groups of the nodes on ``hosts`` before the change."""
        return {self._nodes[host][1] for host in hosts if host in self._nodes}

    def gpus(self, hosts: Collection[str]) -> int:
        """Return the number of GPUs in ``hosts``."""
        return sum(self._gpus[host] for host in hosts)

    def _keys(self, change: Change) -> list[str]:
        """Return the keys of the DPUDeployments whose DPUs use the object of ``change``: all for a shared object."""
        name, kind = change.manifest.name, change.kind.rpartition("/")[2]
        match kind:
            case "DPUDeployment":
                return [key for key, item in self._deployments.items() if item.name == name]
            case "DPUServiceConfiguration":
                service = f"-{change.manifest.body['spec']['deploymentServiceName']}"
                return [key for key, item in self._deployments.items() if f"{item.name}{service}" == name]
            case "DPUCluster":
                return [key for key, item in self._deployments.items() if item.cluster == name]
            case "BFB" | "DPUFlavor":
                return []
            case _:
                return list(self._deployments)


def _nodes(environment: Environment) -> Mapping[str, tuple[str, str]]:
    """Return tenant and rollout group by host on which a node may run: every host of a group that has nodes."""
    lock = environment.allocations
    tenants = {placed.key: placed.tenant.tenant for placed in pools(environment)}
    nodes = {}
    for host in environment.hosts:
        pool = lock.hosts.get(host.host)
        if pool in tenants and host.host not in environment.out_of_service:
            key = group_key(pool, environment.failure_domain(host))
            if key in lock.groups and lock.groups[key].most_nodes:
                nodes[host.host] = (tenants[pool], key)
    return nodes


def _gpus(environment: Environment, host: HostSpec) -> int:
    kind = environment.instance_types.by_name.get(host.instance_type)
    return kind.gpu.count if kind and kind.gpu else 0
