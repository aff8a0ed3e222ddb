"""Impact of a change as text: verdict, table of affected parts, causes and lists."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from components.lookups.effects.effect import Effect, Subject
from components.specs.keys import pool_of
from components.specs.reading.problems import listed
from jacquard.cli.console import long_duration, plural
from jacquard.cli.tables import plain_table
from jacquard.cli.views.changes import impact_lists
from jacquard.cli.views.changes.impact_causes import causes
from jacquard.cli.views.changes.impact_verdict import verdict
from jacquard.cli.views.changes.values import VALUE
from jacquard.previews.impacts.impact import DISRUPTIVE, Forced, Impact, Release, Roll, Row
from jacquard.previews.impacts.machines import MACHINES
from jacquard.previews.impacts.verdict import rejected

_COLOURS = dict.fromkeys((*DISRUPTIVE, Effect.REFUSED), "red") | {Effect.UNKNOWN: "magenta"}
COLUMNS = (
    "effect",
    "on",
    "part",
    "tenant",
    "when",
    "count",
    "GPUs",
    "unavailable",
    "spares left",
    "duration",
    "occupied",
)
NUMBERS = COLUMNS[5:]
_ALWAYS = COLUMNS[:3]
_EMPTY = {"occupied": ("-", "unknown")}
"""Cells without information, by column; ``-`` in other columns."""
_MOST_REASONS = 3
_MOST_NAMES = 3
_MOST_PARTS = 12
"""Maximum number of parts that are shown one by one; beyond it, parts with equal effects and reasons are one."""


def lines(impact: Impact, now: dt.datetime | None = None) -> Iterator[RenderableType]:
    """Yield the text output; ``now`` is the time for the age of facts; None omits the age."""
    yield Text(f"{impact.environment}: {impact.base} -> {impact.head}", "bold")
    for sentence in verdict(impact, now):
        yield Text(f"  {sentence}")
    affected = alike(impact.rows)
    if affected:
        yield ""
        yield _table(affected)
    for part in explained(affected):
        yield from reasons(part)
    tenant_lines = list(impact_lists.tenants(impact))
    if tenant_lines:
        yield Text("")
        yield Text("tenants:")
    yield from (Text(f"  {line}") for line in tenant_lines)
    yield from impact_lists.checks(impact)
    yield from impact_lists.charts(impact)
    yield from impact_lists.thresholds(impact)
    yield from impact_lists.templates(impact)
    yield from impact_lists.pulls(impact)
    yield from impact_lists.lost(impact)
    yield from impact_lists.behind(impact)
    yield from impact_lists.elsewhere(impact)
    yield from impact_lists.warnings(impact)


def next_steps(impact: Impact) -> Iterator[Text]:
    """Yield the command that follows the review of a change: a missing approval, or the preview.

    Without a change, or if the change would be rejected, no command follows.
    """
    if (impact.edits or impact.rows) and not rejected(impact):
        missing = [tenant.tenant for tenant in impact.tenants if tenant.missing]
        step = f"approve {impact.environment} {missing[0]}" if missing else f"preview {impact.environment}"
        yield Text("")
        yield Text(f"next: jacquard {step} --base {impact.base}")


def parts(rows: Iterable[Row]) -> list[list[Row]]:
    """Return rows grouped by subject, effect and time: the groups of a pool, and parts with equal changes."""
    grouped: dict[object, list[Row]] = defaultdict(list)
    for row in rows:
        part = _part_of(row) if row.part != _part_of(row) else (row.part, row.tenant)
        grouped[part, row.falls_on, row.effect, row.when].append(row)
    equal: dict[object, list[Row]] = defaultdict(list)
    for key, same in grouped.items():
        equal[_reason(same) or key].extend(same)
    return list(equal.values())


def _reason(part: Sequence[Row]) -> object:
    """Return the common properties of parts with equal changes; None for machines, which are counted."""
    if part[0].falls_on in (Subject.NODES, *MACHINES):
        return None
    reasons = {(forced.kind, forced.path, forced.effect, forced.why) for row in part for forced in row.forced_by}
    causes = {cause for row in part for cause in row.causes}
    return part[0].falls_on, part[0].effect, part[0].when, frozenset(reasons), frozenset(causes)


def _part_of(row: Row) -> str:
    """Return the part of a row; the pool for a rollout group."""
    is_group = row.falls_on is Subject.NODES and row.part.count("/") > 1
    return pool_of(row.part) if is_group else row.part


def alike(rows: Iterable[Row]) -> list[list[Row]]:
    """Return rows grouped by part; if there are many parts, parts with equal effects and reasons form one group."""
    affected = parts(rows)
    if len(affected) <= _MOST_PARTS:
        return affected
    grouped: dict[object, list[Row]] = defaultdict(list)
    for part in affected:
        reasons = frozenset((forced.kind, forced.why) for row in part for forced in row.forced_by)
        grouped[part[0].falls_on, part[0].effect, part[0].when, reasons] += part
    return list(grouped.values())


def explained(affected: Iterable[Sequence[Row]]) -> list[list[Row]]:
    """Return parts to explain: rows of one part that differ only in tenant and numbers have one explanation."""
    equal: dict[object, list[Row]] = defaultdict(list)
    for part in affected:
        changes = frozenset((forced.kind, forced.path, forced.why) for row in part for forced in row.forced_by)
        causes = frozenset(cause for row in part for cause in row.causes)
        equal[_name(part), part[0].falls_on, part[0].effect, part[0].when, changes, causes] += part
    return list(equal.values())


def _name(part: Sequence[Row]) -> str:
    names = dict.fromkeys(map(_part_of, part))
    groups = dict.fromkeys(row.part for row in part)
    if len(names) > 1 or len(groups) == 1:
        return listed(names if len(names) > 1 else groups, _MOST_NAMES)
    return f"{next(iter(names))}, {len(groups)} groups"


def _table(affected: Sequence[Sequence[Row]]) -> Table:
    names, rows = table_of(affected)
    table = plain_table(*names, numbers=NUMBERS)
    for part, (effect, *others) in zip(affected, rows, strict=True):
        table.add_row(Text(effect, _COLOURS.get(part[0].effect, "")), *others)
    return table


def table_of(affected: Iterable[Sequence[Row]]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the columns and rows of the table of parts; columns without information are omitted."""
    rows = [cells(part) for part in affected]
    kept = [
        index
        for index, name in enumerate(COLUMNS)
        if name in _ALWAYS or any(row[index] not in _EMPTY.get(name, ("-",)) for row in rows)
    ]
    return tuple(COLUMNS[index] for index in kept), [tuple(row[index] for index in kept) for row in rows]


