"""Rules about endpoints of models: names that exist, and groups that fit their pool, domain and queue."""

from collections import Counter
from collections.abc import Iterator

from components.inputs.workloads.queues import queued_pool
from components.inputs.workloads.serving import queue_class
from components.lookups.add_ons import add_ons
from components.lookups.pools import DataPath, PlacedCluster, clusters, most_nodes, place, problem, vm_pools
from components.render.workloads.serving import CHART
from components.rules.rule import Rules
from components.rules.workloads.queues import domain_sizes, has_level, largest_domain
from components.specs.environment import Environment
from components.specs.pools.node_pool import NodePoolSpec, PoolRole
from components.specs.reading.loader import ADD_ONS
from components.specs.reading.problems import Problem, one_of, undeclared
from components.specs.struct import Struct
from components.specs.workloads.queues import GangDomain, QueuedKinds, TeamQueueSpec
from components.specs.workloads.serving import EndpointSpec, ServingSpec


class PlacedEndpoint(Struct):
    """Endpoint of a cluster, with its place in the data."""

    placed: PlacedCluster
    spec: EndpointSpec
    path: DataPath
    pool: NodePoolSpec | None
    """Pool of the endpoint; None if the cluster does not declare it, or does not know its instance type."""


def add_on(environment: Environment) -> Iterator[Problem]:
    """Report endpoints in clusters without the controller of LeaderWorkerSets."""
    for placed, _, path in with_serving(environment):
        if all(entry.chart != CHART for entry in add_ons(environment, placed)):
            names = [entry.name for entry in environment.add_ons.add_ons if entry.chart == CHART]
            remedy = f"add {names[0]} to add_ons" if names else f"add an add-on with chart {CHART} to {ADD_ONS}"
            text = f"requires LeaderWorkerSet, which {placed.cluster.name} does not install; {remedy}"
            yield problem(environment, placed.file, path, text)


def names(environment: Environment) -> Iterator[Problem]:
    """Report names in endpoints that the cluster or its tenant does not declare."""
    for placed, spec, path in with_serving(environment):
        cluster = placed.cluster
        wanted = [((*path, "priority"), spec.priority, cluster.pod_priorities, f"pod_priorities of {cluster.name}")]
        for at, endpoint in enumerate(spec.endpoints):
            here = (*path, "endpoints", at)
            spaces = tuple(space.name for space in cluster.namespaces)
            pools = tuple(pool.name for pool in cluster.pools)
            wanted += [
                ((*here, "namespace"), endpoint.namespace, spaces, f"namespaces of {cluster.name}"),
                ((*here, "pool"), endpoint.pool, pools, f"pools of {cluster.name}"),
            ]
            if endpoint.cache is not None:
                name = endpoint.cache.storage_class
                wanted.append(((*here, "cache", "storage_class"), name, cluster.storage, f"storage of {cluster.name}"))
            if endpoint.bucket is not None:
                buckets = tuple(bucket.name for bucket in placed.tenant.buckets)
                wanted.append(((*here, "bucket"), endpoint.bucket, buckets, f"buckets of {placed.tenant.tenant}"))
        for where, name, declared, kind in wanted:
            if name not in declared:
                yield problem(environment, placed.file, where, undeclared(name, declared, kind))


def usable_pools(environment: Environment) -> Iterator[Problem]:
    """Report endpoints on pools where their pods cannot run: without GPUs or nodes, or with another use."""
    for served in endpoints(environment):
        if served.pool is not None and (reason := _unusable(environment, served.placed, served.pool)):
            text = f"names pool {served.pool.name}, which {reason}; name another pool"
            yield problem(environment, served.placed.file, (*served.path, "pool"), text)


def pool_room(environment: Environment) -> Iterator[Problem]:
    """Report endpoints whose groups together need more nodes than their pool has."""
    total = Counter[tuple[str, str]]()
    for served in endpoints(environment):
        pool, spec = served.pool, served.spec
        if pool is None or not _is_judged(environment, served):
            continue
        key = (served.placed.cluster.name, pool.name)
        most, before = most_nodes(environment, pool), total[key]
        total[key] += spec.all_nodes
        if before <= most < total[key]:
            there = _pool_place(environment, served.placed, pool.name)
            text = f"{_amount(spec, before)}, but pool {pool.name} has {most} ({there}); {_fewer(spec, most - before)}"
            yield problem(environment, served.placed.file, (*served.path, "groups"), text)


