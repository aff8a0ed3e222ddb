"""Rules about queues: names that exist, quotas that pools can serve, and jobs that fit into the network."""

from collections import Counter
from collections.abc import Iterator

from components.inputs.workloads.queues import HOST_LABELS, levels, queued_pool
from components.lookups.add_ons import add_ons
from components.lookups.pools import (
    DataPath,
    PlacedCluster,
    clusters,
    declared_spares,
    most_nodes,
    place,
    problem,
    vm_pools,
)
from components.lookups.spares import nodes_within
from components.render.workloads import kueue
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.hosts.instance_types import Scale
from components.specs.keys import pool_key
from components.specs.pools.node_pool import NodePoolSpec, PoolRole
from components.specs.reading.loader import ADD_ONS
from components.specs.reading.problems import Problem, listed, undeclared
from components.specs.region.region import FailureDomain
from components.specs.struct import Struct
from components.specs.workloads.queues import GangDomain, QueuesSpec, TeamQueueSpec

_MOST_TOLERATIONS = 8
"""Maximum number of tolerations of a ResourceFlavor (KUEUE:apis/kueue/v1beta1/resourceflavor_types.go)."""
_LABELS = dict(zip((GangDomain.LEAF, GangDomain.RACK), HOST_LABELS, strict=True))
"""Label of a node by the domain of a job."""


class _Queues(Struct):
    """Queues of a cluster, with their place in the data."""

    cluster: PlacedCluster
    spec: QueuesSpec

    @property
    def path(self) -> DataPath:
        return (*self.cluster.path, "queues")

    @property
    def pools(self) -> dict[str, NodePoolSpec]:
        return {pool.name: pool for pool in self.cluster.cluster.pools}

    def teams(self) -> Iterator[tuple[DataPath, TeamQueueSpec]]:
        for index, team in enumerate(self.spec.teams):
            yield (*self.path, "teams", index), team

    def known(self, team: TeamQueueSpec) -> Iterator[tuple[str, NodePoolSpec]]:
        """Yield each pool of ``team`` that the cluster has, with the field that names it."""
        for name in team.pools:
            if name in self.pools:
                yield "nodes" if name in team.nodes else "borrow", self.pools[name]

    def pool_path(self, pool: str) -> DataPath:
        """Return the path of ``pool``."""
        return (*self.cluster.path, "pools", list(self.pools).index(pool))


def add_on(environment: Environment) -> Iterator[Problem]:
    """Report queues in clusters without Kueue, because the kinds of queues would not exist."""
    for queues in _queues(environment):
        if all(entry.chart != kueue.CHART for entry in add_ons(environment, queues.cluster)):
            names = [entry.name for entry in environment.add_ons.add_ons if entry.chart == kueue.CHART]
            remedy = f"add {names[0]} to add_ons" if names else f"add an add-on with chart {kueue.CHART} to {ADD_ONS}"
            text = f"requires Kueue, which {queues.cluster.cluster.name} does not install; {remedy}, or remove queues"
            yield problem(environment, queues.cluster.file, queues.path, text)


def names(environment: Environment) -> Iterator[Problem]:
    """Report pools, namespaces and pod priorities of queues that the cluster does not declare."""
    for queues in _queues(environment):
        cluster = queues.cluster.cluster
        spaces = [namespace.name for namespace in cluster.namespaces]
        wanted: list[tuple[DataPath, str, list[str], str]] = [
            ((*queues.path, "classes", name), priority, list(cluster.pod_priorities), "pod_priorities")
            for name, priority in queues.spec.classes.items()
        ]
        for path, team in queues.teams():
            wanted += [
                ((*path, "namespaces", at), name, spaces, "namespaces") for at, name in enumerate(team.namespaces)
            ]
            wanted += [
                ((*path, field, name), name, list(queues.pools), "pools")
                for field in ("nodes", "borrow")
                for name in getattr(team, field)
            ]
        for place_of, name, declared, kind in wanted:
            if name not in declared:
                text = undeclared(name, declared, f"{kind} of {cluster.name}")
                yield problem(environment, queues.cluster.file, place_of, text)


def usable_pools(environment: Environment) -> Iterator[Problem]:
    """Report quotas on pools where jobs of queues cannot run: without nodes, or for services, Slurm or VMs."""
    for queues in _queues(environment):
        for path, team in queues.teams():
            for field, pool in queues.known(team):
                if reason := _unusable(environment, queues, pool):
                    text = f"names pool {pool.name}, which {reason}; name another pool, or remove it"
                    yield problem(environment, queues.cluster.file, (*path, field, pool.name), text)


def quotas(environment: Environment) -> Iterator[Problem]:
    """Report quotas of all teams on one pool that exceed the maximum number of its nodes.

    The pools of a tenant are within its contract (`contracts.contracted-nodes`), and so are the quotas.
    """
    for queues in _queues(environment):
        total = Counter[str]()
        for path, team in queues.teams():
            for name, count in team.nodes.items():
                before, total[name] = total[name], total[name] + count
                pool = queues.pools.get(name)
                most = most_nodes(environment, pool) if pool else 0
                if pool is None or pool.retire or total[name] <= most or before > most:
                    continue
                text = (
                    f"makes {total[name]} nodes with the teams before it, but pool {name} has {most}"
                    f" ({place(environment, queues.cluster.file, queues.pool_path(name))}); "
                )
                left = most - before
                remedy = f"write {left} or less" if left else "remove it, or lower the quotas of other teams"
                yield problem(environment, queues.cluster.file, (*path, "nodes", name), text + remedy)


