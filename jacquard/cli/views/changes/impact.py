"""Impact of a change as text: verdict, table of affected parts, causes and lists."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from components.lookups.effects.effect import Effect, Subject
from components.specs.keys import pool_of
from components.specs.reading.problems import listed, visible
from jacquard.cli.console import plural
from jacquard.cli.tables import plain_table
from jacquard.cli.views.changes import impact_lists
from jacquard.cli.views.changes.impact_causes import causes
from jacquard.cli.views.changes.values import VALUE
from jacquard.previews.impacts.impact import DISRUPTIVE, Forced, Impact, Occupancy, Roll, Row
from jacquard.previews.impacts.nodes import out_at_once
from jacquard.previews.impacts.occupancy import utc_text

_COLOURS = dict.fromkeys((*DISRUPTIVE, Effect.REFUSED), "red") | {Effect.UNKNOWN: "magenta"}
_LISTED = (Effect.UNKNOWN, Effect.REFUSED, *reversed(DISRUPTIVE), Effect.RESTARTED)
"""Effects that the verdict lists, worst first; scaling is reported separately."""
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
    "minutes",
    "occupied",
)
NUMBERS = COLUMNS[5:]
_ALWAYS = COLUMNS[:3]
_EMPTY = {"occupied": ("-", "unknown")}
"""Cells without information, by column; ``-`` in other columns."""
_MOST = 10
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
    for part in affected:
        yield from reasons(part)
    tenant_lines = list(impact_lists.tenants(impact))
    if tenant_lines:
        yield Text("")
        yield Text("tenants:")
    yield from (Text(f"  {line}") for line in tenant_lines)
    yield from impact_lists.charts(impact)
    yield from impact_lists.templates(impact)
    yield from impact_lists.pulls(impact)
    yield from impact_lists.lost(impact)
    yield from impact_lists.behind(impact)
    yield from impact_lists.elsewhere(impact)


def verdict(impact: Impact, now: dt.datetime | None = None) -> Iterator[str]:
    """Yield sentences with the effects on machines and other parts, worst first, then scaling and occupancy."""
    has_effects = False
    for effect in _LISTED:
        rows = [row for row in impact.rows if row.effect is effect]
        nodes = [row for row in rows if row.falls_on is Subject.NODES]
        others = [f"{row.falls_on} of {row.part}" for row in rows if row.falls_on is not Subject.NODES]
        if nodes:
            yield _of_nodes(effect, nodes)
        if others:
            yield f"{effect}: {listed(others, _MOST)}"
        has_effects = has_effects or bool(rows)
    if scaled := [row for row in impact.rows if row.change is not None]:
        yield _of_sizes(scaled)
    elif not has_effects:
        yield "no node, host or DPU is affected" if impact.rows else "no running workload is affected"
    if impact.occupancy:
        yield sentence(impact.occupancy, impact.facts_at, now)


def _of_nodes(effect: Effect, rows: list[Row]) -> str:
    pools = listed(dict.fromkeys(pool_of(row.part) or row.part for row in rows), _MOST)
    if effect is Effect.UNKNOWN:
        return f"unknown: effect on nodes of {pools}"
    count, gpus = sum(row.count or 0 for row in rows), sum(row.gpus or 0 for row in rows)
    away = f", at most {sum(out_at_once(rows).values())} unavailable at a time" if effect is Effect.REPLACED else ""
    with_gpus = f" ({plural(gpus, 'GPU')})" if gpus else ""
    return f"{effect}: {plural(count, 'node')}{with_gpus} of {pools}{away}"


def _of_sizes(rows: list[Row]) -> str:
    pools = listed(dict.fromkeys(pool_of(row.part) for row in rows), _MOST)
    added = sum(max(0, row.change or 0) for row in rows)
    removed = sum(max(0, -(row.change or 0)) for row in rows)
    moves = [f"{plural(added, 'node')} added"] * bool(added) + [f"{plural(removed, 'node')} removed"] * bool(removed)
    return f"scales: {' and '.join(moves) or 'autoscaling limits changed'} in {pools}"


def parts(rows: Iterable[Row]) -> list[list[Row]]:
    """Return rows grouped by part, subject, effect and time; the rollout groups of a pool form one part."""
    grouped: dict[object, list[Row]] = defaultdict(list)
    for row in rows:
        grouped[_part_of(row), row.falls_on, row.effect, row.when].append(row)
    return list(grouped.values())


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


def _name(part: Sequence[Row]) -> str:
    names = dict.fromkeys(map(_part_of, part))
    if len(names) > 1:
        return listed(names, _MOST_NAMES)
    return part[0].part if len(part) == 1 else f"{pool_of(part[0].part)}, {len(part)} groups"


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
    rolls = _rolls([row.roll for row in part if row.roll])
    tenants = listed(dict.fromkeys(row.tenant or "-" for row in part), _MOST_NAMES)
    labels = (first.effect, first.falls_on, _name(part), tenants, first.when)
    return (*labels, _count(part), str(gpus) if gpus else "-", *rolls, cell(part))


def _count(part: Sequence[Row]) -> str:
    if any(row.change is not None for row in part):
        return f"{sum(row.change or 0 for row in part):+d}"
    if all(row.count is None for row in part):
        return "?" if part[0].effect is Effect.UNKNOWN else "-"
    return str(sum(row.count or 0 for row in part))


def _rolls(rolls: Sequence[Roll]) -> tuple[str, str, str]:
    """Return the unavailable nodes, the spares of the group closest to its minimum, and the duration in minutes."""
    if not rolls:
        return "-", "-", "-"
    least = min(rolls, key=lambda roll: roll.spares_left - roll.spares_floor)
    timed = [(roll.minutes, roll.minutes_most) for roll in rolls if roll.minutes is not None]
    longest = [most for _, most in timed if most is not None]
    bound = f"at most {max(longest)}" if longest and len(longest) == len(timed) else "plus job time"
    minutes = "unknown" if len(timed) < len(rolls) else f"{max(expected for expected, _ in timed)} ({bound})"
    return str(sum(roll.out_at_once for roll in rolls)), f"{least.spares_left} of {least.spares_floor}", minutes


def reasons(part: Sequence[Row]) -> Iterator[Text]:
    """Yield the causes of a part's effects, and the changed fields of objects with their effects."""
    yield Text("")
    yield Text(f"{_name(part)}: {part[0].falls_on}", "bold")
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


