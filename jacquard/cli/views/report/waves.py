"""Rollouts of a change as two charts with one time axis: waves with windows and freezes, and remaining spares."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator, Sequence

from components.specs.keys import domain_of, pool_of
from components.specs.reading.problems import listed
from components.specs.struct import Struct
from components.specs.times import DAY_MINUTES, HOUR_MINUTES
from jacquard.cli.console import plural
from jacquard.cli.views.report.signs import of_effect
from jacquard.previews.impacts.timeline import Lane, Span, TenantTimeline, Timeline, Wave

WIDTH, LEFT = 1120, 250
"""Width of a chart, and of the labels on its left."""
_PLOT = WIDTH - LEFT - 90
_HEAD, _AXIS, _LANE, _BAR, _GAP = 24, 34, 24, 14, 12
_SPARES, _TALL, _FLAT = 40, 26, 2.0
_STEPS = tuple(HOUR_MINUTES * hours for hours in (1, 3, 6, 12, 24, 48, 168, 336, 672, 1344))
_MOST_TICKS, _LEAST_WIDTH, _TICK_WIDTH, _CHARACTER = 9, 2.0, 7.0, 6.3
_MOST_DOMAINS = 4


class Box(Struct):
    """A rectangle with a tooltip."""

    x: float
    y: float
    width: float
    height: float
    style: str
    tooltip: str
    text: str = ""
    """Text in the rectangle; empty if it does not fit."""
    cuts: tuple[float, ...] = ()
    """Positions at which one wave ends and the next one begins."""


class Label(Struct):
    """A text next to a chart."""

    x: float
    y: float
    text: str
    style: str
    tooltip: str = ""


class Picture(Struct):
    """A chart, in units of its view box."""

    height: float
    boxes: tuple[Box, ...]
    labels: tuple[Label, ...]
    lines: tuple[tuple[str, str], ...]
    """CSS class and SVG path of each line."""
    ticks: tuple[tuple[float, str], ...]
    top: float = _AXIS


class Roll(Struct):
    """Rollout groups of a pool with equal rollouts, as a table row."""

    tenant: str
    name: str
    domains: str
    nodes: str
    waves: str
    way: str
    begins: str
    ends: str
    most: str
    spares: str
    gpu_hours: str
    note: str


class Waves:
    """Charts and table of a timeline."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._tenants = [(tenant, _alike(tenant.lanes)) for tenant in timeline.tenants]

    def rolls(self) -> tuple[Roll, ...]:
        """Return the contents of the charts as table rows."""
        return tuple(self._roll(tenant, lanes) for tenant, alike in self._tenants for lanes in alike)

    def waves(self) -> Picture:
        """Return the chart of waves, windows and freezes."""
        boxes, labels, lines, top = list[Box](), list[Label](), list[tuple[str, str]](), float(_AXIS)
        for tenant, alike in self._tenants:
            labels.append(Label(x=0, y=top + 16, text=tenant.tenant, style="tenant"))
            height = _HEAD + len(alike) * _LANE
            boxes += self._calendar(tenant, top, height)
            for index, lanes in enumerate(alike):
                y = top + _HEAD + index * _LANE
                labels.append(_name(lanes, y + 15))
                boxes += self._bars(lanes[0], y + 4)
                labels += self._beside(lanes[0], y + 15)
                lines += self._whisker(lanes[0], y + 4 + _BAR / 2)
            top += height + _GAP
        return self._picture(top, boxes, labels, lines)

    def spares(self) -> Picture | None:
        """Return the chart of spares over time; None if the duration of all rollouts is unknown."""
        boxes, labels, lines, top = list[Box](), list[Label](), list[tuple[str, str]](), float(_AXIS)
        for _, alike in self._tenants:
            for lanes in alike:
                if lanes[0].waves:
                    labels.append(_name(lanes, top + 24))
                    boxes += self._levels(lanes[0], top + 4)
                    floor, y = lanes[0].roll.spares_floor, top + 4
                    at = round(y + _TALL - _TALL * floor / _most(lanes[0]), 1)
                    lines.append(("floor", f"M{LEFT} {at}H{LEFT + _PLOT}"))
                    before, lowest = lanes[0].spares
                    text = f"{before} to {lowest}, min {floor}" if before != lowest else f"{before}, min {floor}"
                    labels.append(Label(x=LEFT + _PLOT + 6, y=top + 24, text=text, style="beside"))
                    top += _SPARES
        return self._picture(top, boxes, labels, lines) if boxes else None

    def _picture(
        self, bottom: float, boxes: Sequence[Box], labels: Sequence[Label], lines: Sequence[tuple[str, str]]
    ) -> Picture:
        return Picture(
            height=bottom, boxes=tuple(boxes), labels=tuple(labels), lines=tuple(lines), ticks=tuple(self._ticks())
        )

    def _x(self, minute: float) -> float:
        share = min(max(minute / self._timeline.minutes, 0), 1)
        return round(LEFT + share * _PLOT, 1)

    def _ticks(self) -> Iterator[tuple[float, str]]:
        minutes = self._timeline.minutes
        step = next((step for step in _STEPS if minutes / step <= _MOST_TICKS), _STEPS[-1])
        for minute in range(0, minutes + 1, step):
            moment = self._timeline.start + dt.timedelta(minutes=minute)
            short = step < DAY_MINUTES and minute and (moment.hour or moment.minute)
            yield self._x(minute), f"{moment:%H:%M}" if short else f"{moment:%a} {moment.day} {moment:%b}"

    def _calendar(self, tenant: TenantTimeline, top: float, height: float) -> Iterator[Box]:
        for span in tenant.windows:
            tooltip = f"window of {tenant.tenant}: {self._times(span)}"
            yield self._box(span, top, height, "window" if tenant.held else "window loose", tooltip)
        for span in tenant.freezes:
            tooltip = f"freeze {span.name}: {self._times(span)}; nothing is applied, running rollouts continue"
            yield self._box(span, top, height, "freeze", tooltip, text=f"freeze {span.name}")

    def _bars(self, lane: Lane, y: float) -> Iterator[Box]:
        style = of_effect(lane.effect).style
        for wave in lane.waves:
            if wave.begins < self._timeline.minutes:
                numbers = f"wave {wave.first}" if wave.first == wave.last else f"waves {wave.first}-{wave.last}"
                tooltip = f"{numbers}, {plural(wave.nodes, 'node')}: {self._times(wave)}"
                yield self._box(wave, y, _BAR, f"bar {style}", tooltip, text=numbers, cuts=self._cuts(wave))
        if text := _open_end(lane):
            span = Span(begins=lane.ends, ends=self._timeline.minutes)
            yield self._box(span, y, _BAR, f"bar open {style}", text, text=text)

    def _cuts(self, wave: Wave) -> tuple[float, ...]:
        count = wave.last - wave.first + 1
        each = (self._x(wave.ends) - self._x(wave.begins)) / count
        if each < _TICK_WIDTH:
            return ()
        return tuple(round(self._x(wave.begins) + index * each, 1) for index in range(1, count))

    def _beside(self, lane: Lane, y: float) -> Iterator[Label]:
        if lane.roll.paused or lane.waves:
            text = "paused" if lane.roll.paused else _days(lane.ends - lane.waves[0].begins)
            yield Label(x=LEFT + _PLOT + 6, y=y, text=text, style="beside")

    def _whisker(self, lane: Lane, y: float) -> Iterator[tuple[str, str]]:
        if lane.waves and lane.ends_most is not None and lane.ends_most > lane.ends:
            begins, ends = self._x(lane.ends), self._x(lane.ends_most)
            yield "most", f"M{begins} {y}H{ends}M{ends} {y - 4}v8"

    def _levels(self, lane: Lane, y: float) -> Iterator[Box]:
        """Yield the spares before, during and after a rollout; a single level if it uses no spares."""
        (before, lowest), begins, ends = lane.spares, lane.waves[0].begins, lane.ends
        last = self._timeline.minutes
        steps = [(before, 0, begins), (lowest, begins, ends), (before, ends, last)]
        for spares, since, until in steps if before != lowest else [(before, 0, last)]:
            if since < until:
                span, tall = Span(begins=since, ends=until), max(round(_TALL * spares / _most(lane), 1), _FLAT)
                style = "level low" if spares < lane.roll.spares_floor else "level"
                tooltip = f"{plural(spares, 'spare')} (minimum {lane.roll.spares_floor}): {self._times(span)}"
                yield self._box(span, y + _TALL - tall, tall, style, tooltip)

    def _box(
        self,
        span: Span,
        y: float,
        height: float,
        style: str,
        tooltip: str,
        *,
        text: str = "",
        cuts: tuple[float, ...] = (),
    ) -> Box:
        x = self._x(span.begins)
        width = round(max(self._x(span.ends) - x, _LEAST_WIDTH), 1)
        shown = text if len(text) * _CHARACTER < width else ""
        return Box(x=x, y=y, width=width, height=height, style=style, tooltip=tooltip, text=shown, cuts=cuts)

    def _times(self, span: Span) -> str:
        return f"{self._moment(span.begins)} to {self._moment(span.ends)}"

    def _moment(self, minute: int) -> str:
        moment = self._timeline.start + dt.timedelta(minutes=minute)
        return f"{moment:%a %Y-%m-%d %H:%M}"

    def _most(self, lane: Lane) -> str:
        if lane.ends_most is not None:
            return self._moment(lane.ends_most)
        return "until jobs end" if lane.waves else "unknown"

    def _roll(self, tenant: TenantTimeline, lanes: Sequence[Lane]) -> Roll:
        lane, roll = lanes[0], lanes[0].roll
        known = bool(lane.waves)
        before, lowest = lane.spares
        strategy = f"{roll.surge} surge" if roll.surge else f"{roll.out_at_once} unavailable at a time"
        hours = [group.roll.gpu_hours for group in lanes]
        return Roll(
            tenant=tenant.tenant,
            name=pool_of(lane.group),
            domains=listed(domain_of(group.group) for group in lanes),
            nodes="unknown" if lane.nodes is None else str(sum(group.nodes or 0 for group in lanes)),
            waves="unknown" if lane.count is None else str(lane.count),
            way=strategy,
            begins=self._moment(lane.waves[0].begins) if known else "unknown",
            ends=self._moment(lane.ends) if known else "unknown",
            most=self._most(lane),
            spares=f"{lowest} of {roll.spares_floor}"
            if before == lowest
            else f"{before}, then {lowest} of {roll.spares_floor}",
            gpu_hours="unknown" if None in hours else f"{sum(hour or 0 for hour in hours):,.1f}",
            note=", ".join(_notes(lane)),
        )


