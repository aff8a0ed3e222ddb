"""Namespaces of the management cluster that are shared by objects of several concepts."""

from __future__ import annotations

FREE_HOSTS = "inventory"
"""Namespace of hosts that are not assigned to a cluster."""


def tenant_namespace(tenant: str) -> str:
    """Return the namespace of objects that belong to ``tenant`` but to none of its clusters."""
    return f"tenant-{tenant}"
