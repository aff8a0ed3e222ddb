"""Node placement of VMs, and of the services that manage VMs."""

from collections.abc import Iterable
from typing import Any

from components.render import labels as keys
from components.render.add_ons.cluster_facts import CRITICAL
from components.specs.pools.node_pool import PoolRole, TaintEffect, TaintSpec


def vm_placement(pools: Iterable[str], taints: Iterable[TaintSpec]) -> dict[str, Any]:
    """Return the placement on nodes of ``pools``, tolerating their ``taints``."""
    return _linux() | {"affinity": {"nodeAffinity": _required(_in(keys.NODE_POOL, pools))}} | tolerating(taints)


def disk_placement(pools: Iterable[str], taints: Iterable[TaintSpec], *, system_pool: bool) -> dict[str, Any]:
    """Return the placement of CDI's pods that fill disks: nodes of ``pools`` with ``taints``, and the system pool.

    If the class of a disk waits for the first consumer, CDI binds these pods to the node of the disk's VM, and the
    kubelet rejects a pod that does not match that node (CDI:pkg/controller/common/util.go, SetNodeNameIfPopulator). All
    other disks are preferably filled on the system pool.
    """
    terms = [_in(keys.NODE_POOL, pools)]
    preferred: dict[str, Any] = {}
    if system_pool:
        system = _in(keys.NODE_ROLE, (PoolRole.SYSTEM.value,))
        terms.append(system)
        preferred = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": system}]}
    tolerations = [CRITICAL, *tolerating(taints).get("tolerations", ())]
    return _linux() | {"affinity": {"nodeAffinity": _required(*terms) | preferred}, "tolerations": tolerations}


def services_placement(*, system_pool: bool) -> dict[str, Any]:
    """Return the placement of cluster services, on the system pool if the cluster has one.

    CDI's operator adds no toleration of its own (CDI:pkg/operator), so the system pool's taint is tolerated here.
    """
    role = {keys.NODE_ROLE: PoolRole.SYSTEM.value} if system_pool else {}
    return _linux(**role) | {"tolerations": [CRITICAL]}


def tolerating(taints: Iterable[TaintSpec]) -> dict[str, Any]:
    """Return the field ``tolerations`` for ``taints`` with hard effects; empty without such taints."""
    tolerations = [
        {"key": taint.key, "operator": "Equal", "value": taint.value, "effect": taint.effect.value}
        for taint in taints
        if taint.effect is not TaintEffect.PREFER_NO_SCHEDULE
    ]
    return {"tolerations": tolerations} if tolerations else {}


def _linux(**labels: str) -> dict[str, Any]:
    return {"nodeSelector": {"kubernetes.io/os": "linux", **labels}}


def _in(label: str, values: Iterable[str]) -> dict[str, Any]:
    return {"matchExpressions": [{"key": label, "operator": "In", "values": list(values)}]}


def _required(*terms: dict[str, Any]) -> dict[str, Any]:
    """Return the node affinity for nodes that match any of ``terms``."""
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}
