"""A node pool: identical stateless nodes of one instance type that boot one golden image."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from components.specs.base import (
    Label,
    LabelValue,
    NodeLabelKey,
    PercentOrCount,
    QualifiedName,
    ShortName,
    Spec,
    VersionName,
)


class RolloutStrategy(StrEnum):
    """What starts the replacement of a node once its image is re-pinned."""

    ROLLING = "rolling"
    """The controller replaces nodes at once, at most ``max_unavailable`` at a time."""
    IDLE = "idle"
    """As rolling, but a node is drained when its jobs have ended (MachineDrainRule WaitCompleted), or at the latest
    after ``drain_timeout_seconds``."""


class TaintEffect(StrEnum):
    """Effect of a taint on pods that do not tolerate it."""

    NO_SCHEDULE = "NoSchedule"
    PREFER_NO_SCHEDULE = "PreferNoSchedule"
    NO_EXECUTE = "NoExecute"


class TaintSpec(Spec):
    """A taint that every node of a pool carries."""

    key: QualifiedName
    value: LabelValue = ""
    effect: TaintEffect


class RolloutSpec(Spec):
    """How a pool takes a new image. Surge is never used: bare metal has no node to spare but its spares."""

    strategy: RolloutStrategy = RolloutStrategy.ROLLING
    max_unavailable: PercentOrCount = 1
    """Of each rollout group; a percentage is rounded down, to one node at least. Groups promoted together roll
    together."""
    drain_timeout_seconds: int = Field(default=3600, ge=60, le=604800)
    """Zero would wait for ever (Cluster API), so it is refused."""


class HealthSpec(Spec):
    """When a node counts as broken. A node is rebooted once, then replaced."""

    node_startup_timeout_seconds: int = Field(default=3600, ge=1800, le=14400)
    """Upstream's ten minutes is too short for metal."""
    unhealthy_timeout_seconds: int = Field(default=300, ge=60, le=3600)
    max_unhealthy: PercentOrCount = "20%"
    """Brake: above this share of the pool (rounded down, to one node at least) no node is remediated; 0 remediates
    none."""


class NodePoolSpec(Spec):
    """Identical nodes. Two nodes that must differ belong to two pools; there are no per-node settings on purpose."""

    name: ShortName
    instance_type: Label
    nodes: int = Field(ge=1, le=5000)
    image: Literal["channel"] | VersionName = "channel"
    """``channel``: what the region's channel offers when a group is pinned; or a version of the catalogue."""
    labels: dict[NodeLabelKey, LabelValue] = Field(default_factory=dict)
    """A key without a domain gets ``node.cluster.x-k8s.io/``; of others Cluster API copies only these to nodes."""
    taints: tuple[TaintSpec, ...] = ()
    rollout: RolloutSpec = RolloutSpec()
    health: HealthSpec = HealthSpec()
