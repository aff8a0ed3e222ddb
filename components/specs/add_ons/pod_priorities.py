"""Pod priorities: order of scheduling in a tenant cluster without room for all pods."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from components.specs.base import CheckedSpec, ConstraintViolation, DnsLabel, Text

HIGHEST = 1_000_000_000
"""Highest value that is not reserved for Kubernetes (K8S:pkg/apis/scheduling/types.go,
HighestUserDefinablePriority)."""
RESERVED = "system-"
"""Name prefix of Kubernetes' own priorities, which the platform's add-ons use."""


class PodPriority(CheckedSpec):
    """Priority for pods of tenants: a PriorityClass."""

    name: DnsLabel
    """Name of the priority: the ``priorityClassName`` of pods, listed in ``pod_priorities`` of clusters."""
    value: int = Field(ge=-HIGHEST, le=HIGHEST)
    """Priority value: the scheduler places pods with a higher value first. A pod without a priority has the value 0.
    The value never changes, because Kubernetes does not allow it: use a new name for another value."""
    preempts: bool = True
    """Whether its pods evict pods with lower values if there is no room; otherwise they only wait ahead of these pods.
    It never changes either."""
    default: bool = False
    """Whether pods without a priority get this one. At most one priority can be the default."""
    description: Text
    """Purpose of the priority, shown by ``kubectl get priorityclasses``."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield a name that is reserved for Kubernetes."""
        if self.name.startswith(RESERVED):
            text = f"starts with '{RESERVED}', which is reserved for Kubernetes' own priorities; rename it"
            yield ConstraintViolation(text, ("name",), self.name)
