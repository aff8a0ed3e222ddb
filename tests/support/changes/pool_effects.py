"""Effect of a change of each pool field on the nodes: the table of docs/pools/node-pool.md as data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from components.lookups.effects.changes import ROLLOUT_GROUP, changes, kind_of, worst
from components.lookups.effects.effect import Effect, worst_of
from components.lookups.effects.table import CREATED, DELETED
from components.render.manifest import Manifest

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
    "gpu_sharing": Effect.NONE,
    "rollout.strategy": Effect.IN_PLACE,
    "rollout.max_unavailable": Effect.IN_PLACE,
    "rollout.surge": Effect.IN_PLACE,
    "rollout.paused": Effect.IN_PLACE,
    "rollout.after": Effect.NONE,
    "rollout.drain_timeout_seconds": Effect.IN_PLACE,
    "rollout.detach_timeout_seconds": Effect.IN_PLACE,
    "rollout.canary": Effect.NONE,
    "rollout.soak_minutes": Effect.NONE,
    "health.node_startup_timeout_seconds": Effect.IN_PLACE,
    "health.unhealthy_timeout_seconds": Effect.IN_PLACE,
    "health.max_unhealthy": Effect.IN_PLACE,
    "health.max_replacements": Effect.IN_PLACE,
    "health.burn_in": Effect.IN_PLACE,
    "health.min_ready_seconds": Effect.IN_PLACE,
    "retire": Effect.SCALES,
}
"""Effect of an edit alone, by field of ``clusters[].pools[]``.

Fields of the node intent have none without a promotion.
"""
PROMOTED: Mapping[str, Effect] = dict.fromkeys(("image", "taints", "gpu_sharing", "rollout.after"), Effect.REPLACED)
"""Effect of a promotion after an edit, by the fields that only a promotion applies to nodes."""
WITH_PROMOTION: Mapping[str, Effect] = {**FIELDS, **PROMOTED}
"""Effect of an edit, including the promotion if one is required, by field."""
REVERTED: Mapping[str, Effect] = {**WITH_PROMOTION, "rollout.after": Effect.IN_PLACE}
"""Effect of reverting an edit, by field. Nodes are already newer than a removed ``rollout.after``."""


def effect_on_nodes(before: Iterable[Manifest], after: Iterable[Manifest]) -> Effect:
    """Return the worst effect on the nodes of a pool when its objects change from ``before`` to ``after``.

    If groups are created and all others deleted, the nodes move to another name or domain, which replaces them. If some
    groups stay, the pool only changes its size.
    """
    before, after = tuple(before), tuple(after)
    found = list(changes(before, after))
    moved = {change.path for change in found if change.kind == ROLLOUT_GROUP} & {CREATED, DELETED}
    others = worst(change for change in found if change.kind != ROLLOUT_GROUP or change.path not in moved)
    return worst_of((others, _effect_of_groups(moved, after)))


def _effect_of_groups(moved: set[str], after: Iterable[Manifest]) -> Effect:
    if moved == {CREATED, DELETED}:
        return Effect.REPLACED
    if moved == {DELETED} and ROLLOUT_GROUP not in map(kind_of, after):
        return Effect.DELETED
    return Effect.SCALES if moved else Effect.NONE
