"""Pod priorities: scheduling order of pods when a tenant cluster does not have capacity for all of them."""

from collections.abc import Iterator

from pydantic import Field

from components.specs.base import CheckedSpec, ConstraintViolation, DnsLabel, Text

HIGHEST = 1_000_000_000
"""Highest value that is not reserved for Kubernetes (K8S:pkg/apis/scheduling/types.go,
HighestUserDefinablePriority)."""
RESERVED = "system-"
"""Name prefix of the priorities that Kubernetes defines. The add-ons of the platform use these priorities."""


class PodPriority(CheckedSpec):
    """Priority for pods of tenants: a PriorityClass."""

    name: DnsLabel
    """Name of the priority: the ``priorityClassName`` of pods, listed in ``pod_priorities`` of clusters."""
    value: int = Field(ge=-HIGHEST, le=HIGHEST)
    """Priority value: the scheduler places pods with a higher value first. A pod without a priority has the value 0.
    The value is immutable in Kubernetes: use a new name for another value."""
    preempts: bool = True
    """Whether pods with this priority evict pods with lower values if capacity is missing. Otherwise they only precede
    those pods in the scheduling queue. This field is immutable."""
    default: bool = False
    """Whether this is the default priority of pods. At most one priority can be the default."""
    description: Text
    """Purpose of the priority, shown by ``kubectl get priorityclasses``."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield a name that is reserved for Kubernetes."""
        if self.name.startswith(RESERVED):
            text = f"starts with '{RESERVED}', which is reserved for Kubernetes' own priorities; rename it"
            yield ConstraintViolation(text, ("name",), self.name)
