"""Rules about taints of pools that leave services of a cluster without a node."""

from collections.abc import Iterator, Mapping
from typing import Any

from components.lookups.add_ons import add_ons
from components.lookups.pools import PlacedCluster, clusters, problem
from components.lookups.scheduling import SchedulingNode, unscheduled
from components.render.pod_placement import CRITICAL, SYSTEM_POOL, services
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.pools.node_pool import NodePoolSpec, PoolRole
from components.specs.reading.problems import Problem, listed
from components.specs.region.region import ControlPlaneBackend

_DNS: Mapping[ControlPlaneBackend, Mapping[str, Any]] = {
    ControlPlaneBackend.KAMAJI: {"tolerations": [CRITICAL]},
    ControlPlaneBackend.K0SMOTRON: {},
}
"""Placement of CoreDNS: of kubeadm with Kamaji (kubernetes/kubernetes:cmd/kubeadm/app/phases/addons/dns), and of k0s
(K0S:pkg/component/controller/coredns.go). Neither has a setting for it."""


_SERVICES = (
    "{cluster} has no pool for its services ({refused}), which tolerate only CriticalAddonsOnly; remove the taint, or"
    " write CriticalAddonsOnly"
)
_RESOLVER = (
    "{cluster} has no pool for CoreDNS ({refused}), which does not tolerate these taints; remove the taints of one pool"
)


def taints(environment: Environment) -> Iterator[Problem]:
    """Report clusters whose pools all have taints that the platform's services or CoreDNS do not tolerate.

    Services run on pools with role system, or on any pool without such a pool, and tolerate ``CriticalAddonsOnly``.
    CoreDNS runs on any pool. CoreDNS of kubeadm also tolerates this taint, CoreDNS of k0s tolerates no taint of pools.
    """
    dns = _DNS[environment.region.control_planes.backend]
    for placed in clusters(environment):
        text = ""
        if placed.cluster.storage or add_ons(environment, placed):
            text = _text(placed, services(system_pool=placed.cluster.has_system_pool), _SERVICES)
        if text := text or _text(placed, dns, _RESOLVER):
            yield problem(environment, placed.file, (*placed.path, "pools"), text)


def _text(placed: PlacedCluster, pod: Mapping[str, Any], text: str) -> str:
    refused = _nowhere(placed, pod)
    return text.format(cluster=placed.cluster.name, refused=refused) if refused else ""


def _nowhere(placed: PlacedCluster, pod: Mapping[str, Any]) -> str:
    """Return the taints of the pools that ``pod`` does not tolerate; empty if it fits a pool."""
    refusals = {pool.name: unscheduled(pod, _node(pool)) for pool in placed.cluster.pools}
    if not all(refusals.values()):
        return ""
    # A pool without the label of the role is no candidate, whatever its taints.
    return listed(f"{pool} {why}" for pool, why in refusals.items() if why.startswith("has taint"))


def _node(pool: NodePoolSpec) -> SchedulingNode:
    role = dict(SYSTEM_POOL) if pool.role is PoolRole.SYSTEM else {}
    taints = tuple({"key": taint.key, "value": taint.value, "effect": taint.effect.value} for taint in pool.taints)
    return SchedulingNode(name=pool.name, labels=role, taints=taints)


RULES = Rules(data=(taints,))
