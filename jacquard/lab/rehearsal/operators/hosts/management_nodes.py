"""Simulated nodes of the management cluster, which are a prerequisite of a region and include a network."""

from __future__ import annotations

from jacquard.lab.rehearsal.operators.hosts.nodes import registered
from jacquard.lab.rehearsal.operators.view import View

NODES = ("management-0", "management-1", "management-2")
_ROLE = "node-role.kubernetes.io/control-plane"
"""Label in the list of prerequisites of a region with DPUs."""
_RESOURCES = {"cpu": "128", "memory": "1Ti", "pods": "250", "ephemeral-storage": "7Ti"}
_NETWORKED = {"type": "NetworkUnavailable", "status": "False", "reason": "Given", "message": "the network is given"}


def reconcile(view: View) -> None:
    """Create the missing nodes, each in a separate zone."""
    for name in NODES:
        if view.find("v1", "Node", name) is None:
            labels = {"topology.kubernetes.io/zone": name, _ROLE: ""}
            node = registered(name, labels, _RESOURCES, view.kubernetes(), name)
            node["status"]["conditions"] = [_NETWORKED]
            view.create(node)
