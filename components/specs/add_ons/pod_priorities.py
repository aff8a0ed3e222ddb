"""Priorities of pods: whose pods go first in a tenant cluster that has no room for all."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from components.specs.base import CheckedSpec, DnsLabel, Misfit, Text

HIGHEST = 1_000_000_000
"""Highest value that is not kept for Kubernetes (K8S:pkg/apis/scheduling/types.go, HighestUserDefinablePriority)."""
RESERVED = "system-"
"""Beginning of the names of Kubernetes' own priorities, which the platform's add-ons have."""


class PodPriority(CheckedSpec):
    """A priority that pods of a tenant may name: a PriorityClass."""

    name: DnsLabel
    """Name that pods give as their ``priorityClassName``, and ``pod_priorities`` of clusters list."""
    value: int = Field(ge=-HIGHEST, le=HIGHEST)
    """Rank of its pods: the scheduler places those of a higher value first. A pod without a priority has 0. It never
    changes, since Kubernetes refuses that: another value is another name."""
    preempts: bool = True
    """Whether its pods drive out pods of lower values where there is no room; otherwise they wait before those. It
    never changes either."""
    default: bool = False
    """Whether pods that name no priority get this one. One priority at most may say so."""
    description: Text
    """For whom it is, as ``kubectl get priorityclasses`` tells it."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield a name that Kubernetes keeps for itself."""
        if self.name.startswith(RESERVED):
            text = f"begins with '{RESERVED}', which Kubernetes keeps for its own priorities; rename it"
            yield Misfit(text, ("name",), self.name)
