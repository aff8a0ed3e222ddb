"""Pods that end when their node does, and the GPUs that they hold.

What a drain ends was read in ``internal/controllers/machine/drain/{drain,filters}.go`` of Cluster API, which follows
``pkg/drain/filters.go`` of kubectl: all pods of a node but those of DaemonSets, mirrors of static pods, and finished
ones, which hold nothing any more. A pod labelled ``cluster.x-k8s.io/drain: skip``, or excepted by a MachineDrainRule,
is left alone by the drain only: it ends with the machine, and so it counts here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from components.specs.environment import Environment
from jacquard.observe.objects import Kind, Object, key
from jacquard.providers.kube.objects import dig

POD: Kind = ("v1", "Pod")
CLAIM: Kind = ("resource.k8s.io/v1", "ResourceClaim")
"""What a pod gets its devices by where a driver allocates them (dynamic resource allocation)."""
_FINISHED = ("Succeeded", "Failed")
_MIRROR = "kubernetes.io/config.mirror"
_GPUS = ("nvidia.com/gpu", "nvidia.com/gpu.shared")
"""Resources that NVIDIA's device plug-in offers."""
_SLICE = "nvidia.com/mig-"
"""How the resources of GPUs that are split begin."""
_DRIVER = "gpu.nvidia.com"
"""Driver of claims for GPUs."""


class Jobs:
    """Tells which pods of a region hold GPUs: by the resources of its device plug-ins, of its VMs, or by claims."""

    def __init__(self, environment: Environment) -> None:
        devices = (size.gpu.device for size in environment.vm_catalog.sizes if size.gpu)
        self._resources = {*_GPUS, *devices}

    def keep(self, body: Object) -> bool:
        """Tell whether an object that was read is worth keeping: of pods only those that may hold GPUs."""
        return body["kind"] != POD[1] or (_runs(body) and (bool(_claims(body)) or self._requested(body) > 0))

    def gpus(self, pod: Object, claims: Mapping[tuple[str, str], Object]) -> int:
        """Return how many GPUs, or slices of them, a kept pod holds; ``claims`` by namespace and name."""
        allocated = (claims.get((key(pod)[0], name)) for name in _claims(pod))
        results = (one for claim in allocated for one in dig(claim, "status", "allocation", "devices", "results") or ())
        return self._requested(pod) + [one.get("driver") for one in results].count(_DRIVER)

    def _requested(self, pod: Object) -> int:
        """Return what the scheduler set aside: all containers together, or one that runs before them and wants more."""
        first = dig(pod, "spec", "initContainers") or []
        beside = [one for one in first if one.get("restartPolicy") == "Always"]
        together = self._sum([*(dig(pod, "spec", "containers") or []), *beside])
        return max(together, *(self._sum([one]) for one in first), 0)

    def _sum(self, containers: Iterable[Object]) -> int:
        found = 0
        for container in containers:
            resources = container.get("resources") or {}
            wanted = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
            found += sum(_whole(value) for name, value in wanted.items() if self._is_gpu(name))
        return found

    def _is_gpu(self, resource: str) -> bool:
        return resource in self._resources or resource.startswith(_SLICE)


def _runs(pod: Object) -> bool:
    """Tell whether a pod is on a node, is not finished, and ends when its node is drained or goes."""
    if not dig(pod, "spec", "nodeName") or dig(pod, "status", "phase") in _FINISHED:
        return False
    owners = dig(pod, "metadata", "ownerReferences") or []
    by_daemon_set = any(owner.get("controller") and owner.get("kind") == "DaemonSet" for owner in owners)
    return not by_daemon_set and _MIRROR not in (dig(pod, "metadata", "annotations") or {})


def _claims(pod: Object) -> list[str]:
    """Return the claims that a pod was given, those that were made for it too."""
    named = [one.get("resourceClaimName") for one in dig(pod, "spec", "resourceClaims") or ()]
    made = [one.get("resourceClaimName") for one in dig(pod, "status", "resourceClaimStatuses") or ()]
    return [name for name in (*named, *made) if name]


def _whole(value: Any) -> int:
    """Return a number of devices, which the API server keeps whole."""
    try:
        return int(value)
    except (TypeError, ValueError):
        return 0
