"""What a change of a pool does to its nodes: the table for people and reviews, and the same answer read off objects.

Cluster API replaces a Machine for five fields of its MachineDeployment and for nothing else; all other changes reach
Machines and Nodes where they are. The table says it of our fields. Tests change each of them, and back, and compare it
with rendered objects and with what Cluster API's own controller does to them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from components.render.manifest import Json, Manifest

DEPLOYMENT = "MachineDeployment"


class Effect(StrEnum):
    """What becomes of the nodes of a pool, from the worst."""

    REPLACES = "replaces"
    """Nodes are drained and made anew."""
    SCALES = "scales"
    """Nodes come, or surplus ones go; the others stay."""
    IN_PLACE = "in place"
    """Nodes stay, and what is around them changes."""
    NOTHING = "nothing"
    """No object of the pool changes. Hosts may be assigned, or a later command behaves differently."""


FIELDS: Mapping[str, Effect] = {
    "name": Effect.REPLACES,
    "instance_type": Effect.REPLACES,
    "nodes": Effect.SCALES,
    "racks": Effect.SCALES,
    "min_nodes": Effect.SCALES,
    "max_nodes": Effect.SCALES,
    "autoscaling": Effect.SCALES,
    "scale_down": Effect.IN_PLACE,
    "role": Effect.IN_PLACE,
    "spares": Effect.NOTHING,
    "image": Effect.NOTHING,
    "labels": Effect.IN_PLACE,
    "annotations": Effect.IN_PLACE,
    "taints": Effect.REPLACES,
    "rollout.strategy": Effect.IN_PLACE,
    "rollout.max_unavailable": Effect.IN_PLACE,
    "rollout.surge": Effect.IN_PLACE,
    "rollout.paused": Effect.IN_PLACE,
    "rollout.after": Effect.REPLACES,
    "rollout.drain_timeout_seconds": Effect.IN_PLACE,
    "rollout.canary": Effect.NOTHING,
    "rollout.soak_minutes": Effect.NOTHING,
    "health.node_startup_timeout_seconds": Effect.IN_PLACE,
    "health.unhealthy_timeout_seconds": Effect.IN_PLACE,
    "health.max_unhealthy": Effect.IN_PLACE,
    "health.burn_in": Effect.IN_PLACE,
    "health.min_ready_seconds": Effect.IN_PLACE,
}
"""By field of ``clusters[].pools[]``. ``image`` moves no node by itself: ``jacquard promote`` moves the pins."""
REPLACING = (
    ("template", "spec", "version"),
    ("template", "spec", "failureDomain"),
    ("template", "spec", "bootstrap", "configRef"),
    ("template", "spec", "infrastructureRef"),
)
"""Fields of a MachineDeployment for which Cluster API makes Machines anew."""
_AFTER = ("rollout", "after")
"""As these, once it gets later: Machines made before this moment are made anew."""
_SIZES = (
    "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size",
    "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size",
)


def effect(before: Iterable[Manifest], after: Iterable[Manifest]) -> Effect:
    """Return the worst that becoming ``after`` does to the nodes of a pool that is ``before``."""
    old, new = ({item.key: item.body for item in items} for items in (before, after))
    was, will = ({key: body for key, body in side.items() if body["kind"] == DEPLOYMENT} for side in (old, new))
    stays, gone, coming = was.keys() & will.keys(), was.keys() - will.keys(), will.keys() - was.keys()
    if any(_is_anew(was[key]["spec"], will[key]["spec"]) for key in stays):
        return Effect.REPLACES
    if gone and coming:
        return Effect.REPLACES  # the same nodes elsewhere, or under another name
    if gone or coming or any(_size(was[key]) != _size(will[key]) for key in stays):
        return Effect.SCALES
    return Effect.NOTHING if old == new else Effect.IN_PLACE


def _is_anew(was: Json, will: Json) -> bool:
    if (_at(was, _AFTER) or "") < (_at(will, _AFTER) or ""):  # both in UTC to the second, so that text tells
        return True
    return any(_at(was, path) != _at(will, path) for path in REPLACING)


def _size(deployment: Json) -> tuple[Any, ...]:
    annotations = deployment["metadata"].get("annotations") or {}
    return (deployment["spec"].get("replicas"), *(annotations.get(key) for key in _SIZES))


def _at(content: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        content = content.get(key) if content else None
    return content
