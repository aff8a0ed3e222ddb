"""Comparison of a base with a head: changes of objects, their effects, affected tenants, and causing edits."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator, Sequence

from components.intents.pins import pinned
from components.intents.revisions import improvements
from components.lookups.effects.changes import Change, changes
from components.lookups.effects.effect import Effect, Subject, When, worst_of
from components.reports.moved_charts import moved_charts
from components.reports.pull_paths import moved_pulls
from components.specs.environment import Environment
from components.specs.keys import DPUS, pool_of, refers_to_dpus
from components.specs.pools.intents import Intent
from components.specs.region.thresholds import THRESHOLDS
from components.specs.struct import asdict
from jacquard.previews.attestations.approvals import agreed
from jacquard.previews.impacts.causes import Causes
from jacquard.previews.impacts.checked_nodes import ChangedThreshold
from jacquard.previews.impacts.edit_groups import edit_groups
from jacquard.previews.impacts.edits import Edit
from jacquard.previews.impacts.gpus import without_gpus
from jacquard.previews.impacts.impact import Forced, Impact, Lost, NewTemplates, Row, Upgraded
from jacquard.previews.impacts.machines import Machines
from jacquard.previews.impacts.nodes import Nodes
from jacquard.previews.impacts.pending import pending
from jacquard.previews.impacts.refined import Refinement
from jacquard.previews.impacts.region import moved_region
from jacquard.previews.impacts.rows import Rows
from jacquard.previews.impacts.scopes import Scopes
from jacquard.previews.impacts.tenants import tenants
from jacquard.previews.impacts.totals import totals
from jacquard.previews.impacts.trials import Trials
from jacquard.previews.impacts.users import Users
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
            why="The base uses another version of Jacquard, which cannot render here; both sides are rendered "
            "by this version.",
            source=None,
        ),
    ),
    causes=(),
)
"""Row of the impact if the rendered objects of the base are unknown."""


def impact(
    base: Side,
    head: Side,
    edits: Sequence[Edit],
    *,
    names: tuple[str, str],
    now: dt.datetime,
    trials: Trials | None,
    undecided: bool = False,
) -> Impact:
    """Return the impact of the change from ``base`` to ``head`` on the region.

    Args:
        base: region before the change.
        head: region after the change.
        edits: edits of data files.
        names: names of base and head.
        now: time from which freezes are considered.
        trials: trials of edits; None if the code of Jacquard differs, because edits are then not the only cause.
        undecided: whether the code of Jacquard differs, and the code of the base could not render the base.
    """
    environments = base.environment, head.environment
    machines = Machines(*environments)
    refinement = Refinement(*environments, machines)
    scopes = Scopes(*environments)
    causes = Causes(scopes, edit_groups(*environments, edits, scopes), trials)
    rows = Rows(*environments, causes, machines)
    nodes = Nodes(*environments, rows)
    users = Users(*environments)
    affected = [*([_UNDECIDED] if undecided else []), *moved_region(*environments, edits)]
    lost: list[Lost] = []
    for part, part_changes in _changed(base, head):
        refined = list(refinement.of(part.about, part_changes))
        if part.key[1] == _POOL:
            affected += nodes.of_pool(part, refined)
        else:
            for owner, tenant, same in users.by_cluster(part, refined):
                affected += rows.of_part(owner, same, tenant)
        lost += rows.lost(part, part_changes)
    affected.sort(key=lambda row: (-row.effect.severity, row.falls_on, row.part))
    affected_tenants = tenants(*environments, affected, now)
    return Impact(
        environment=head.environment.name,
        base=names[0],
        head=names[1],
        effect=worst_of(row.effect for row in affected),
        edits=len(edits),
        code=trials is None or undecided,
        rows=tuple(affected),
        totals=totals(head.environment, affected, machines),
        lost=tuple(lost),
        behind=tuple(pending(*environments)),
        charts=tuple(Upgraded(**asdict(chart), told=str(chart)) for chart in moved_charts(*environments)),
        thresholds=tuple(_changed_thresholds(*environments)),
        templates=tuple(_new_templates(*environments)),
        pulls=tuple(moved_pulls(*environments)),
        without_gpus=tuple(without_gpus(*environments, machines)),
        tenants=tuple(
            agreed(
                affected_tenants,
                affected,
                lost,
                head.environment.approvals.approvals,
                now.astimezone(dt.UTC).date(),
            )
        ),
    )


def _changed_thresholds(base: Environment, head: Environment) -> Iterator[ChangedThreshold]:
    """Yield the alerts whose thresholds differ between both sides."""
    for alert, limit in THRESHOLDS.items():
        before, after = (side.region.thresholds.of(alert) for side in (base, head))
        if before != after:
            yield ChangedThreshold(alert=alert.value, before=before, after=after, unit=limit.unit)


def _changed(base: Side, head: Side) -> Iterator[tuple[Part, list[Change]]]:
    """Yield the components that differ between both sides, with the changes of their objects."""
    for key in dict.fromkeys((*head.parts, *base.parts)):
        was, will = base.parts.get(key), head.parts.get(key)
        if was and will and was.concept == will.concept:
            continue
        part_changes = list(changes(was.objects() if was else (), will.objects() if will else ()))
        part = will or was
        if part_changes and part:
            yield part, part_changes


def _new_templates(base: Environment, head: Environment) -> Iterator[NewTemplates]:
    """Yield the pools, and the DPUs, whose rollout groups have another template revision in the head."""
    was, will = pinned(base.image_pins), pinned(head.image_pins)
    moved: dict[str, list[tuple[Intent, Intent]]] = defaultdict(list)
    for key, intent in will.items():
        if key in was and was[key].revision != intent.revision:
            moved[DPUS if refers_to_dpus(key) else pool_of(key)].append((was[key], intent))
    for pool, pairs in moved.items():
        before, after = min(old.revision for old, _ in pairs), max(new.revision for _, new in pairs)
        texts = tuple(str(item) for item in improvements(old for old, _ in pairs) if item.revision <= after)
        yield NewTemplates(pool=pool, before=before, after=after, groups=len(pairs), improvements=texts)
