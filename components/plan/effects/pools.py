"""What a change of a pool does to its nodes: the table of our own fields, and the same answer read off objects.

Tests change each field, and back, and compare this table with rendered objects, judged by the table of effects, and
with what Cluster API's own controller does to them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from components.plan.effects.changes import changes, kind_of, worst
from components.plan.effects.effect import Effect
from components.plan.effects.table import CREATED, DELETED
from components.render.manifest import Manifest

GROUP = "cluster.x-k8s.io/MachineDeployment"
"""The kind that a rollout group is."""
FIELDS: Mapping[str, Effect] = {
    "name": Effect.REPLACED,
    "instance_type": Effect.REPLACED,
    "nodes": Effect.SCALES,
    "racks": Effect.SCALES,
    "min_nodes": Effect.SCALES,
    "max_nodes": Effect.SCALES,
    "autoscaling": Effect.SCALES,
    "scale_down": Effect.IN_PLACE,
    "role": Effect.IN_PLACE,
    "spares": Effect.NONE,
    "image": Effect.NONE,
    "labels": Effect.IN_PLACE,
    "annotations": Effect.IN_PLACE,
    "taints": Effect.NONE,
    "rollout.strategy": Effect.IN_PLACE,
    "rollout.max_unavailable": Effect.IN_PLACE,
    "rollout.surge": Effect.IN_PLACE,
    "rollout.paused": Effect.IN_PLACE,
    "rollout.after": Effect.NONE,
    "rollout.drain_timeout_seconds": Effect.IN_PLACE,
    "rollout.canary": Effect.NONE,
    "rollout.soak_minutes": Effect.NONE,
    "health.node_startup_timeout_seconds": Effect.IN_PLACE,
    "health.unhealthy_timeout_seconds": Effect.IN_PLACE,
    "health.max_unhealthy": Effect.IN_PLACE,
    "health.burn_in": Effect.IN_PLACE,
    "health.min_ready_seconds": Effect.IN_PLACE,
}
"""Effect of an edit alone, by field of ``clusters[].pools[]``. What decides what a node is moves none by itself."""
PROMOTED: Mapping[str, Effect] = dict.fromkeys(("image", "taints", "rollout.after"), Effect.REPLACED)
"""Effect of a promotion after an edit, by the fields that only a promotion brings to nodes."""


def effect(before: Iterable[Manifest], after: Iterable[Manifest]) -> Effect:
    """Return the worst that becoming ``after`` does to the nodes of a pool whose objects are ``before``.

    Groups that come while others go have the same nodes under another name or elsewhere, which replaces them. Where
    some groups stay, a pool is only of another size.
    """
    before, after = tuple(before), tuple(after)
    found = list(changes(before, after))
    moved = {change.path for change in found if change.kind == GROUP} & {CREATED, DELETED}
    others = worst(change for change in found if change.kind != GROUP or change.path not in moved)
    return max(others, _effect_of_groups(moved, after), key=lambda effect: effect.severity)


def _effect_of_groups(moved: set[str], after: Iterable[Manifest]) -> Effect:
    if moved == {CREATED, DELETED}:
        return Effect.REPLACED
    if moved == {DELETED} and GROUP not in map(kind_of, after):
        return Effect.DELETED
    return Effect.SCALES if moved else Effect.NONE