def domains(environment: Environment) -> Iterator[Problem]:
    """Report groups that do not fit into one domain of the network, and more groups than domains without queues.

    Without queues a domain belongs to one group of the namespace (LWS:pkg/webhooks/pod_webhook.go).
    """
    total = Counter[tuple[str, str, str, GangDomain]]()
    for served in endpoints(environment):
        pool, spec, domain = served.pool, served.spec, served.spec.within
        if pool is None or domain is None:
            continue
        if not has_level(environment, pool, domain):
            why = "autoscaling pools have no topology" if pool.autoscaling else "nodes have no label for it"
            text = f"is within one {domain}, but {why}; remove it"
            yield problem(environment, served.placed.file, (*served.path, "within"), text)
            continue
        cluster = served.placed.cluster
        most = largest_domain(environment, cluster.name, pool, domain)
        if most is not None and spec.nodes > most:
            text = f"is {spec.nodes}, but one {domain} has at most {most} nodes of pool {pool.name}"
            yield problem(environment, served.placed.file, (*served.path, "nodes"), f"{text}; write {most} or less")
        elif most is not None and cluster.queues is None:
            key = (cluster.name, spec.namespace, pool.name, domain)
            sizes = domain_sizes(environment, cluster.name, pool, domain)
            fitting, before = sum(size >= spec.nodes for size in sizes), total[key]
            total[key] += spec.groups
            if before <= fitting < total[key]:
                left = fitting - before
                remedy = f"write {left} or less" if left else "name another pool"
                text = (
                    f"makes {total[key]} groups of namespace {spec.namespace}, but without queues each has its own"
                    f" {domain}, and pool {pool.name} has {spec.nodes} nodes in {fitting} of them; {remedy}, or remove"
                    " within"
                )
                yield problem(environment, served.placed.file, (*served.path, "groups"), text)


def priority(environment: Environment) -> Iterator[Problem]:
    """Report priorities of endpoints that do not precede other work, in queues and in the scheduler.

    Undeclared priorities of classes are left to `queues.names`: they may mean the right ones.
    """
    values = {entry.name: entry for entry in environment.add_ons.pod_priorities}
    for placed, spec, path in with_serving(environment):
        mine, queues = values.get(spec.priority), placed.cluster.queues
        if mine is None or spec.priority not in placed.cluster.pod_priorities:
            continue
        others = [values[name] for name in placed.cluster.pod_priorities if name in values and name != mine.name]
        if queues is not None:
            others = [entry for entry in others if entry.name in queues.classes.values()]
            if not set(queues.classes.values()) <= set(placed.cluster.pod_priorities):
                continue
            if queue_class(placed.cluster) is None:
                there = place(environment, placed.file, (*placed.path, "queues"))
                text = f"'{mine.name}' is the priority of no class of queues ({there}); add one to classes"
                yield problem(environment, placed.file, (*path, "priority"), text)
                continue
        above = [entry for entry in others if entry.value >= mine.value]
        reason = f"does not precede {one_of(entry.name for entry in above)}" if above else ""
        if not above and not mine.preempts and queues is None:
            reason = "does not preempt other pods"
        if reason:
            fits = [entry.name for entry in others if entry.preempts and entry.value >= max(o.value for o in others)]
            remedy = f"write {fits[0]}" if fits else f"add a higher one to pod_priorities of {ADD_ONS}"
            text = f"'{mine.name}' {reason}, so models would wait for other work; {remedy}"
            yield problem(environment, placed.file, (*path, "priority"), text)


def queued(environment: Environment) -> Iterator[Problem]:
    """Report endpoints in clusters with queues whose pods would not be in the queue of a team, or exceed its quota.

    With ``queued: jobs``, Kueue 0.15 has no integration of LeaderWorkerSet. If only that one is enabled, Kueue also
    enables its webhook for pods, which holds each pod in a namespace with a default queue, and then ignores pods
    without a parent (KUEUE:pkg/controller/jobs/pod/pod_webhook.go, pod_controller.go Skip).
    """
    for placed, _, path in with_serving(environment):
        queues = placed.cluster.queues
        if queues is not None and queues.queued is QueuedKinds.JOBS:
            there = place(environment, placed.file, (*placed.path, "queues"))
            text = f"requires queues of pods, but only jobs wait in queues ({there}); write queued: pods there"
            yield problem(environment, placed.file, path, text)
    total = Counter[tuple[str, str, str]]()
    for served in endpoints(environment):
        cluster, spec = served.placed.cluster, served.spec
        if cluster.queues is None or spec.namespace not in [space.name for space in cluster.namespaces]:
            continue
        team = next((team for team in cluster.queues.teams if spec.namespace in team.namespaces), None)
        if team is None:
            there = place(environment, served.placed.file, (*served.placed.path, "queues", "teams"))
            text = f"'{spec.namespace}' is in no team of queues ({there}), so it has no queue; add it to a team"
            yield problem(environment, served.placed.file, (*served.path, "namespace"), text)
        elif served.pool is not None and _is_judged(environment, served):
            key = (cluster.name, team.name, served.pool.name)
            before, total[key] = total[key], total[key] + spec.all_nodes
            yield from _quota(environment, served, team, before)


