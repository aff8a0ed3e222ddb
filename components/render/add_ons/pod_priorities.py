"""Whose pods go first in a tenant cluster that has no room for all: the PriorityClasses that its jobs may name.

Value and preemption of a PriorityClass never change, and pods name it: so its name has no version, and an edit of
either is refused by the API server. The platform's own pods have Kubernetes' priorities, above all of these.
"""

from __future__ import annotations

from dataclasses import dataclass

from components.render.manifest import Manifest
from components.render.objects import manifest
from components.specs.add_ons.pod_priorities import PodPriority

SERVICE, AGENT = "system-cluster-critical", "system-node-critical"
"""Priorities of the platform's services and of its agents on each node, which each cluster has by itself."""
_GROUP = "scheduling.k8s.io/v1"
_PREEMPTION = {True: "PreemptLowerPriority", False: "Never"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PodPrioritiesInput:
    """The priorities that pods of one cluster may name."""

    name: str
    cluster: str
    priorities: tuple[PodPriority, ...]

    def render(self) -> tuple[Manifest, ...]:
        """Return a PriorityClass for each."""
        return tuple(
            manifest(
                _GROUP,
                "PriorityClass",
                one.name,
                cluster=self.cluster,
                value=one.value,
                preemptionPolicy=_PREEMPTION[one.preempts],
                globalDefault=one.default,
                description=one.description,
            )
            for one in self.priorities
        )
