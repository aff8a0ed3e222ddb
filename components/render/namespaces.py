"""Namespaces of the management cluster that are shared by objects of several concepts."""

from collections.abc import Iterable
from typing import Any

NAME_LABEL = "kubernetes.io/metadata.name"
"""Label of each namespace: its name."""
FREE_HOSTS = "inventory"
"""Namespace of hosts that are not assigned to a cluster."""


def tenant_namespace(tenant: str) -> str:
    """Return the namespace of objects of ``tenant`` that do not belong to a cluster."""
    return f"tenant-{tenant}"


def namespaces_in(names: Iterable[str]) -> dict[str, Any]:
    """Return the label selector of the namespaces ``names``."""
    return {"matchExpressions": [{"key": NAME_LABEL, "operator": "In", "values": list(names)}]}
