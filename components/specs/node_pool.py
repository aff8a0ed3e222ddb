"""A node pool: identical stateless nodes of one instance type that boot one golden image."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from itertools import pairwise
from typing import Literal

from pydantic import AwareDatetime, Field

from components.specs.base import (
    AnnotationText,
    CheckedSpec,
    Label,
    LabelValue,
    Misfit,
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


class ScaleDown(StrEnum):
    """Which nodes may go when a pool gets smaller."""

    IDLE_ONLY = "idle-only"
    """A node that goes waits for its jobs, at most for ``rollout.drain_timeout_seconds``. Cluster API drains in one way
    only, so this holds for rolls and repairs of the pool too."""
    PREFER_IDLE = "prefer-idle"
    """Nodes that somebody, such as the cluster autoscaler, marked to go; then the oldest, which are drained at once."""


class PoolRole(StrEnum):
    """What a pool is for."""

    WORKER = "worker"
    """The tenant's jobs."""
    SYSTEM = "system"
    """The cluster's own services: DNS, storage and network controllers, metrics."""


CONTROLLERS_TAINTS = ("node.kubernetes.io", "node.cloudprovider.kubernetes.io", "node.cluster.x-k8s.io")
"""Domains whose taints Kubernetes and Cluster API set and remove; a node would lose one, or never become usable."""


class TaintEffect(StrEnum):
    """Effect of a taint on pods that do not tolerate it."""

    NO_SCHEDULE = "NoSchedule"
    PREFER_NO_SCHEDULE = "PreferNoSchedule"
    NO_EXECUTE = "NoExecute"


class TaintSpec(CheckedSpec):
    """A taint that every node of a pool carries."""

    key: QualifiedName
    value: LabelValue = ""
    effect: TaintEffect

    def misfits(self) -> Iterator[Misfit]:
        """Yield a taint that controllers put on nodes and take off again."""
        if self.key.rpartition("/")[0] in CONTROLLERS_TAINTS:
            text = "is in a domain whose taints come and go by controllers; write a key of your own"
            yield Misfit(text, ("key",), self.key)


class BurnIn(StrEnum):
    """What a new node must pass before the roll goes on and the node counts."""

    NONE = "none"
    """It is ready."""
    GATED = "gated"
    """It also has the condition that ``nodes.burn_in`` of ``region.yaml`` names."""


class RolloutSpec(Spec):
    """How a pool takes a new image."""

    strategy: RolloutStrategy = RolloutStrategy.ROLLING
    max_unavailable: PercentOrCount = 1
    """Of each rollout group; a percentage is rounded down, to one node at least. Groups promoted together roll
    together."""
    surge: PercentOrCount = 0
    """Nodes of each rollout group that are made before old ones go, on spares of its failure domain: as many as there
    are. 0, or without a spare: a host is given back first and reused."""
    paused: bool = False
    """Holds the roll where it is; scaling and repair go on."""
    after: AwareDatetime | None = None
    """Nodes made before this moment are made anew once it has come: a restart of the pool, with its offset from UTC,
    such as ``2026-12-01T02:00:00Z``. Must lie in the tenant's window and in no freeze."""
    drain_timeout_seconds: int = Field(default=3600, ge=60, le=604800)
    """Zero would wait for ever (Cluster API), so it is refused."""
    canary: int = Field(default=0, ge=0, le=100)
    """Nodes of each promotion that take the image first, alone: the smallest rollout group that has as many, whole; 0:
    none."""
    soak_minutes: int = Field(default=0, ge=0, le=10_080)
    """How long the nodes of a wave must have been ready before the next wave follows."""


class HealthSpec(Spec):
    """When a node counts as broken. A node is rebooted once, then replaced."""

    node_startup_timeout_seconds: int = Field(default=3600, ge=1800, le=14400)
    """Upstream's ten minutes is too short for metal."""
    unhealthy_timeout_seconds: int = Field(default=300, ge=60, le=3600)
    """How long a node may be not ready."""
    max_unhealthy: PercentOrCount = "20%"
    """Brake: above this share of the pool (rounded down, to one node at least) no node is remediated; 0 remediates
    none."""
    burn_in: BurnIn = BurnIn.NONE
    """``gated`` makes each node of a running pool unavailable until its condition is set; let it be set first."""
    min_ready_seconds: int = Field(default=0, ge=0, le=86_400)
    """How long a new node must stay ready before it counts and the roll goes on."""


class NodePoolSpec(CheckedSpec):
    """Identical nodes. Two nodes that must differ belong to two pools; there are no per-node settings on purpose."""

    name: ShortName
    instance_type: Label
    """An entry of ``catalog/instance_types.yaml``."""
    nodes: int | None = Field(default=None, ge=1, le=5000)
    """Machines that run, without spares; this or ``racks``. With ``autoscaling``: what the plan counts on."""
    racks: int | None = Field(default=None, ge=1, le=500)
    """Whole NVLink domains; only for an instance type with ``scale: rack``."""
    min_nodes: int | None = Field(default=None, ge=0, le=5000)
    """Least nodes that run; required with ``autoscaling``."""
    max_nodes: int | None = Field(default=None, ge=1, le=5000)
    """Most nodes that run; hosts are assigned for as many. Required with ``autoscaling``."""
    autoscaling: bool = False
    """Whether the cluster autoscaler moves the pool between ``min_nodes`` and ``max_nodes``."""
    scale_down: ScaleDown = ScaleDown.PREFER_IDLE
    role: PoolRole = PoolRole.WORKER
    spares: PercentOrCount | None = None
    """Hosts kept free per failure domain; none given: as the region says."""
    image: Literal["channel"] | VersionName = "channel"
    """``channel``: what the region's channel offers when a group is pinned; or a version of the catalogue."""
    labels: dict[NodeLabelKey, LabelValue] = Field(default_factory=dict)
    """A key without a domain gets ``node.cluster.x-k8s.io/``; of others Cluster API copies only these to nodes."""
    annotations: dict[QualifiedName, AnnotationText] = Field(default_factory=dict)
    """Copied to the Machines of the pool."""
    taints: tuple[TaintSpec, ...] = ()
    rollout: RolloutSpec = RolloutSpec()
    health: HealthSpec = HealthSpec()

    def misfits(self) -> Iterator[Misfit]:
        """Yield sizes that contradict each other."""
        if (self.nodes is None) == (self.racks is None):
            given = "neither nodes nor racks" if self.nodes is None else "both nodes and racks"
            yield Misfit(f"has {given}; write one of the two")
        for name in ("min_nodes", "max_nodes") if self.autoscaling else ():
            if getattr(self, name) is None:
                yield Misfit("is required with autoscaling; add it", (name,))
        ladder = [(name, getattr(self, name)) for name in ("min_nodes", "nodes", "max_nodes")]
        for (low, least), (high, most) in pairwise((name, count) for name, count in ladder if count is not None):
            if least > most:
                text = f"must be at most {most}, the pool's {high}; write {most} or less, or raise {high}"
                yield Misfit(text, (low,), least)
