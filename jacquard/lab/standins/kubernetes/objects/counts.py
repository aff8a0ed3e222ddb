"""Kinds of which the status is counts: whether as many are there as were asked for."""

from collections.abc import Callable, Mapping
from typing import Any

from jacquard.providers.kube.objects import dig


def daemon_set(obj: Mapping[str, Any]) -> str:
    """Return what a DaemonSet lacks in words, nothing when every node that it is for runs its present form."""
    status = obj.get("status") or {}
    wanted = status.get("desiredNumberScheduled", 0)
    if stale := _stale(obj):
        return stale
    if dig(obj, "spec", "updateStrategy", "type") != "OnDelete" and status.get("updatedNumberScheduled", 0) < wanted:
        return f"{status.get('updatedNumberScheduled', 0)} of {wanted} pods are updated"
    available = status.get("numberAvailable", 0)
    return f"{available} of {wanted} pods are available" if available < wanted else ""


def stateful_set(obj: Mapping[str, Any]) -> str:
    """Return what a StatefulSet lacks in words, nothing when all replicas are ready in the form that is rolled out."""
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    wanted = spec.get("replicas", 1)
    if stale := _stale(obj):
        return stale
    for count, words in (("replicas", "there"), ("readyReplicas", "ready")):
        if status.get(count, 0) != wanted:
            return f"{status.get(count, 0)} of {wanted} replicas are {words}"
    if dig(spec, "updateStrategy", "type") == "OnDelete":
        return ""
    held = dig(spec, "updateStrategy", "rollingUpdate", "partition") or 0
    rolled = status.get("updateRevision") == status.get("currentRevision")
    updated = status.get("updatedReplicas", 0)
    return "" if rolled or (held and updated >= wanted - held) else f"{updated} of {wanted} replicas are updated"


CHECKS: Mapping[tuple[str, str], Callable[[Mapping[str, Any]], str]] = {
    ("apps/v1", "DaemonSet"): daemon_set,
    ("apps/v1", "StatefulSet"): stateful_set,
}


def _stale(obj: Mapping[str, Any]) -> str:
    seen, generation = dig(obj, "status", "observedGeneration") or 0, dig(obj, "metadata", "generation") or 0
    return f"its controller has seen generation {seen} of {generation}" if seen < generation else ""
