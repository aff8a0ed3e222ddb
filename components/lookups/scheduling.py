"""Rules of the Kubernetes scheduler and of the kubelet on whether a pod may run on a node, without resources.

Pods are pod specs as plain data. Sources: K8S:staging/src/k8s.io/component-helpers/scheduling/corev1/nodeaffinity,
K8S:staging/src/k8s.io/api/core/v1/toleration.go, K8S:pkg/kubelet/lifecycle/predicate.go.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeAlias

from components.specs.struct import Struct

Pod: TypeAlias = Mapping[str, Any]
Taint: TypeAlias = Mapping[str, str]
_NO_SCHEDULE, _NO_EXECUTE = "NoSchedule", "NoExecute"
_EXPRESSIONS: Mapping[str, Callable[[str | None, Collection[str]], bool]] = {
    "In": lambda value, values: value in values,
    "NotIn": lambda value, values: value not in values,
    "Exists": lambda value, _: value is not None,
    "DoesNotExist": lambda value, _: value is None,
    "Gt": lambda value, values: value is not None and int(value) > int(next(iter(values))),
    "Lt": lambda value, values: value is not None and int(value) < int(next(iter(values))),
}


class SchedulingNode(Struct):
    """Properties of a node that decide which pods may run on it."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...] = ()


def unscheduled(pod: Pod, node: SchedulingNode) -> str:
    """Return the reason why the scheduler does not place ``pod`` on ``node``; empty if it may."""
    return _unselected(pod, node) or _untolerated(pod, node, (_NO_SCHEDULE, _NO_EXECUTE))


def rejected(pod: Pod, node: SchedulingNode) -> str:
    """Return the reason why the kubelet of ``node`` rejects ``pod`` with its ``nodeName``; empty if it does not.

    A controller that sets ``nodeName`` bypasses the scheduler. The kubelet still requires a matching selector and node
    affinity, but tolerations only of taints that evict pods.
    """
    return _unselected(pod, node) or _untolerated(pod, node, (_NO_EXECUTE,))


def tolerates(pod: Pod, taint: Taint) -> bool:
    """Return whether a toleration of ``pod`` matches ``taint``."""
    return any(_matches(toleration, taint) for toleration in pod.get("tolerations") or ())


def _unselected(pod: Pod, node: SchedulingNode) -> str:
    for key, value in (pod.get("nodeSelector") or {}).items():
        if node.labels.get(key) != value:
            return f"lacks label {key}={value}"
    affinity = (pod.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    if required and not any(_matches_term(term, node) for term in required.get("nodeSelectorTerms") or ()):
        return "does not match the required node affinity"
    return ""


def _untolerated(pod: Pod, node: SchedulingNode, effects: Collection[str]) -> str:
    for taint in node.taints:
        if taint["effect"] in effects and not tolerates(pod, taint):
            value = f"={taint['value']}" if taint.get("value") else ""
            return f"has taint {taint['key']}{value}:{taint['effect']}"
    return ""


def _matches_term(term: Mapping[str, Any], node: SchedulingNode) -> bool:
    """Return whether all requirements of a term match. A term without requirements matches no node."""
    labels = [(node.labels.get(rule["key"]), rule) for rule in term.get("matchExpressions") or ()]
    fields = [({"metadata.name": node.name}.get(rule["key"]), rule) for rule in term.get("matchFields") or ()]
    requirements = labels + fields
    return bool(requirements) and all(
        _EXPRESSIONS[rule["operator"]](value, rule.get("values") or ()) for value, rule in requirements
    )


def _matches(toleration: Mapping[str, Any], taint: Taint) -> bool:
    """Return whether a toleration matches. Without effect it matches all effects, without key it matches all keys."""
    if toleration.get("effect") and toleration["effect"] != taint["effect"]:
        return False
    if toleration.get("key") and toleration["key"] != taint["key"]:
        return False
    if toleration.get("operator") == "Exists":
        return True
    return bool(toleration.get("key")) and (toleration.get("value") or "") == (taint.get("value") or "")