def _quota(environment: Environment, served: PlacedEndpoint, team: TeamQueueSpec, before: int) -> Iterator[Problem]:
    pool, most = served.spec.pool, team.most(served.spec.pool)
    if not most:
        text = f"'{pool}' is in neither nodes nor borrow of team {team.name}; add it there, or name a pool of the team"
        yield problem(environment, served.placed.file, (*served.path, "pool"), text)
    elif before <= most < before + served.spec.all_nodes:
        text = (
            f"{_amount(served.spec, before)}, but team {team.name} has and may borrow {most} nodes of pool"
            f" {pool}; {_fewer(served.spec, most - before)}, or raise nodes of the team"
        )
        yield problem(environment, served.placed.file, (*served.path, "groups"), text)


def with_serving(environment: Environment) -> Iterator[tuple[PlacedCluster, ServingSpec, DataPath]]:
    """Yield the serving of each cluster, except clusters that are being retired, whose pools have no nodes."""
    for placed in clusters(environment):
        if placed.cluster.serving is not None and not placed.cluster.retire:
            yield placed, placed.cluster.serving, (*placed.path, "serving")


def endpoints(environment: Environment) -> Iterator[PlacedEndpoint]:
    """Yield all endpoints in order of file and entry."""
    for placed, _, _ in with_serving(environment):
        yield from endpoints_of(environment, placed)


def endpoints_of(environment: Environment, placed: PlacedCluster) -> Iterator[PlacedEndpoint]:
    """Yield the endpoints of one cluster."""
    kinds = environment.instance_types.by_name
    pools = {pool.name: pool for pool in placed.cluster.pools if pool.instance_type in kinds}
    for at, spec in enumerate(placed.cluster.serving.endpoints if placed.cluster.serving else ()):
        path = (*placed.path, "serving", "endpoints", at)
        yield PlacedEndpoint(placed=placed, spec=spec, path=path, pool=pools.get(spec.pool))


def _unusable(environment: Environment, placed: PlacedCluster, pool: NodePoolSpec) -> str:
    """Return the reason why pods of endpoints cannot run on ``pool``; empty if they can."""
    if pool.role is PoolRole.SYSTEM:
        return "runs the services of the cluster"
    if pool.retire:
        return "is being retired and has no nodes"
    if placed.cluster.slurm is not None and pool.name in placed.cluster.slurm.pools:
        return "belongs to Slurm"
    vms = placed.tenant.vms
    of_vms = vm_pools(environment, vms, placed.cluster) if vms and vms.cluster == placed.cluster.name else ()
    if pool.name in [other.name for other in of_vms]:
        return "runs VMs"
    return "" if queued_pool(environment, placed.cluster.name, pool).gpus else "has no GPUs"


def _is_judged(environment: Environment, served: PlacedEndpoint) -> bool:
    """Return whether a group of the endpoint can run on its pool, so that the number of groups can be judged."""
    pool, domain = served.pool, served.spec.within
    if pool is None or _unusable(environment, served.placed, pool):
        return False
    most = largest_domain(environment, served.placed.cluster.name, pool, domain) if domain else None
    return most is None or served.spec.nodes <= most


def _pool_place(environment: Environment, placed: PlacedCluster, pool: str) -> str:
    at = [other.name for other in placed.cluster.pools].index(pool)
    return place(environment, placed.file, (*placed.path, "pools", at))


def _amount(spec: EndpointSpec, before: int) -> str:
    """Return the nodes of an endpoint as a text, with those of endpoints before it."""
    return f"makes {before + spec.all_nodes} nodes{' with the endpoints before it' if before else ''}"


def _fewer(spec: EndpointSpec, left: int) -> str:
    """Return the remedy for an endpoint that must use at most ``left`` nodes."""
    return f"write {left // spec.nodes} or less" if left >= spec.nodes else "lower nodes, or name another pool"


RULES = Rules(
    references=(names,),
    data=(add_on, usable_pools, pool_room, domains, priority, queued),
)
