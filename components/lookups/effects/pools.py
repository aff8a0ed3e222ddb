"""What a change of a pool does to its nodes, read off its objects by the table of effects."""

from __future__ import annotations

from collections.abc import Iterable

from components.lookups.effects.changes import changes, kind_of, worst
from components.lookups.effects.effect import Effect, worst_of
from components.lookups.effects.table import CREATED, DELETED
from components.render.manifest import Manifest

GROUP = "cluster.x-k8s.io/MachineDeployment"
"""The kind that a rollout group is."""


def effect(before: Iterable[Manifest], after: Iterable[Manifest]) -> Effect:
    """Return the worst that becoming ``after`` does to the nodes of a pool whose objects are ``before``.

    Groups that come while others go have the same nodes under another name or elsewhere, which replaces them. Where
    some groups stay, a pool is only of another size.
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
