"""Queues of one tenant cluster: objects of Kueue that give teams quotas on pools.

Facts about Kueue 0.15.2 and 0.17.0 (KUEUE), beside those in `components.render.workloads.kueue`:

- Before release 0.16, the API server stores ``v1beta1``, and ``v1beta2`` since. Other versions require a conversion by
  Kueue, which does not run before the first node joins (KUEUE:charts/kueue/templates/crd). Objects are therefore
  written in the stored version. Of the fields that are rendered, only the name of ``cohort`` differs
  (KUEUE:apis/kueue/v1beta1/clusterqueue_conversion.go).
- With a topology, the spec of a ResourceFlavor is immutable, and the levels of a Topology always are. Both names end in
  a digest of the spec. An object is deleted once no queue uses it.
- A job without a queue's name is in queue ``default`` of its namespace, if there is one
  (KUEUE:pkg/features/kube_features.go, LocalQueueDefaulting).
- Nodes without the label of a level are not used (KUEUE:pkg/cache/scheduler/tas_flavor.go). With a topology, a job
  waits until nodes exist. A flavor of an autoscaling pool therefore has no topology, or the pool would never grow.
- A resource and a flavor are in one group of a queue only, and each flavor lists all resources of the group
  (KUEUE:pkg/webhooks/clusterqueue_webhook.go). Flavors are tried in order, so pools without GPUs are first.
- Kueue rewrites quantities in canonical form, such as ``1k`` for 1000. Other forms would be reported as drift.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from components.render import labels as keys
from components.render.manifest import Manifest
from components.render.namespaces import namespaces_in
from components.render.objects import digest, given, manifest
from components.render.workloads.kueue import stores_v1beta2
from components.specs.add_ons.pod_priorities import PodPriority
from components.specs.pools.node_pool import TaintSpec
from components.specs.struct import Struct
from components.specs.workloads.queues import GangSpec, QueuePreemption, QueuesSpec, TeamQueueSpec

QUEUE = "default"
"""Name of the queue in each namespace of a team, which jobs without a queue's name use."""
_DIGITS = 8
_DECIMAL, _BINARY = (1000, ("", "k", "M", "G", "T")), (1024, ("Mi", "Gi", "Ti", "Pi", "Ei"))
_RECLAIM = {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"}
_PREEMPTION: Mapping[QueuePreemption, Mapping[str, Any]] = {
    QueuePreemption.OWN_QUOTA: _RECLAIM,
    QueuePreemption.LOWER_CLASSES: {**_RECLAIM, "borrowWithinCohort": {"policy": "LowerPriority"}},
    QueuePreemption.NEVER: {"reclaimWithinCohort": "Never", "withinClusterQueue": "Never"},
}


class QueuedPool(Struct):
    """Pool whose nodes have quotas."""

    name: str
    cpus: int
    """Number of CPUs of one node."""
    mebibytes: int
    """Memory of one node in MiB."""
    gpus: tuple[str, int] | None
    """Resource name and number of GPUs of one node; None without GPUs."""
    taints: tuple[TaintSpec, ...]
    """Taints of nodes, which jobs in queues tolerate."""
    levels: tuple[str, ...]
    """Labels of nodes by level of the network, widest first; empty if jobs cannot be placed by topology."""


class QueuesInput(Struct):
    """Queues of one cluster."""

    name: str
    cluster: str
    spec: QueuesSpec
    pools: tuple[QueuedPool, ...]
    """Pools of all teams, in the order in which jobs try them: pools without GPUs first."""
    classes: Mapping[str, PodPriority]
    """Pod priority of each class of jobs."""
    kueue: str
    """Release of Kueue's chart that the cluster installs."""

    @property
    def api(self) -> str:
        """Return the version of the API in which objects are stored."""
        return f"kueue.x-k8s.io/{'v1beta2' if stores_v1beta2(self.kueue) else 'v1beta1'}"

    def render(self) -> tuple[Manifest, ...]:
        """Return the classes and flavors, then the queue of each team, then the queues of its namespaces."""
        return (
            *self._classes(),
            *(self._topology(levels) for levels in dict.fromkeys(pool.levels for pool in self.pools) if levels),
            *(self._flavor(pool) for pool in self.pools),
            *(self._cluster_queue(team) for team in self.spec.teams),
            *(self._local_queue(team, name) for team in self.spec.teams for name in team.namespaces),
        )

    def _classes(self) -> Iterator[Manifest]:
        for name, priority in self.classes.items():
            value, description = priority.value, priority.description
            yield manifest(
                self.api, "WorkloadPriorityClass", name, cluster=self.cluster, value=value, description=description
            )

    def _topology(self, levels: Sequence[str]) -> Manifest:
        spec = {"levels": [{"nodeLabel": level} for level in levels]}
        return manifest(self.api, "Topology", topology_name(levels), cluster=self.cluster, spec=spec)

    def _flavor(self, pool: QueuedPool) -> Manifest:
        return manifest(self.api, "ResourceFlavor", flavor_name(pool), cluster=self.cluster, spec=_flavor_spec(pool))

    def _cluster_queue(self, team: TeamQueueSpec) -> Manifest:
        mine = [pool for pool in self.pools if pool.name in team.pools]
        resources = ["cpu", "memory", *dict.fromkeys(pool.gpus[0] for pool in mine if pool.gpus)]
        flavors = [{"name": flavor_name(pool), "resources": list(_quotas(pool, team, resources))} for pool in mine]
        sharing = {"fairSharing": {"weight": str(team.weight)}} if self.spec.fair_sharing else {}
        return manifest(
            self.api,
            "ClusterQueue",
            team.name,
            annotations=given(**{keys.GANGS: _gangs(team.gangs)}) if team.gangs else None,
            cluster=self.cluster,
            spec={
                "cohortName" if stores_v1beta2(self.kueue) else "cohort": self.cluster,
                "namespaceSelector": namespaces_in(sorted(team.namespaces)),
                "resourceGroups": [{"coveredResources": resources, "flavors": flavors}],
                "preemption": dict(_PREEMPTION[team.preemption]),
                **sharing,
            },
        )

    def _local_queue(self, team: TeamQueueSpec, namespace: str) -> Manifest:
        spec = {"clusterQueue": team.name}
        return manifest(self.api, "LocalQueue", QUEUE, namespace=namespace, cluster=self.cluster, spec=spec)


def topology_name(levels: Sequence[str]) -> str:
    """Return the name of the Topology with ``levels``."""
    return f"nodes-{digest({'levels': list(levels)}, _DIGITS)}"


def flavor_name(pool: QueuedPool) -> str:
    """Return the name of the ResourceFlavor of ``pool``."""
    return f"{pool.name}-{digest(_flavor_spec(pool), _DIGITS)}"


def _flavor_spec(pool: QueuedPool) -> dict[str, Any]:
    return {
        "nodeLabels": {keys.NODE_POOL: pool.name},
        **given(
            tolerations=[_toleration(taint) for taint in pool.taints],
            topologyName=topology_name(pool.levels) if pool.levels else None,
        ),
    }


def _toleration(taint: TaintSpec) -> dict[str, str]:
    value = {"operator": "Equal", "value": taint.value} if taint.value else {"operator": "Exists"}
    return {"key": taint.key, **value, "effect": taint.effect.value}


def _quotas(pool: QueuedPool, team: TeamQueueSpec, resources: Iterable[str]) -> Iterator[dict[str, str]]:
    for resource in resources:
        limits = {"nominalQuota": team.nodes.get(pool.name, 0), "borrowingLimit": team.borrow.get(pool.name, 0)}
        if pool.name in team.lend:
            limits["lendingLimit"] = team.lend[pool.name]
        yield {"name": resource, **{limit: _amount(pool, resource, nodes) for limit, nodes in limits.items()}}


def _amount(pool: QueuedPool, resource: str, nodes: int) -> str:
    """Return the quantity of ``resource`` on ``nodes`` nodes of ``pool``."""
    if resource == "cpu":
        return _quantity(pool.cpus * nodes, *_DECIMAL)
    if resource == "memory":
        return _quantity(pool.mebibytes * nodes, *_BINARY)
    name, count = pool.gpus or ("", 0)
    return _quantity(count * nodes if name == resource else 0, *_DECIMAL)


def _quantity(number: int, step: int, suffixes: Sequence[str]) -> str:
    """Return ``number`` as a quantity with the largest suffix that keeps it whole."""
    power = 0
    while number and number % step == 0 and power + 1 < len(suffixes):
        number, power = number // step, power + 1
    return f"{number}{suffixes[power]}" if number else "0"


def _gangs(gangs: Mapping[str, GangSpec]) -> str:
    return ", ".join(f"{pool}: {gang.nodes} nodes within one {gang.within.value}" for pool, gang in gangs.items())
