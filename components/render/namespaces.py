"""Namespaces of the management cluster that are shared by objects of several concepts."""

FREE_HOSTS = "inventory"
"""Namespace of hosts that are not assigned to a cluster."""


def tenant_namespace(tenant: str) -> str:
    """Return the namespace of objects of ``tenant`` that do not belong to a cluster."""
    return f"tenant-{tenant}"
