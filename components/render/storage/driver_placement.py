"""Placement of the pods of storage drivers."""

from collections.abc import Mapping
from typing import Any

from components.render import labels as keys
from components.render.add_ons.pod_priorities import SERVICE
from components.render.pod_placement import any_of, required
from components.specs.struct import Struct, field


class DriverPlacement(Struct):
    """Nodes of one cluster that run the pods of storage drivers."""

    services: Mapping[str, Any] = field(default_factory=dict)
    """Node selector and tolerations of controllers, as chart values; empty for any node without taints."""
    with_disks: tuple[str, ...] | None = None
    """Instance types with local disks, sorted; None if the label of the type does not exist in the cluster."""

    @property
    def critical_services(self) -> dict[str, Any]:
        """Return `services` with a priority, for charts that set none."""
        return {**self.services, "priorityClassName": SERVICE}

    @property
    def on_disks(self) -> dict[str, Any]:
        """Return the affinity of agents to nodes with local disks, as chart values; empty for all nodes."""
        if self.with_disks is None:
            return {}
        return {"affinity": {"nodeAffinity": required(any_of(keys.NODE_INSTANCE_TYPE, self.with_disks))}}


ANYWHERE = DriverPlacement()
"""Placement in the management cluster, whose hosts have neither pools nor labels of instance types."""
