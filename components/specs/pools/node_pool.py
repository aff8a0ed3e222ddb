"""A node pool: identical stateless nodes of one instance type that boot one golden image."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from itertools import pairwise
from typing import Literal

from pydantic import AwareDatetime, ConfigDict, Field

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
from components.specs.pools.gpu_sharing import GpuSharingSpec


class RolloutStrategy(StrEnum):
    """What starts the replacement of a node once its image is re-pinned."""

    ROLLING = "rolling"
    """The controller replaces nodes at once, at most ``max_unavailable`` at a time."""
    IDLE = "idle"
    """The controller replaces at most ``max_unavailable`` nodes at a time, each when its jobs have ended
    (MachineDrainRule WaitCompleted), however long that takes."""


class ScaleDown(StrEnum):
    """Which nodes may go when a pool gets smaller."""

    IDLE_ONLY = "idle-only"
    """A node that goes waits until its jobs have ended. Cluster API drains in one way only, so this holds for rolls and
    repairs of the pool too."""
    PREFER_IDLE = "prefer-idle"
    """Nodes that somebody, such as the cluster autoscaler, marked to go are the first, then the oldest. All are drained
    at once."""


LEAST_SYSTEM_NODES = 2
"""Least nodes of role system in a cluster: one is replaced now and then, and its services with it."""


class PoolRole(StrEnum):
    """What a pool is for."""

    WORKER = "worker"
    """The pool runs the tenant's jobs."""
    SYSTEM = "system"
    """The pool runs the cluster's own services: DNS, storage and network controllers, metrics."""


CONTROLLERS_TAINTS = ("node.kubernetes.io", "node.cloudprovider.kubernetes.io", "node.cluster.x-k8s.io")
"""Domains whose taints Kubernetes and Cluster API set and remove; a node would lose a taint in one, or never become
usable."""


class TaintEffect(StrEnum):
    """Effect of a taint on pods that do not tolerate it."""

    NO_SCHEDULE = "NoSchedule"
    """New pods stay away."""
    PREFER_NO_SCHEDULE = "PreferNoSchedule"
    """New pods stay away if there is room elsewhere."""
    NO_EXECUTE = "NoExecute"
    """New pods stay away, and those that run are evicted."""


class TaintSpec(CheckedSpec):
    """A taint that every node of a pool carries."""

    key: QualifiedName
    """Key of the taint, with or without a domain."""
    value: LabelValue = ""
    """Value of the taint; empty for a taint that has none."""
    effect: TaintEffect
    """What the taint does to pods that do not tolerate it."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield a taint that controllers put on nodes and take off again."""
        if self.key.rpartition("/")[0] in CONTROLLERS_TAINTS:
            text = "is in a domain whose taints come and go by controllers; write a key of your own"
            yield Misfit(text, ("key",), self.key)


class BurnIn(StrEnum):
    """What a new node must pass before the roll goes on and the node counts."""

    NONE = "none"
    """A new node counts when it is ready."""
    GATED = "gated"
    """A new node counts when it is ready and has the condition that ``nodes.burn_in`` of ``region.yaml`` names."""


class RolloutSpec(Spec):
    """How a pool takes a new image."""

    strategy: RolloutStrategy = RolloutStrategy.ROLLING
    """When a node that is to be replaced is drained."""
    max_unavailable: PercentOrCount = 1
    """Most nodes of each rollout group that may be away; a percentage is rounded down, to one node at least. Groups
    promoted together roll together."""
    surge: PercentOrCount = 0
    """Nodes of each rollout group that are made before old ones go, on spares of its failure domain, as many as there
    are. A host is given back first and reused where there is no spare or this is 0."""
    paused: bool = False
    """Whether the roll stays where it is; scaling and repair go on."""
    after: AwareDatetime | None = None
    """Moment after which all nodes made before it are made anew, a restart of the pool. It has its offset from UTC,
    such as ``2026-12-01T02:00:00Z``, and must lie in the tenant's window and in no freeze."""
    drain_timeout_seconds: int = Field(default=3600, ge=60, le=604800)
    """How many seconds a node may take to drain before it goes anyway, jobs or not; only for a pool whose nodes do not
    wait for their jobs. Zero is refused, since Cluster API would wait for ever."""
    canary: int = Field(default=0, ge=0, le=100)
    """Nodes of each promotion that take the image first, alone: the smallest rollout group that has as many, whole.
    There is no such wave when it is 0."""
    soak_minutes: int = Field(default=0, ge=0, le=10_080)
    """How many minutes the nodes of a wave must have been ready before the next wave follows."""


