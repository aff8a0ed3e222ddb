"""PriorityClasses for jobs of a tenant cluster. They determine scheduling order and preemption.

Value and preemption policy of a PriorityClass are immutable: the API server rejects changes. Pods refer to a
PriorityClass by name, so the name contains no version. Platform pods use the built-in priorities of Kubernetes, which
are higher.
"""

from components.render.manifest import Manifest
from components.render.objects import manifest
from components.specs.add_ons.pod_priorities import PodPriority
from components.specs.struct import Struct

SERVICE, AGENT = "system-cluster-critical", "system-node-critical"
"""Built-in priorities of Kubernetes for the platform's services and for its agents on each node."""
_GROUP = "scheduling.k8s.io/v1"
_PREEMPTION = {True: "PreemptLowerPriority", False: "Never"}


class PodPrioritiesInput(Struct):
    """Priorities available to pods of one cluster."""

    name: str
    cluster: str
    priorities: tuple[PodPriority, ...]

    def render(self) -> tuple[Manifest, ...]:
        """Return a PriorityClass for each priority."""
        return tuple(
            manifest(
                _GROUP,
                "PriorityClass",
                priority.name,
                cluster=self.cluster,
                value=priority.value,
                preemptionPolicy=_PREEMPTION[priority.preempts],
                globalDefault=priority.default,
                description=priority.description,
            )
            for priority in self.priorities
        )
