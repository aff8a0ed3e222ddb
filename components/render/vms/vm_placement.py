"""Node placement of VMs, and of the services that manage VMs."""

from collections.abc import Iterable
from typing import Any

from components.render import labels as keys
from components.render.pod_placement import CRITICAL, ON_SYSTEM_POOL, any_of, required, services
from components.specs.pools.node_pool import TaintEffect, TaintSpec

_LINUX = {"kubernetes.io/os": "linux"}


def vm_placement(pools: Iterable[str], taints: Iterable[TaintSpec]) -> dict[str, Any]:
    """Return the placement on nodes of ``pools``, tolerating their ``taints``."""
    affinity = {"nodeAffinity": required(any_of(keys.NODE_POOL, pools))}
    return {"nodeSelector": _LINUX, "affinity": affinity, **tolerating(taints)}


def disk_placement(pools: Iterable[str], taints: Iterable[TaintSpec], *, system_pool: bool) -> dict[str, Any]:
    """Return the placement of CDI's pods that fill disks: nodes of ``pools`` with ``taints``, and the system pool.

    If the class of a disk waits for the first consumer, CDI binds these pods to the node of the disk's VM, and the
    kubelet rejects a pod that does not match that node (CDI:pkg/controller/common/util.go, SetNodeNameIfPopulator). All
    other disks are preferably filled on the system pool.
    """
    terms = [any_of(keys.NODE_POOL, pools)]
    preferred: dict[str, Any] = {}
    if system_pool:
        terms.append(ON_SYSTEM_POOL)
        preferred = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": ON_SYSTEM_POOL}]}
    tolerations = [CRITICAL, *tolerating(taints).get("tolerations", ())]
    affinity = {"nodeAffinity": required(*terms) | preferred}
    return {"nodeSelector": _LINUX, "affinity": affinity, "tolerations": tolerations}


def services_placement(*, system_pool: bool) -> dict[str, Any]:
    """Return the placement of cluster services, on the system pool if the cluster has one.

    CDI's operator adds no toleration of its own (CDI:pkg/operator), so the system pool's taint is tolerated here.
    """
    return services(system_pool=system_pool, labels=_LINUX)


def tolerating(taints: Iterable[TaintSpec]) -> dict[str, Any]:
    """Return the field ``tolerations`` for ``taints`` with hard effects; empty without such taints."""
    tolerations = [
        {"key": taint.key, "operator": "Equal", "value": taint.value, "effect": taint.effect.value}
        for taint in taints
        if taint.effect is not TaintEffect.PREFER_NO_SCHEDULE
    ]
    return {"tolerations": tolerations} if tolerations else {}
