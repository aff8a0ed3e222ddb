"""Placement of the platform's pods in a cluster: tolerations, node selectors and node affinities as fields of pods."""

from collections.abc import Iterable, Mapping
from typing import Any

from components.render import labels as keys
from components.specs.pools.node_pool import PoolRole

EVERY_NODE: list[dict[str, str]] = [{"operator": "Exists"}]
"""Tolerations of agents that every node needs: all taints of a tenant's pools."""
CRITICAL = {"key": "CriticalAddonsOnly", "operator": "Exists"}
"""Toleration of the only taint that CoreDNS, as installed by kubeadm, also tolerates."""
SYSTEM_POOL: Mapping[str, str] = {keys.NODE_ROLE: PoolRole.SYSTEM.value}
"""Label of nodes of the system pool."""


def services(*, system_pool: bool, labels: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the placement of services that can wait for a ready node, on the system pool if the cluster has one.

    ``labels`` are further labels of the nodes.
    """
    selector = {**(labels or {}), **(SYSTEM_POOL if system_pool else {})}
    return {**({"nodeSelector": selector} if selector else {}), "tolerations": [CRITICAL]}


def any_of(label: str, values: Iterable[str]) -> dict[str, Any]:
    """Return the term of a node affinity that matches nodes whose ``label`` has one of ``values``."""
    return {"matchExpressions": [{"key": label, "operator": "In", "values": list(values)}]}


def required(*terms: dict[str, Any]) -> dict[str, Any]:
    """Return the node affinity for nodes that match any of ``terms``."""
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}


ON_SYSTEM_POOL = any_of(keys.NODE_ROLE, [PoolRole.SYSTEM.value])
"""Term of a node affinity that matches nodes of the system pool."""
