"""Node placement of VMs, and of the services that manage VMs."""

from collections.abc import Iterable
from typing import Any

from components.render import labels as keys
from components.specs.pools.node_pool import PoolRole, TaintEffect, TaintSpec


def vm_placement(pools: Iterable[str], taints: Iterable[TaintSpec]) -> dict[str, Any]:
    """Return the placement on nodes of ``pools``, tolerating their ``taints``."""
    term = {"matchExpressions": [{"key": keys.NODE_POOL, "operator": "In", "values": list(pools)}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    return {"nodeSelector": {"kubernetes.io/os": "linux"}, "affinity": {"nodeAffinity": required}} | tolerating(taints)


def services_placement(*, system_pool: bool) -> dict[str, Any]:
    """Return the placement of cluster services, on the system pool if the cluster has one."""
    role = {keys.NODE_ROLE: PoolRole.SYSTEM.value} if system_pool else {}
    return {"nodeSelector": {"kubernetes.io/os": "linux", **role}}


def tolerating(taints: Iterable[TaintSpec]) -> dict[str, Any]:
    """Return the field ``tolerations`` for ``taints`` with hard effects; empty without such taints."""
    tolerations = [
        {"key": taint.key, "operator": "Equal", "value": taint.value, "effect": taint.effect.value}
        for taint in taints
        if taint.effect is not TaintEffect.PREFER_NO_SCHEDULE
    ]
    return {"tolerations": tolerations} if tolerations else {}
