"""What Cluster API is told of a rollout: how many nodes go at once, in which window, and what a drain waits for."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

from components.render import labels as keys
from components.render.manifest import Manifest
from components.render.objects import given, manifest
from components.specs.node_pool import NodePoolSpec, RolloutStrategy, ScaleDown
from components.specs.times import WindowSpec

_JOB_LABELS = ("batch.kubernetes.io/job-name", "training.kubeflow.org/job-name")
"""Labels of pods that end by themselves; waiting for others would only run into the drain timeout."""


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


def drain_rules(
    name: str, namespace: str, pool: NodePoolSpec, selector: Mapping[str, str], labels: Mapping[str, str]
) -> tuple[Manifest, ...]:
    """Return what lets jobs end on nodes that go, unless the pool wants them drained at once."""
    waits = pool.rollout.strategy is RolloutStrategy.IDLE or pool.scale_down is ScaleDown.IDLE_ONLY
    if not waits:
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
                "pods": [
                    {"selector": {"matchExpressions": [{"key": key, "operator": "Exists"}, interruptible]}}
                    for key in _JOB_LABELS
                ],
            },
        ),
    )
