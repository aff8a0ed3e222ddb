"""Node pool: identical stateless nodes of one instance type that boot one golden image."""

from collections.abc import Iterator
from enum import StrEnum
from itertools import pairwise
from typing import Literal

from pydantic import AwareDatetime, ConfigDict, Field

from components.specs.base import (
    AnnotationText,
    CheckedSpec,
    ConstraintViolation,
    Label,
    LabelValue,
    NodeLabelKey,
    PercentOrCount,
    QualifiedName,
    ShortName,
    Spec,
    VersionName,
)
from components.specs.pools.gpu_sharing import GpuSharingSpec


class RolloutStrategy(StrEnum):
    """Rollout strategy of a pool after its image pin has changed."""

    ROLLING = "rolling"
    """The controller replaces nodes immediately, at most ``max_unavailable`` at the same time."""
    IDLE = "idle"
    """The controller replaces at most ``max_unavailable`` nodes at the same time, each after its jobs have finished
    (MachineDrainRule WaitCompleted), without a time limit."""


class ScaleDown(StrEnum):
    """Selection of nodes for removal when a pool shrinks."""

    IDLE_ONLY = "idle-only"
    """A node is removed after its jobs have finished. Cluster API has one drain behaviour per pool, so this also
    applies to rollouts and repairs."""
    PREFER_IDLE = "prefer-idle"
    """Nodes marked for deletion, for example by the cluster autoscaler, are removed first, then the oldest nodes. All
    removed nodes are drained immediately."""


LEAST_SYSTEM_NODES = 2
"""Minimum number of nodes with role system in a cluster: its services must survive the replacement of a node."""


class PoolRole(StrEnum):
    """Role of a pool."""

    WORKER = "worker"
    """The pool runs the tenant's jobs."""
    SYSTEM = "system"
    """The pool runs the services of the cluster: DNS, storage and network controllers, metrics."""


CONTROLLERS_TAINTS = ("node.kubernetes.io", "node.cloudprovider.kubernetes.io", "node.cluster.x-k8s.io")
"""Domains of taints that Kubernetes and Cluster API set and remove. A pool's taint in these domains would be removed
from nodes, or nodes would never become usable."""


class TaintEffect(StrEnum):
    """Effect of a taint on pods that do not tolerate it."""

    NO_SCHEDULE = "NoSchedule"
    """New pods are not scheduled."""
    PREFER_NO_SCHEDULE = "PreferNoSchedule"
    """New pods are scheduled only if no other node has capacity."""
    NO_EXECUTE = "NoExecute"
    """New pods are not scheduled, and running pods are evicted."""


class TaintSpec(CheckedSpec):
    """Taint of every node of a pool."""

    key: QualifiedName
    """Key of the taint, with or without a domain."""
    value: LabelValue = ""
    """Value of the taint; empty for a taint without a value."""
    effect: TaintEffect
    """Effect of the taint on pods that do not tolerate it."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield a taint that controllers set and remove."""
        if self.key.rpartition("/")[0] in CONTROLLERS_TAINTS:
            text = "is in a domain whose taints controllers set and remove; write a key in another domain"
            yield ConstraintViolation(text, ("key",), self.key)


class BurnIn(StrEnum):
    """Condition for a new node to count as available in a rollout."""

    NONE = "none"
    """A new node is available when it is ready."""
    GATED = "gated"
    """A new node is available when it is ready and has the condition of ``nodes.burn_in`` in ``region.yaml``."""


class RolloutSpec(Spec):
    """Rollout settings of a pool for new images."""

    strategy: RolloutStrategy = RolloutStrategy.ROLLING
    """Time of the drain of a node that is replaced."""
    max_unavailable: PercentOrCount = 1
    """Maximum number of unavailable nodes in each rollout group. Percentages are rounded down, to at least one node.
    Groups that are promoted together are rolled out together."""
    surge: PercentOrCount = 0
    """Number of new nodes in each rollout group that are created before old nodes are removed, on spare hosts of the
    failure domain, if available. With 0 or without a spare host, old nodes are deleted first."""
    paused: bool = False
    """Whether the rollout is paused; scaling and repairs continue."""
    after: AwareDatetime | None = None
    """Time of a restart of the pool, with its offset from UTC, such as ``2026-12-01T02:00:00Z``. All nodes that are
    older are replaced after this time. It must be in the tenant's window and outside freezes."""
    drain_timeout_seconds: int = Field(default=3600, ge=60, le=604800)
    """Seconds after which a node is removed even if its drain has not finished and jobs are still running. This field
    is only for pools whose nodes do not wait for jobs. Zero is not allowed, because Cluster API would wait forever."""
    detach_timeout_seconds: int = Field(default=600, ge=60, le=86_400)
    """Seconds that a drained node waits for the detachment of its volumes before it is removed. Zero is not allowed,
    because Cluster API would wait forever."""
    canary: int = Field(default=0, ge=0, le=100)
    """Number of nodes in the canary wave of each promotion. The wave consists of the smallest whole rollout group with
    at least this number of nodes. With 0 there is no canary wave."""
    soak_minutes: int = Field(default=0, ge=0, le=10_080)
    """Minutes that the nodes of a wave must have been ready before the next wave starts."""