def borrowed(environment: Environment) -> Iterator[Problem]:
    """Report limits for borrowing above the quota that all other teams of the cluster lend."""
    for queues in _queues(environment):
        for path, team in queues.teams():
            for name, count in team.borrow.items():
                lent = sum(other.lendable(name) for other in queues.spec.teams if other.name != team.name)
                if name in queues.pools and count > lent:
                    remedy = f"write {lent} or less" if lent else "remove it, or give nodes of the pool to another team"
                    text = f"is {count}, but the other teams lend {lent} nodes of pool {name}; {remedy}"
                    yield problem(environment, queues.cluster.file, (*path, "borrow", name), text)


def one_placement(environment: Environment) -> Iterator[Problem]:
    """Report teams with quotas on autoscaling and on other pools, whose jobs Kueue would place differently.

    In such a queue, a job without an annotation for its topology would use the autoscaling pools only.
    """
    for queues in _queues(environment):
        for path, team in queues.teams():
            growing = [pool.name for _, pool in queues.known(team) if pool.autoscaling]
            fixed = [pool.name for _, pool in queues.known(team) if not pool.autoscaling]
            if growing and fixed:
                text = (
                    f"has autoscaling pools ({listed(growing)}) and others ({listed(fixed)}), so jobs without a"
                    " topology annotation would never use the others; write a team for each kind of pools"
                )
                yield problem(environment, queues.cluster.file, path, text)


def gangs(environment: Environment) -> Iterator[Problem]:
    """Report jobs that do not fit into one domain of the network."""
    for queues in _queues(environment):
        for path, team in queues.teams():
            for name, gang in team.gangs.items():
                pool = queues.pools.get(name)
                if pool is None:
                    continue
                place_of = (*path, "gangs", name)
                if not has_level(environment, pool, gang.within):
                    why = "autoscaling pools have no topology" if pool.autoscaling else "nodes have no label for it"
                    text = f"is within one {gang.within}, but {why}; remove it"
                    yield problem(environment, queues.cluster.file, (*place_of, "within"), text)
                    continue
                most = largest_domain(environment, queues.cluster.cluster.name, pool, gang.within)
                if most is not None and gang.nodes > most:
                    text = f"is {gang.nodes}, but one {gang.within} has at most {most} nodes of pool {name}; write"
                    yield problem(environment, queues.cluster.file, (*place_of, "nodes"), f"{text} {most} or less")


def tolerations(environment: Environment) -> Iterator[Problem]:
    """Report pools in queues with more taints than a flavor tolerates."""
    for queues in _queues(environment):
        for name in dict.fromkeys(name for team in queues.spec.teams for name in team.pools if name in queues.pools):
            pool = queues.pools[name]
            if pool.instance_type not in environment.instance_types.by_name:
                continue
            count = len(queued_pool(environment, queues.cluster.cluster.name, pool).taints)
            if count > _MOST_TOLERATIONS:
                text = (
                    f"are {count} with the pinned ones, but jobs in queues tolerate at most {_MOST_TOLERATIONS}; remove"
                    " taints, or the pool from queues"
                )
                yield problem(environment, queues.cluster.file, (*queues.pool_path(name), "taints"), text)


def _queues(environment: Environment) -> Iterator[_Queues]:
    """Yield the queues of each cluster, except clusters that are being retired, whose pools have no nodes."""
    for placed in clusters(environment):
        if placed.cluster.queues is not None and not placed.cluster.retire:
            yield _Queues(cluster=placed, spec=placed.cluster.queues)


def _unusable(environment: Environment, queues: _Queues, pool: NodePoolSpec) -> str:
    """Return the reason why jobs of queues cannot run on ``pool``; empty if they can."""
    vms = queues.cluster.tenant.vms
    if pool.role is PoolRole.SYSTEM:
        return "runs the services of the cluster"
    if pool.retire:
        return "is being retired and has no nodes"
    cluster = queues.cluster.cluster
    if cluster.slurm is not None and pool.name in cluster.slurm.pools:
        return "belongs to Slurm"
    of_vms = vm_pools(environment, vms, cluster) if vms and vms.cluster == cluster.name else ()
    return "runs VMs, which do not wait in queues" if pool.name in [other.name for other in of_vms] else ""


def has_level(environment: Environment, pool: NodePoolSpec, domain: GangDomain) -> bool:
    """Return whether nodes of ``pool`` have a label for ``domain`` by which jobs can be placed."""
    known = levels(environment, pool)
    kind = environment.failure_domain_kind(pool.instance_type)
    return _LABELS[domain] in known or (bool(known) and kind is FailureDomain(domain.value))


def largest_domain(environment: Environment, cluster: str, pool: NodePoolSpec, domain: GangDomain) -> int | None:
    """Return the maximum number of nodes of ``pool`` in one domain; None before hosts are assigned to the pool."""
    return max(domain_sizes(environment, cluster, pool, domain), default=None)


def domain_sizes(environment: Environment, cluster: str, pool: NodePoolSpec, domain: GangDomain) -> list[int]:
    """Return the maximum number of nodes of ``pool`` in each domain; empty before hosts are assigned to the pool."""
    key, place_of = pool_key(cluster, pool.name), FailureDomain(domain.value)
    sizes = Counter(host.domain(place_of) for host in environment.hosts_by_pool.get(key, ()))
    kind = environment.instance_types.by_name.get(pool.instance_type)
    if kind and kind.scale is Scale.RACK and domain is GangDomain.RACK:
        return [nodes_within(size, declared_spares(environment, pool)) for size in sizes.values()]
    return [min(size, most_nodes(environment, pool)) for size in sizes.values()]


RULES = Rules(
    references=(names,),
    data=(add_on, usable_pools, quotas, borrowed, one_placement, gangs, tolerations),
)
