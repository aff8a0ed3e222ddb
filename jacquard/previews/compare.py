"""Compares a base with a head: what changes in objects, what that does, to whom, and which edit did it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from components.lookups.effects.changes import Change, changes
from components.lookups.effects.effect import Effect, Subject, When, worst_of
from components.reports.images import all_behind
from components.reports.moved_charts import moved_charts
from components.specs.environment import Environment
from components.specs.keys import DPUS, is_about_dpus
from jacquard.previews.attestations.approvals import agreed
from jacquard.previews.impacts.causes import Causes
from jacquard.previews.impacts.edits import Edit
from jacquard.previews.impacts.head_only import Alone
from jacquard.previews.impacts.impact import Forced, Impact, Lost, Row, StillBehind, Upgraded
from jacquard.previews.impacts.nodes import Nodes
from jacquard.previews.impacts.rows import Rows
from jacquard.previews.impacts.scopes import Scopes
from jacquard.previews.impacts.tenants import tenants
from jacquard.previews.snapshots import Part, Side

_POOL = "NodePoolInput"
_UNDECIDED = Row(
    falls_on=Subject.PLATFORM,
    part="everything",
    tenant=None,
    effect=Effect.UNKNOWN,
    when=When.AT_ONCE,
    count=None,
    gpus=None,
    forced_by=(
        Forced(
            kind="jacquard",
            path="components",
            effect=Effect.UNKNOWN,
            objects=0,
            first="every object",
            why="Jacquard is another one than in the base, which could not be asked what it rendered; both sides are "
            "compared as this one renders them.",
            source=None,
        ),
    ),
    causes=(),
)
"""What is said where nobody knows what the base was rendered to."""


def impact(
    base: Side,
    head: Side,
    edits: Sequence[Edit],
    *,
    names: tuple[str, str],
    now: dt.datetime,
    alone: Alone | None,
    undecided: bool = False,
) -> Impact:
    """Return what becoming ``head`` does to the region that is ``base``.

    Args:
        base: the region as it was.
        head: the region as it will be.
        edits: what was edited in its files.
        names: what base and head are called.
        now: the moment from which on freezes count.
        alone: tries edits one at a time; None where Jacquard itself is another, so that edits are not all there is.
        undecided: whether Jacquard is another and that of the base could not say what it rendered.
    """
    environments = base.environment, head.environment
    rows = Rows(*environments, Causes(Scopes(*environments), edits, alone))
    nodes = Nodes(*environments, rows)
    made = [_UNDECIDED] if undecided else []
    gone: list[Lost] = []
    for part, found in _changed(base, head):
        made += (nodes.of_pool if part.key[1] == _POOL else rows.of_part)(part, found)
        gone += rows.lost(part, found)
    made.sort(key=lambda row: (-row.effect.severity, row.falls_on, row.part))
    concerned = tenants(*environments, made, now)
    return Impact(
        environment=head.environment.name,
        base=names[0],
        head=names[1],
        effect=worst_of(row.effect for row in made),
        edits=len(edits),
        code=alone is None or undecided,
        rows=tuple(made),
        lost=tuple(gone),
        behind=_behind(*environments),
        charts=tuple(Upgraded(**asdict(one), told=str(one)) for one in moved_charts(*environments)),
        tenants=tuple(
            agreed(concerned, made, gone, head.environment.approvals.approvals, now.astimezone(dt.UTC).date())
        ),
    )


def _changed(base: Side, head: Side) -> Iterator[tuple[Part, list[Change]]]:
    """Yield the components that are not the same on both sides, with what changes in their objects."""
    for key in dict.fromkeys((*head.parts, *base.parts)):
        was, will = base.parts.get(key), head.parts.get(key)
        if was and will and was.concept == will.concept:
            continue
        found = list(changes(was.objects() if was else (), will.objects() if will else ()))
        part = will or was
        if found and part:
            yield part, found


def _behind(base: Environment, head: Environment) -> tuple[StillBehind, ...]:
    before = {item.pool: {one.field for one in item.differences} for item in all_behind(base)}
    return tuple(
        StillBehind(
            pool=item.pool,
            fields=tuple(one.field for one in item.differences),
            new=bool({one.field for one in item.differences} - before.get(item.pool, set())),
            command=_promotion(head.name, item.pool),
        )
        for item in all_behind(head)
        if item.differences
    )


def _promotion(environment: str, pool: str) -> str:
    return f"jacquard promote {environment} {DPUS if is_about_dpus(pool) else pool} --to data"
