"""Namespaces of the management cluster that objects of several concepts share."""

from __future__ import annotations

FREE_HOSTS = "inventory"
"""Namespace of the hosts that no cluster owns."""


def tenant_namespace(tenant: str) -> str:
    """Return the namespace of what belongs to ``tenant`` and to none of its clusters."""
    return f"tenant-{tenant}"
