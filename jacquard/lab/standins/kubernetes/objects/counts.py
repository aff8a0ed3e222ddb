"""Readiness checks of kinds whose status contains counts."""

from collections.abc import Callable, Mapping
from typing import Any

from jacquard.providers.kube.objects import dig


def daemon_set(obj: Mapping[str, Any]) -> str:
    """Return why a DaemonSet is not ready, or an empty string if all its nodes run the current revision."""
    status = obj.get("status") or {}
    wanted = status.get("desiredNumberScheduled", 0)
    if stale := _stale(obj):
        return stale
    if dig(obj, "spec", "updateStrategy", "type") != "OnDelete" and status.get("updatedNumberScheduled", 0) < wanted:
        return f"{status.get('updatedNumberScheduled', 0)} of {wanted} pods are updated"
    available = status.get("numberAvailable", 0)
    return f"{available} of {wanted} pods are available" if available < wanted else ""


def stateful_set(obj: Mapping[str, Any]) -> str:
    """Return why a StatefulSet is not ready, or an empty string if all replicas are ready and updated."""
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    wanted = spec.get("replicas", 1)
    if stale := _stale(obj):
        return stale
    for count, verb in (("replicas", "exist"), ("readyReplicas", "are ready")):
        if status.get(count, 0) != wanted:
            return f"{status.get(count, 0)} of {wanted} replicas {verb}"
    if dig(spec, "updateStrategy", "type") == "OnDelete":
        return ""
    partition = dig(spec, "updateStrategy", "rollingUpdate", "partition") or 0
    rolled = status.get("updateRevision") == status.get("currentRevision")
    updated = status.get("updatedReplicas", 0)
    return (
        "" if rolled or (partition and updated >= wanted - partition) else f"{updated} of {wanted} replicas are updated"
    )


CHECKS: Mapping[tuple[str, str], Callable[[Mapping[str, Any]], str]] = {
    ("apps/v1", "DaemonSet"): daemon_set,
    ("apps/v1", "StatefulSet"): stateful_set,
}


def _stale(obj: Mapping[str, Any]) -> str:
    observed, generation = dig(obj, "status", "observedGeneration") or 0, dig(obj, "metadata", "generation") or 0
    return f"its controller has observed generation {observed} of {generation}" if observed < generation else ""