def _notes(lane: Lane) -> Iterator[str]:
    if lane.roll.paused:
        yield "paused: no rollout until rollout.paused is removed"
    if lane.promotion is not None:
        yield f"wave {lane.promotion} of an open promotion"
    if lane.roll.minutes is None:
        yield "nodes.durations is not set in region.yaml"


def _alike(lanes: Sequence[Lane]) -> list[list[Lane]]:
    """Return the lanes grouped by appearance: groups of a pool with equal rollouts share a line."""
    grouped: dict[object, list[Lane]] = defaultdict(list)
    for lane in lanes:
        key = (pool_of(lane.group), lane.effect, lane.roll, lane.nodes, lane.waves, lane.ends_most, lane.promotion)
        grouped[str(key)].append(lane)
    return list(grouped.values())


def _name(lanes: Sequence[Lane], y: float) -> Label:
    pool, domains = pool_of(lanes[0].group), [domain_of(lane.group) for lane in lanes]
    where = f"{len(domains)} groups" if len(domains) > _MOST_DOMAINS else ", ".join(domains)
    text = f"{pool} {where}"
    most = int((LEFT - 12) / _CHARACTER)
    shown = text if len(text) <= most else f"{text[: most - 1]}…"
    return Label(x=8, y=y, text=shown, style="lane", tooltip=f"{pool}: {', '.join(domains)}")


def _open_end(lane: Lane) -> str:
    """Return the reason why the end of a rollout is unknown; empty if the end is known, or the pool is paused."""
    if lane.roll.paused or lane.ends_most is not None:
        return ""
    if lane.waves:
        return "until jobs end"
    return "duration unknown" if lane.count is None else f"{plural(lane.count, 'wave')}, duration unknown"


def _days(minutes: int) -> str:
    days, rest = divmod(minutes, DAY_MINUTES)
    hours, left = divmod(rest, HOUR_MINUTES)
    return f"{days} d {hours} h" if days else f"{hours} h {left:02d} min"


def _most(lane: Lane) -> int:
    return max(1, *lane.spares, lane.roll.spares_floor)
