"""Placement of pods on nodes: labels that a pod requires, and taints that it tolerates."""

from jacquard.lab.rehearsal.operators.view import Object, deleting
from jacquard.providers.kube.objects import dig

HARD = ("NoSchedule", "NoExecute")
"""Effects of taints that the scheduler respects."""
EVICTING = ("NoExecute",)
"""Effects of taints that a kubelet respects when it admits a pod (K8S:pkg/kubelet/lifecycle/predicate.go)."""


def is_schedulable(node: Object) -> bool:
    """Return whether the scheduler binds pods to ``node``."""
    conditions = dig(node, "status", "conditions") or ()
    ready = any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)
    return ready and not dig(node, "spec", "unschedulable") and not deleting(node)


def admits(placement: Object, node: Object) -> bool:
    """Return whether selector and required affinity of ``placement`` match ``node``; only operator In is supported."""
    labels = node["metadata"].get("labels") or {}
    if any(labels.get(key) != value for key, value in (placement.get("nodeSelector") or {}).items()):
        return False
    required = dig(placement, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution") or {}
    terms = required.get("nodeSelectorTerms") or ()
    return not terms or any(
        all(labels.get(rule["key"]) in rule["values"] for rule in term["matchExpressions"]) for term in terms
    )


def tolerates(pod: Object, node: Object, effects: tuple[str, ...] = HARD) -> bool:
    """Return whether ``pod`` tolerates all taints of ``node`` with one of ``effects``."""
    tolerations = pod.get("tolerations") or ()
    return all(
        any(_covers(toleration, taint) for toleration in tolerations)
        for taint in dig(node, "spec", "taints") or ()
        if taint["effect"] in effects
    )


def _covers(toleration: Object, taint: Object) -> bool:
    exists = toleration.get("operator") == "Exists"
    same_key = toleration.get("key") == taint["key"] or (exists and not toleration.get("key"))
    same_value = exists or (toleration.get("value") or "") == (taint.get("value") or "")
    return same_key and same_value and toleration.get("effect") in {None, "", taint["effect"]}
