"""What Cluster API is told of a rollout: how many nodes go at once, in which window, and what a drain waits for."""

from __future__ import annotations

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
"""What tells pods that work on a job, which ends, from those that serve, for which a node would wait for ever.

Job and what makes Jobs (CronJob, JobSet); Kubeflow's trainer and MPI operator, launcher and workers; Ray, but for
RayService (ray-project/kuberay:ray-operator/controllers/ray/common/pod.go); Slurm's nodes while jobs run there, which
the operator labels (SlinkyProject/slurm-operator:internal/controller/nodeset/nodeset_sync_status.go) and whose label
goes with the last job. Not LeaderWorkerSet, which serves, nor VMs, which KubeVirt moves when they are evicted.
"""


def rollout_section(max_surge: int, max_unavailable: int, after: dt.datetime | None) -> dict[str, Any]:
    """Return ``spec.rollout`` of a MachineDeployment whose nodes older than ``after`` are made anew."""
    return {
        **given(after=after and f"{after.astimezone(dt.UTC):%Y-%m-%dT%H:%M:%SZ}"),
        "strategy": {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxSurge": max_surge, "maxUnavailable": max_unavailable},
        },
    }


def window_text(window: WindowSpec) -> str:
    """Return ``window`` in one line, ``tue,thu 02:00-06:00 America/New_York``."""
    return f"{','.join(window.days)} {window.from_:%H:%M}-{window.to:%H:%M} {window.timezone}"


def opening_text(window: WindowSpec) -> str:
    """Return when ``window`` opens, ``tue,thu 02:00 America/New_York``."""
    return f"{','.join(window.days)} {window.from_:%H:%M} {window.timezone}"


def waits_for_jobs(pool: NodePoolSpec) -> bool:
    """Tell whether nodes of ``pool`` that go wait until their jobs have ended."""
    return pool.rollout.strategy is RolloutStrategy.IDLE or pool.scale_down is ScaleDown.IDLE_ONLY


def drain_limit_seconds(pool: NodePoolSpec) -> int | None:
    """Return how many seconds a node may take to drain before it goes anyway; None where it waits for its jobs."""
    return None if waits_for_jobs(pool) else pool.rollout.drain_timeout_seconds


def drain_rules(
    name: str, namespace: str, pool: NodePoolSpec, selector: Mapping[str, str], labels: Mapping[str, str]
) -> tuple[Manifest, ...]:
    """Return what lets jobs end on nodes that go, unless the pool wants them drained at once."""
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
                "pods": [{"selector": {"matchExpressions": [*told_by, interruptible]}} for told_by in _JOBS],
            },
        ),
    )