def cells(part: Sequence[Row]) -> tuple[str, ...]:
    """Return the cells of one part, in the order of `COLUMNS`."""
    first, gpus = part[0], sum(row.gpus or 0 for row in part)
    rolls = _rolls([timed for row in part if (timed := row.roll or row.release)])
    tenants = listed(dict.fromkeys(row.tenant or "-" for row in part), _MOST_NAMES)
    labels = (first.effect, first.falls_on, _name(part), tenants, first.when)
    return (*labels, _count(part), str(gpus) if gpus else "-", *rolls, cell(part))


def _count(part: Sequence[Row]) -> str:
    if any(row.change is not None for row in part):
        return f"{sum(row.change or 0 for row in part):+d}"
    if all(row.count is None for row in part):
        return "?" if part[0].effect is Effect.UNKNOWN else "-"
    return str(sum(row.count or 0 for row in part))


def _rolls(rolls: Sequence[Roll | Release]) -> tuple[str, str, str]:
    """Return the unavailable nodes, the spares of the group closest to its minimum, and the duration."""
    if not rolls:
        return "-", "-", "-"
    away = str(sum(roll.out_at_once for roll in rolls))
    known = [roll.minutes for roll in rolls if roll.minutes is not None]
    if len(known) < len(rolls):
        return away, _spares(rolls), "unknown"
    return away, _spares(rolls), long_duration(max(known))


def _spares(rolls: Sequence[Roll | Release]) -> str:
    groups = [roll for roll in rolls if isinstance(roll, Roll)]
    if not groups:
        return "-"
    least = min(groups, key=lambda roll: roll.spares_left - roll.spares_floor)
    return f"{least.spares_left} of {least.spares_floor}"


def _bound(part: Sequence[Row]) -> Iterator[Text]:
    """Yield the maximum duration of the rollouts of a part; nothing without rollouts of a known duration."""
    rolls = [row.roll for row in part if row.roll and row.roll.minutes is not None]
    longest = [roll.minutes_most for roll in rolls if roll.minutes_most is not None]
    if rolls and len(longest) == len(rolls):
        yield Text(f"  duration: at most {long_duration(max(longest))}, if each drain takes its maximum time")
    elif rolls:
        yield Text("  duration: plus the time until running jobs end")


def reasons(part: Sequence[Row]) -> Iterator[Text]:
    """Yield the causes of a part's effects, and the changed fields of objects with their effects."""
    yield Text("")
    yield Text(f"{_name(part)}: {part[0].falls_on}", "bold")
    yield from _bound(part)
    yield from (Text("  ").append_text(line) for line in causes(part))
    by_reason: dict[tuple[Effect, str, str], list[Forced]] = defaultdict(list)
    for forced in (change for row in part for change in row.forced_by):
        by_reason[forced.effect, forced.kind.rpartition("/")[2], forced.why].append(forced)
    for (effect, kind, why), changes in list(by_reason.items())[:_MOST_REASONS]:
        paths = listed(dict.fromkeys(change.path for change in changes), _MOST_REASONS)
        first = (changes[0].first, VALUE)
        yield Text.assemble(f"  {effect}: ", (kind, VALUE), " ", (paths, VALUE), ", such as ", first)
        yield Text(f"    {why}")
    if len(by_reason) > _MOST_REASONS:
        yield Text(f"  and {plural(len(by_reason) - _MOST_REASONS, 'less severe reason')}")


def cell(part: Sequence[Row]) -> str:
    """Return the number of occupied nodes of a part, with a ``+`` if the number may be too low."""
    known = [row.occupancy for row in part if row.occupancy]
    nodes = sum(item.nodes for occupancy in known for item in occupancy.tenants)
    if not known:
        return "-"
    if not any(occupancy.unknown for occupancy in known):
        return str(nodes)
    return f"{nodes}+" if nodes else "unknown"
