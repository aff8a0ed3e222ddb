"""Rollout settings of Cluster API: surge and unavailability limits, maintenance window and drain rules."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from components.render import labels as keys
from components.render.manifest import Manifest
from components.render.objects import given, manifest
from components.specs.pools.node_pool import NodePoolSpec, RolloutStrategy, ScaleDown
from components.specs.times import WindowSpec

_JOBS: tuple[tuple[dict[str, Any], ...], ...] = (
    ({"key": "batch.kubernetes.io/job-name", "operator": "Exists"},),
    ({"key": "training.kubeflow.org/job-name", "operator": "Exists"},),
    ({"key": "ray.io/cluster", "operator": "Exists"}, {"key": "ray.io/serve", "operator": "DoesNotExist"}),
    ({"key": "nodeset.slinky.slurm.net/pod-protect", "operator": "In", "values": ["true"]},),
)
"""Label selectors of pods of finite jobs. Pods of services are excluded, since drains would wait for services forever.

Included are Job and controllers that create Jobs (CronJob, JobSet); Kubeflow's trainer and MPI operator, launcher and
workers; Ray except RayService (ray-project/kuberay:ray-operator/controllers/ray/common/pod.go); and Slurm nodes with
running jobs. The Slurm operator labels the pods of these nodes, and removes the label after the last job
(SlinkyProject/slurm-operator:internal/controller/nodeset/nodeset_sync_status.go). Excluded are LeaderWorkerSet, which
runs services, and VMs, which KubeVirt migrates on eviction.
"""


def rollout_section(max_surge: int, max_unavailable: int, after: dt.datetime | None) -> dict[str, Any]:
    """Return ``spec.rollout`` of a MachineDeployment. Nodes older than ``after`` are replaced."""
    return {
        **given(after=after and f"{after.astimezone(dt.UTC):%Y-%m-%dT%H:%M:%SZ}"),
        "strategy": {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxSurge": max_surge, "maxUnavailable": max_unavailable},
        },
    }


def window_text(window: WindowSpec) -> str:
    """Return ``window`` as a single line, such as ``tue,thu 02:00-06:00 America/New_York``."""
    return f"{','.join(window.days)} {window.from_:%H:%M}-{window.to:%H:%M} {window.timezone}"


def opening_text(window: WindowSpec) -> str:
    """Return the opening times of ``window``, such as ``tue,thu 02:00 America/New_York``."""
    return f"{','.join(window.days)} {window.from_:%H:%M} {window.timezone}"


def waits_for_jobs(pool: NodePoolSpec) -> bool:
    """Return whether the drain of nodes of ``pool`` waits until their jobs have finished."""
    return pool.rollout.strategy is RolloutStrategy.IDLE or pool.scale_down is ScaleDown.IDLE_ONLY


def drain_limit_seconds(pool: NodePoolSpec) -> int | None:
    """Return the maximum duration of a node's drain in seconds; None if the drain waits for jobs."""
    return None if waits_for_jobs(pool) else pool.rollout.drain_timeout_seconds


def drain_rules(
    name: str, namespace: str, pool: NodePoolSpec, selector: Mapping[str, str], labels: Mapping[str, str]
) -> tuple[Manifest, ...]:
    """Return the drain rule that waits for jobs; nothing if nodes of the pool are drained immediately."""
    if not waits_for_jobs(pool):
        return ()
    interruptible = {"key": keys.INTERRUPTIBLE, "operator": "NotIn", "values": ["true"]}
    return (
        manifest(
            "cluster.x-k8s.io/v1beta2",
            "MachineDrainRule",
            name,
            namespace=namespace,
            labels=labels,
            spec={
                "drain": {"behavior": "WaitCompleted"},
                "machines": [{"selector": {"matchLabels": dict(selector)}}],
                "pods": [{"selector": {"matchExpressions": [*job, interruptible]}} for job in _JOBS],
            },
        ),
    )
