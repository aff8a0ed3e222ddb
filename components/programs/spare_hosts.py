"""Free hosts that a new Machine can claim, by the rules of Metal3 for its choice of a host.

Source: CAPM3:baremetal/metal3machine_manager.go (chooseHost), v1.13.2. The templates of pools select hosts by labels
only, never by expressions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

HOSTS = "metal3.io/v1alpha1"
UNHEALTHY = "capm3.metal3.io/unhealthy"
"""Annotation of a host that no Machine claims. Metal3 sets it after its last attempt, and no controller removes it."""
MARK = "capm3/UnhealthyNode"
"""Value of `UNHEALTHY` that Metal3 writes (CAPM3:baremetal/metal3remediation_manager.go, SetUnhealthyAnnotation). Every
writer of the annotation uses it, because an apply of another value would be rejected as a conflict."""
_PAUSED = "baremetalhost.metal3.io/paused"
_STATES = frozenset({"available", "ready"})


def is_free(host: Mapping[str, Any]) -> bool:
    """Return whether a Machine can claim ``host``."""
    metadata, status = host["metadata"], host.get("status") or {}
    return (
        (status.get("provisioning") or {}).get("state") in _STATES
        and not status.get("errorMessage")
        and not (host.get("spec") or {}).get("consumerRef")
        and "deletionTimestamp" not in metadata
        and {UNHEALTHY, _PAUSED}.isdisjoint(metadata.get("annotations") or {})
    )


class Spares:
    """Hosts that replace broken hosts, of which each replaces one per run."""

    def __init__(self, hosts: Iterable[Mapping[str, Any]]) -> None:
        """Take the free hosts of all namespaces."""
        self._free = [host for host in hosts if is_free(host)]

    def take(self, machine: Mapping[str, Any]) -> bool:
        """Reserve a free host that the replacement of a Metal3Machine would claim; return False without one."""
        namespace, selector = machine["metadata"]["namespace"], (machine.get("spec") or {}).get("hostSelector") or {}
        wanted = (selector.get("matchLabels") or {}).items()
        for host in self._free:
            labels = host["metadata"].get("labels") or {}
            if host["metadata"]["namespace"] == namespace and wanted <= labels.items():
                self._free.remove(host)
                return True
        return False
