"""Nodes of the local region, as the rules of the scheduler and the kubelet read them (`components.lookups`)."""

from components.lookups.scheduling import SchedulingNode
from jacquard.lab.rehearsal.operators.view import Object, deleting
from jacquard.providers.kube.objects import dig


def scheduling_node(node: Object) -> SchedulingNode:
    """Return the properties of ``node`` that decide which pods may run on it."""
    metadata, taints = node["metadata"], dig(node, "spec", "taints") or ()
    return SchedulingNode(name=metadata["name"], labels=metadata.get("labels") or {}, taints=tuple(taints))


def is_schedulable(node: Object) -> bool:
    """Return whether the scheduler binds pods to ``node``."""
    conditions = dig(node, "status", "conditions") or ()
    ready = any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)
    return ready and not dig(node, "spec", "unschedulable") and not deleting(node)