class HealthSpec(Spec):
    """Health checks of nodes. An unhealthy node is rebooted up to two times, then replaced."""

    node_startup_timeout_seconds: int = Field(default=3600, ge=1800, le=14400)
    """Seconds for a new machine to become a node, from the start of its provisioning. Upstream's ten minutes are too
    short for bare metal. In large pools, the queueing time of machines is added."""
    unhealthy_timeout_seconds: int = Field(default=900, ge=60, le=3600)
    """Seconds that a node may be not ready before it counts as unhealthy. The minimum is 900 for nodes with GPUs,
    because their jobs survive the restart of a switch."""
    max_unhealthy: PercentOrCount = "20%"
    """Maximum share of unhealthy nodes in each rollout group, rounded down to at least one node; above it, no node of
    the group is remediated. The number of spare hosts limits it further, to at least one node. 0 disables
    remediation."""
    max_replacements: int | None = Field(default=None, ge=1, le=5000)
    """Maximum number of unhealthy nodes in each rollout group that are replaced simultaneously, after reboots have not
    repaired them. By default the larger of the numbers for ``rollout.max_unavailable`` and ``rollout.surge``."""
    burn_in: BurnIn = BurnIn.NONE
    """Burn-in of new nodes. ``gated`` makes every node of a running pool unavailable until its condition is set. The
    controller must therefore set the conditions first."""
    min_ready_seconds: int = Field(default=0, ge=0, le=86_400)
    """Seconds that a new node must be ready before it counts as available and the rollout continues."""


class NodePoolSpec(CheckedSpec):
    """Pool of identical nodes, without settings for individual nodes. Nodes that differ need separate pools."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [{"required": ["nodes"]}, {"required": ["racks"]}]})

    name: ShortName
    """Name of the pool, unique in its cluster. A new name means a new pool with new nodes."""
    instance_type: Label
    """Instance type of all nodes, an entry of ``catalog/instance_types.yaml``."""
    nodes: int | None = Field(default=None, ge=1, le=5000)
    """Number of running machines, without spares; not allowed with ``racks``. With ``autoscaling`` it is only used for
    planning."""
    racks: int | None = Field(default=None, ge=1, le=500)
    """Number of whole NVLink domains, instead of ``nodes``; for instance types with ``scale: rack`` only."""
    min_nodes: int | None = Field(default=None, ge=0, le=5000)
    """Minimum number of running nodes; required with ``autoscaling``."""
    max_nodes: int | None = Field(default=None, ge=1, le=5000)
    """Maximum number of running nodes, for which hosts are assigned; required with ``autoscaling``."""
    autoscaling: bool = False
    """Whether the cluster autoscaler scales the pool between ``min_nodes`` and ``max_nodes``."""
    scale_down: ScaleDown = ScaleDown.PREFER_IDLE
    """Selection of nodes for removal when the pool shrinks, and whether they wait for their jobs."""
    role: PoolRole = PoolRole.WORKER
    """Role of the pool: jobs of the tenant, or services of the cluster. Nodes with role ``system`` get a label."""
    spares: PercentOrCount | None = None
    """Spare hosts per failure domain; the value of the region by default."""
    image: Literal["channel"] | VersionName = "channel"
    """Version of a golden image, or ``channel`` for the version that the region's channel offers at the time of the
    promotion."""
    labels: dict[NodeLabelKey, LabelValue] = Field(default_factory=dict)
    """Labels of the pool's Nodes. A key without a domain gets the prefix ``node.cluster.x-k8s.io/``. Other domains are
    limited to those whose labels Cluster API copies to Nodes."""
    annotations: dict[QualifiedName, AnnotationText] = Field(default_factory=dict)
    """Annotations of the pool's Machines."""
    taints: tuple[TaintSpec, ...] = ()
    """Taints of nodes, applied only when nodes join."""
    gpu_sharing: GpuSharingSpec | None = None
    """GPU sharing of the pool, applied by the next promotion. By default each GPU is used by one pod."""
    rollout: RolloutSpec = RolloutSpec.defaults()
    """Rollout settings of the pool for new images."""
    health: HealthSpec = HealthSpec.defaults()
    """Health checks of the pool's nodes."""
    retire: bool = False
    """Whether the pool is being retired, the first of two steps of its removal. A retired pool has no nodes, for all
    values of its size."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield contradictory sizes, and a drain timeout in a pool whose nodes wait for jobs."""
        yield from self._sizes()
        waiting = {
            f"strategy: {RolloutStrategy.IDLE}": self.rollout.strategy is RolloutStrategy.IDLE,
            f"scale_down: {ScaleDown.IDLE_ONLY}": self.scale_down is ScaleDown.IDLE_ONLY,
        }
        if any(waiting.values()) and "drain_timeout_seconds" in self.rollout.model_fields_set:
            settings = " and ".join(text for text, waits in waiting.items() if waits)
            text = f"contradicts {settings}, which waits for jobs without a time limit; remove it, or remove {settings}"
            yield ConstraintViolation(text, ("rollout", "drain_timeout_seconds"), self.rollout.drain_timeout_seconds)

    def _sizes(self) -> Iterator[ConstraintViolation]:
        if (self.nodes is None) == (self.racks is None):
            sizes = "neither nodes nor racks" if self.nodes is None else "both nodes and racks"
            yield ConstraintViolation(f"has {sizes}; write one of the two")
        for name in ("min_nodes", "max_nodes") if self.autoscaling else ():
            if getattr(self, name) is None:
                known = name == "max_nodes" and isinstance(self.nodes, int)
                remedy = f"write max_nodes: {self.nodes} or more" if known else "add it"
                yield ConstraintViolation(f"is required with autoscaling; {remedy}", (name,))
        ladder = [(name, getattr(self, name)) for name in ("min_nodes", "nodes", "max_nodes")]
        for (low, least), (high, most) in pairwise((name, count) for name, count in ladder if count is not None):
            if least > most:
                text = f"must be at most {most}, the pool's {high}; write {most} or less, or raise {high}"
                yield ConstraintViolation(text, (low,), least)
