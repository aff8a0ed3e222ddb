"""What a change does, for people: the verdict, a table of what it touches, and below it causes, losses and waits."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from components.lookups.effects.effect import Effect, Subject
from components.specs.keys import pool_of
from components.specs.reading.problems import listed
from jacquard.cli.console import plural
from jacquard.cli.tables import plain_table
from jacquard.cli.views.changes import occupancy
from jacquard.previews.impacts.impact import DISRUPTIVE, Agreement, Cause, Forced, Impact, Roll, Row, TenantImpact
from jacquard.previews.impacts.nodes import out_at_once

_COLOURS = dict.fromkeys((*DISRUPTIVE, Effect.REFUSED), "red") | {Effect.UNKNOWN: "magenta"}
_TOLD = (Effect.UNKNOWN, Effect.REFUSED, *reversed(DISRUPTIVE), Effect.RESTARTED)
"""Effects that the verdict names, the worst first; what scales is told beside."""
COLUMNS = ("effect", "on", "part", "tenant", "when", "count", "GPUs", "away", "spares left", "minutes", "occupied")
_NUMBERS = COLUMNS[5:]
_MOST = 10
_MOST_CAUSES = 3
DIGITS = 12
"""Digits of a digest by which people tell one from another; files and data have all of them."""


def lines(impact: Impact, now: dt.datetime | None = None) -> Iterator[RenderableType]:
    """Yield what a person reads; at the moment ``now``, where the age of facts is to be told."""
    yield Text(f"{impact.environment}: {impact.base} -> {impact.head}", "bold")
    for sentence in verdict(impact, now):
        yield Text(f"  {sentence}")
    found = parts(impact.rows)
    if found:
        yield ""
        yield _table(found)
    for part in found:
        yield from reasons(part)
    told = list(tenants(impact))
    if told:
        yield Text("")
        yield Text("tenants:")
    yield from (Text(f"  {line}") for line in told)
    yield from charts(impact)
    yield from lost(impact)
    yield from behind(impact)
    yield from elsewhere(impact)


def verdict(impact: Impact, now: dt.datetime | None = None) -> Iterator[str]:
    """Yield in sentences what happens to machines and what else is lost or undecided, the worst first, and to whom."""
    told = False
    for effect in _TOLD:
        rows = [row for row in impact.rows if row.effect is effect]
        nodes = [row for row in rows if row.falls_on is Subject.NODES]
        others = [f"{row.falls_on} of {row.part}" for row in rows if row.falls_on is not Subject.NODES]
        if nodes:
            yield _of_nodes(effect, nodes)
        if others:
            yield f"{effect}: {listed(others, _MOST)}"
        told = told or bool(rows)
    if scaled := [row for row in impact.rows if row.change is not None]:
        yield _of_sizes(scaled)
    elif not told:
        yield "no node, host or DPU is touched" if impact.rows else "nothing happens to anything that runs"
    if impact.occupancy:
        yield occupancy.sentence(impact.occupancy, impact.facts_at, now)


def _of_nodes(effect: Effect, rows: list[Row]) -> str:
    pools = listed(dict.fromkeys(pool_of(row.part) or row.part for row in rows), _MOST)
    if effect is Effect.UNKNOWN:
        return f"unknown: what happens to nodes of {pools}"
    count, gpus = sum(row.count or 0 for row in rows), sum(row.gpus or 0 for row in rows)
    away = f", at most {sum(out_at_once(rows).values())} away at once" if effect is Effect.REPLACED else ""
    with_gpus = f" ({plural(gpus, 'GPU')})" if gpus else ""
    return f"{effect}: {plural(count, 'node')}{with_gpus} of {pools}{away}"


def _of_sizes(rows: list[Row]) -> str:
    pools = listed(dict.fromkeys(pool_of(row.part) for row in rows), _MOST)
    come = sum(max(0, row.change or 0) for row in rows)
    go = sum(max(0, -(row.change or 0)) for row in rows)
    moves = [plural(come, "node comes", "nodes come")] * bool(come) + [plural(go, "node goes", "nodes go")] * bool(go)
    return f"scales: {' and '.join(moves) or 'bounds of autoscaling move'} in {pools}"


def parts(rows: Iterable[Row]) -> list[list[Row]]:
    """Return rows with the same to be said of them together: the rollout groups of a pool."""
    found: dict[object, list[Row]] = defaultdict(list)
    for row in rows:
        is_group = row.falls_on is Subject.NODES and row.part.count("/") > 1
        found[pool_of(row.part) if is_group else row.part, row.falls_on, row.effect, row.when].append(row)
    return list(found.values())


def _name(part: Sequence[Row]) -> str:
    return part[0].part if len(part) == 1 else f"{pool_of(part[0].part)}, {len(part)} groups"


def tenants(impact: Impact) -> Iterator[str]:
    """Yield a line for each tenant that feels something: who is asked, what it has left, when that may be."""
    for tenant in impact.tenants:
        told = [word(tenant)] if tenant.asks else []
        told += [
            f"{one.lowest} of {one.contracted} {one.instance_type} that are paid for at the lowest point"
            for one in tenant.capacity
        ]
        if tenant.window:
            held = "" if tenant.window.held else ", which nothing holds rolls to"
            opens = f", {plural(tenant.window.openings, 'opening')}" if tenant.window.openings else ""
            told.append(f"window {tenant.window.text}{opens}{held}")
        told += [f"freeze {one.name} {one.begins:%Y-%m-%d} to {one.ends:%Y-%m-%d}" for one in tenant.freezes]
        if told:
            yield f"{tenant.tenant}: {'; '.join(told)}"


def word(tenant: TenantImpact) -> str:
    """Return whether a tenant that is asked agreed to its part of the change, which its digest names."""
    part = f"part {(tenant.digest or '')[:DIGITS]}"
    match tenant.agreement:
        case None:
            return f"{tenant.asks} has to agree to {part}"
        case Agreement(void=True) as said:
            return f"{tenant.asks} has to agree again to {part}: the word of {said.by} ended on {said.expires}"
        case said:
            until = f", until {said.expires}" if said.expires else ""
            return f"{said.by} agreed to {part} on {said.day}{until}"


def _table(found: Sequence[Sequence[Row]]) -> Table:
    named = columns(found)
    rows = plain_table(*named, numbers=_NUMBERS)
    for part in found:
        effect, *others = cells(part)[: len(named)]
        rows.add_row(Text(effect, _COLOURS.get(part[0].effect, "")), *others)
    return rows


def columns(found: Iterable[Sequence[Row]]) -> tuple[str, ...]:
    """Return what is told of parts: where nobody knows of any whether jobs run on it, that column is left out."""
    return COLUMNS if any(map(occupancy.is_known, found)) else COLUMNS[:-1]


def cells(part: Sequence[Row]) -> tuple[str, ...]:
    """Return what stands below `COLUMNS` of one part."""
    row, gpus = part[0], sum(one.gpus or 0 for one in part)
    rolls = _rolls([one.roll for one in part if one.roll])
    named = (row.effect, row.falls_on, _name(part), row.tenant or "-", row.when)
    return (*named, _count(part), str(gpus) if gpus else "-", *rolls, occupancy.cell(part))


def _count(part: Sequence[Row]) -> str:
    if any(row.change is not None for row in part):
        return f"{sum(row.change or 0 for row in part):+d}"
    if all(row.count is None for row in part):
        return "?" if part[0].effect is Effect.UNKNOWN else "-"
    return str(sum(row.count or 0 for row in part))


def _rolls(rolls: Sequence[Roll]) -> tuple[str, str, str]:
    """Return how many nodes are away, the spares of the group nearest to its floor, and how long it takes."""
    if not rolls:
        return "-", "-", "-"
    least = min(rolls, key=lambda roll: roll.spares_left - roll.spares_floor)
    timed = [(roll.minutes, roll.minutes_most) for roll in rolls if roll.minutes is not None]
    longest = [most for _, most in timed if most is not None]
    bound = f"at most {max(longest)}" if longest and len(longest) == len(timed) else "and until jobs end"
    minutes = "unknown" if len(timed) < len(rolls) else f"{max(one for one, _ in timed)} ({bound})"
    return str(sum(roll.out_at_once for roll in rolls)), f"{least.spares_left} of {least.spares_floor}", minutes


def reasons(part: Sequence[Row]) -> Iterator[Text]:
    """Yield why a part is touched: what that does, the fields, and the edits."""
    yield Text("")
    yield Text(f"{_name(part)}: {part[0].falls_on}", "bold")
    by_reason: dict[tuple[Effect, str, str], list[Forced]] = defaultdict(list)
    for forced in (one for row in part for one in row.forced_by):
        by_reason[forced.effect, forced.kind.rpartition("/")[2], forced.why].append(forced)
    for (effect, kind, why), found in list(by_reason.items())[:_MOST_CAUSES]:
        paths = listed(dict.fromkeys(one.path for one in found), _MOST_CAUSES)
        yield Text(f"  {effect}: {kind} {paths}, such as {found[0].first}")
        yield Text(f"    {why}")
    if len(by_reason) > _MOST_CAUSES:
        yield Text(f"  and {plural(len(by_reason) - _MOST_CAUSES, 'milder reason')}")
    causes = list(dict.fromkeys(cause for row in part for cause in row.causes))
    yield from (Text(f"  by {_told(cause)}") for cause in causes[:_MOST_CAUSES])
    if len(causes) > _MOST_CAUSES:
        yield Text(f"  and {plural(len(causes) - _MOST_CAUSES, 'more edit')} like these")


def _told(cause: Cause) -> str:
    return f"{cause.file}:{cause.line} {cause.path}: {cause.old or 'nothing'} -> {cause.new or 'nothing'}"


def lost(impact: Impact) -> Iterator[Text]:
    """Yield the objects that are declared no more, by what becomes of them."""
    for outcome in dict.fromkeys(one.outcome for one in impact.lost):
        names = [f"{one.kind.rpartition('/')[2]} {one.name}" for one in impact.lost if one.outcome == outcome]
        yield Text("")
        yield Text(f"{plural(len(names), 'object')} {outcome}: {listed(names, _MOST)}")


def charts(impact: Impact) -> Iterator[Text]:
    """Yield which clusters get another release of a chart, and what restarts there."""
    if impact.charts:
        yield Text("")
        yield Text("charts:")
    for one in impact.charts:
        yield Text(f"  {one.cluster}: {one.told}")


def behind(impact: Impact) -> Iterator[Text]:
    """Yield what waits for a promotion, and the command that moves it."""
    if impact.behind:
        yield Text("")
        yield Text("waits for a promotion:")
    for one in impact.behind:
        since = "since this change" if one.new else "as before"
        yield Text(f"  {one.pool} ({listed(one.fields)}), {since}: {one.command}")


def elsewhere(impact: Impact) -> Iterator[Text]:
    """Yield the other environments that the catalogue changes for."""
    if impact.shared:
        yield Text("")
        yield Text("other environments read the same catalogue:")
    for one in impact.shared:
        machines = f", {plural(one.nodes, 'machine')}" if one.nodes else ""
        told = "what happens is unknown" if one.effect is Effect.UNKNOWN else f"worst: {one.effect}"
        yield Text(f"  {one.environment}: {told}{machines}; jacquard impact {one.environment}")