class HealthSpec(Spec):
    """When a node counts as broken. A node is rebooted once, then replaced."""

    node_startup_timeout_seconds: int = Field(default=3600, ge=1800, le=14400)
    """How many seconds a new machine has to become a node once it is its turn; upstream's ten minutes is too short for
    metal. The time that machines of a large pool may wait for their turn is added."""
    unhealthy_timeout_seconds: int = Field(default=900, ge=60, le=3600)
    """How many seconds a node may be not ready before it counts as broken; at least 900 for nodes with GPUs, whose jobs
    outlive a switch that restarts."""
    max_unhealthy: PercentOrCount = "20%"
    """Share of each rollout group, rounded down and to one node at least, above which none of its nodes is remediated;
    spares of the group bound it further, down to one node. No node is remediated at all when it is 0."""
    burn_in: BurnIn = BurnIn.NONE
    """What a new node must pass. ``gated`` makes each node of a running pool unavailable until its condition is set;
    let it be set first."""
    min_ready_seconds: int = Field(default=0, ge=0, le=86_400)
    """How many seconds a new node must stay ready before it counts and the roll goes on."""


class NodePoolSpec(CheckedSpec):
    """Identical nodes. Two nodes that must differ belong to two pools; there are no per-node settings on purpose."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [{"required": ["nodes"]}, {"required": ["racks"]}]})

    name: ShortName
    """Name of the pool, unique in its cluster; a pool of another name is another pool, with other nodes."""
    instance_type: Label
    """Hardware class of all nodes, an entry of ``catalog/instance_types.yaml``."""
    nodes: int | None = Field(default=None, ge=1, le=5000)
    """Number of machines that run, without spares, unless ``racks`` is given. With ``autoscaling`` it is what the plan
    counts on."""
    racks: int | None = Field(default=None, ge=1, le=500)
    """Number of whole NVLink domains; only for an instance type with ``scale: rack``, and instead of ``nodes``."""
    min_nodes: int | None = Field(default=None, ge=0, le=5000)
    """Least nodes that run; required with ``autoscaling``."""
    max_nodes: int | None = Field(default=None, ge=1, le=5000)
    """Most nodes that run, for which hosts are assigned; required with ``autoscaling``."""
    autoscaling: bool = False
    """Whether the cluster autoscaler moves the pool between ``min_nodes`` and ``max_nodes``."""
    scale_down: ScaleDown = ScaleDown.PREFER_IDLE
    """Which nodes go when the pool gets smaller, and whether they wait for their jobs."""
    role: PoolRole = PoolRole.WORKER
    """Whether the pool runs the tenant's jobs or the cluster's own services; nodes of the latter get a label."""
    spares: PercentOrCount | None = None
    """Hosts kept free per failure domain; the region decides when it is left out."""
    image: Literal["channel"] | VersionName = "channel"
    """Version of a golden image, or ``channel`` for what the region's channel offers when a group is pinned."""
    labels: dict[NodeLabelKey, LabelValue] = Field(default_factory=dict)
    """Labels of the pool's Nodes. A key without a domain gets ``node.cluster.x-k8s.io/``; of others Cluster API copies
    only those of the domains that are allowed here."""
    annotations: dict[QualifiedName, AnnotationText] = Field(default_factory=dict)
    """Annotations of the pool's Machines."""
    taints: tuple[TaintSpec, ...] = ()
    """Taints that nodes register with. Nodes get them only when they join."""
    gpu_sharing: GpuSharingSpec | None = None
    """How pods share the pool's GPUs, from the next promotion on; each GPU is one pod's when it is left out."""
    rollout: RolloutSpec = RolloutSpec()
    """How the pool takes a new image."""
    health: HealthSpec = HealthSpec()
    """When a node of the pool counts as broken."""
    retire: bool = False
    """Whether the pool is about to end, the first of two steps: it has no nodes, whatever its size says."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield sizes, and words on jobs, that contradict each other."""
        yield from self._sizes()
        waiting = {
            f"strategy: {RolloutStrategy.IDLE}": self.rollout.strategy is RolloutStrategy.IDLE,
            f"scale_down: {ScaleDown.IDLE_ONLY}": self.scale_down is ScaleDown.IDLE_ONLY,
        }
        if any(waiting.values()) and "drain_timeout_seconds" in self.rollout.model_fields_set:
            said = " and ".join(text for text, waits in waiting.items() if waits)
            text = f"would end jobs that {said} waits for, however long they take; remove it, or do not write {said}"
            yield Misfit(text, ("rollout", "drain_timeout_seconds"), self.rollout.drain_timeout_seconds)

    def _sizes(self) -> Iterator[Misfit]:
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