def sentence(occupancy: Occupancy, at: dt.datetime | None, now: dt.datetime | None) -> str:
    """Return the occupied nodes, pods and GPUs by tenant, the time ``at`` of the facts, and what the facts omit."""
    if at is None:
        return f"occupied by jobs: unknown; {visible(occupancy.unknown or '')}"
    age = f", {plural(max(0, round((now - at).total_seconds() / 60)), 'minute')} old" if now else ""
    known = [
        f"{item.tenant} {plural(item.nodes, 'node')} with {plural(item.pods, 'pod')} on {plural(item.gpus, 'GPU')}"
        for item in occupancy.tenants
    ]
    figures = ", ".join([*known, *["unknown"] * bool(occupancy.unknown)]) or "none"
    why = f"; {occupancy.unknown}" if occupancy.unknown else ""
    return visible(f"occupied by jobs (estimate from facts of {utc_text(at)}{age}): {figures}{why}")


def cell(part: Sequence[Row]) -> str:
    """Return the number of occupied nodes of a part, with a ``+`` if the number may be too low."""
    known = [row.occupancy for row in part if row.occupancy]
    nodes = sum(item.nodes for occupancy in known for item in occupancy.tenants)
    if not known:
        return "-"
    if not any(occupancy.unknown for occupancy in known):
        return str(nodes)
    return f"{nodes}+" if nodes else "unknown"
