"""Effect of a change of a pool on its nodes, from its objects and the table of effects."""

from __future__ import annotations

from collections.abc import Iterable

from components.lookups.effects.changes import changes, kind_of, worst
from components.lookups.effects.effect import Effect, worst_of
from components.lookups.effects.table import CREATED, DELETED
from components.render.manifest import Manifest

GROUP = "cluster.x-k8s.io/MachineDeployment"
"""Kind of a rollout group."""


def effect(before: Iterable[Manifest], after: Iterable[Manifest]) -> Effect:
    """Return the worst effect on the nodes of a pool when its objects change from ``before`` to ``after``.

    If groups are created and all others deleted, the nodes move to another name or domain, which replaces them. If some
    groups stay, the pool only changes its size.
    """
    before, after = tuple(before), tuple(after)
    found = list(changes(before, after))
    moved = {change.path for change in found if change.kind == GROUP} & {CREATED, DELETED}
    others = worst(change for change in found if change.kind != GROUP or change.path not in moved)
    return worst_of((others, _effect_of_groups(moved, after)))


def _effect_of_groups(moved: set[str], after: Iterable[Manifest]) -> Effect:
    if moved == {CREATED, DELETED}:
        return Effect.REPLACED
    if moved == {DELETED} and GROUP not in map(kind_of, after):
        return Effect.DELETED
    return Effect.SCALES if moved else Effect.NONE
