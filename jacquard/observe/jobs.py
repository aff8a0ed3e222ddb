"""Finds pods that end when their node is drained or deleted, and counts their GPUs.

The drained pods follow ``internal/controllers/machine/drain/{drain,filters}.go`` of Cluster API, which follows
``pkg/drain/filters.go`` of kubectl: all pods of a node except pods of DaemonSets, mirrors of static pods, and finished
pods, which no longer use resources. A drain skips a pod labelled ``cluster.x-k8s.io/drain: skip`` or excepted by a
MachineDrainRule, but the pod ends with the machine. Such a pod therefore counts here.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from components.specs.environment import Environment
from jacquard.observe.objects import Kind, Object, key
from jacquard.providers.kube.objects import dig

POD: Kind = ("v1", "Pod")
CLAIM: Kind = ("resource.k8s.io/v1", "ResourceClaim")
"""Request of a pod for devices that a driver allocates (dynamic resource allocation)."""
_FINISHED = ("Succeeded", "Failed")
_MIRROR = "kubernetes.io/config.mirror"
_GPUS = ("nvidia.com/gpu", "nvidia.com/gpu.shared")
"""Resources that NVIDIA's device plug-in provides."""
_SLICE = "nvidia.com/mig-"
"""Prefix of the resources of MIG devices."""
_DRIVER = "gpu.nvidia.com"
"""Driver of claims for GPUs."""


class Jobs:
    """Finds the pods of a region that use GPUs: by resources of device plug-ins or VMs, or by resource claims."""

    def __init__(self, environment: Environment) -> None:
        devices = (size.gpu.device for size in environment.vm_catalog.sizes if size.gpu)
        self._resources = {*_GPUS, *devices}

    def keep(self, body: Object) -> bool:
        """Return whether to keep an object: of the pods, only those that may use GPUs."""
        return body["kind"] != POD[1] or (_runs(body) and (bool(_claims(body)) or self._requested(body) > 0))

    def gpus(self, pod: Object, claims: Mapping[tuple[str, str], Object]) -> int:
        """Return the number of GPUs, or slices of GPUs, of a kept pod; ``claims`` by namespace and name."""
        allocated = (claims.get((key(pod)[0], name)) for name in _claims(pod))
        results = (
            result for claim in allocated for result in dig(claim, "status", "allocation", "devices", "results") or ()
        )
        return self._requested(pod) + [result.get("driver") for result in results].count(_DRIVER)

    def _requested(self, pod: Object) -> int:
        """Return the scheduler's reservation: the sum of all containers, or a larger init container."""
        initial = dig(pod, "spec", "initContainers") or []
        sidecars = [container for container in initial if container.get("restartPolicy") == "Always"]
        together = self._sum([*(dig(pod, "spec", "containers") or []), *sidecars])
        return max(together, *(self._sum([container]) for container in initial), 0)

    def _sum(self, containers: Iterable[Object]) -> int:
        total = 0
        for container in containers:
            resources = container.get("resources") or {}
            wanted = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
            total += sum(_whole(value) for name, value in wanted.items() if self._is_gpu(name))
        return total

    def _is_gpu(self, resource: str) -> bool:
        return resource in self._resources or resource.startswith(_SLICE)


def _runs(pod: Object) -> bool:
    """Return whether a pod is on a node, is not finished, and ends when its node is drained or deleted."""
    if not dig(pod, "spec", "nodeName") or dig(pod, "status", "phase") in _FINISHED:
        return False
    owners = dig(pod, "metadata", "ownerReferences") or []
    by_daemon_set = any(owner.get("controller") and owner.get("kind") == "DaemonSet" for owner in owners)
    return not by_daemon_set and _MIRROR not in (dig(pod, "metadata", "annotations") or {})


def _claims(pod: Object) -> list[str]:
    """Return the names of a pod's resource claims, including claims created from templates."""
    named = [claim.get("resourceClaimName") for claim in dig(pod, "spec", "resourceClaims") or ()]
    made = [claim.get("resourceClaimName") for claim in dig(pod, "status", "resourceClaimStatuses") or ()]
    return [name for name in (*named, *made) if name]


def _whole(value: Any) -> int:
    """Return a number of devices, which is an integer in the API; 0 for other values."""
    try:
        return int(value)
    except (TypeError, ValueError):
        return 0
