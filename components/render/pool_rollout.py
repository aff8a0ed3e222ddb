"""How the nodes of a pool are replaced: whether new ones come first, how many at once, and what a drain waits for."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from components.render import labels as keys
from components.render.manifest import Manifest
from components.render.objects import given, manifest
from components.specs.base import limit_of
from components.specs.node_pool import NodePoolSpec, RolloutSpec, RolloutStrategy, ScaleDown
from components.specs.times import WindowSpec

_JOB_LABELS = ("batch.kubernetes.io/job-name", "training.kubeflow.org/job-name")
"""Labels of pods that end by themselves; waiting for others would only run into the drain timeout."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """How the nodes of one rollout group are replaced."""

    max_surge: int
    """Nodes that are made before old ones go; then none is away."""
    max_unavailable: int
    reason: str
    """Why so, for people."""


def replacement(rollout: RolloutSpec, nodes: int, spares: int) -> Replacement:
    """Return how the nodes of a group of ``nodes`` are replaced, with ``spares`` free hosts in its failure domain.

    A new node needs a free host that the group may claim; without one the roll would stand still for ever. Then old
    nodes go first, and their hosts are reused.
    """
    wanted, away = limit_of(rollout.surge, nodes), max(1, limit_of(rollout.max_unavailable, nodes))
    if surge := min(wanted, spares):
        short = f" of {wanted} that are asked for" if surge < wanted else ""
        reason = f"{surge}{short} at a time on new hosts first: the failure domain has {_hosts(spares)} to spare"
        return Replacement(max_surge=surge, max_unavailable=0, reason=reason)
    why = f"{wanted} first are asked for, but the failure domain has no host to spare" if wanted else "surge is 0"
    return Replacement(max_surge=0, max_unavailable=away, reason=f"{away} at a time on their own hosts: {why}")


def rollout_section(rollout: RolloutSpec, plan: Replacement) -> dict[str, Any]:
    """Return ``spec.rollout`` of a MachineDeployment."""
    return {
        **given(after=rollout.after and f"{rollout.after.astimezone(dt.UTC):%Y-%m-%dT%H:%M:%SZ}"),
        "strategy": {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxSurge": plan.max_surge, "maxUnavailable": plan.max_unavailable},
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


def _hosts(count: int) -> str:
    return "1 host" if count == 1 else f"{count} hosts"
