"""When a change replaces nodes: the waves of each roll in minutes, beside the windows and freezes of its tenant."""

from __future__ import annotations

import datetime as dt
import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache

from components.lookups.effects.effect import Effect
from components.rollout.waves import moved_waves
from components.specs.environment import Environment
from components.specs.keys import domain_of, pool_of
from components.specs.pools.nodes import Windows
from components.specs.region.tenant import TenantSpec
from components.specs.times import DAY_MINUTES
from jacquard.previews.impacts.impact import Impact, Roll, Row

_MOST_DAYS = 182
"""What lies further ahead is no part of a timeline; when a roll ends is told all the same."""
_AHEAD_DAYS = 56
"""Days in which the openings of a window are looked up together."""
_UNTIMED_DAYS = 28
"""Days that are shown where nobody knows how long a roll takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A time, in minutes after the beginning of the timeline."""

    begins: int
    ends: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Wave(Span):
    """Nodes of a rollout group that are replaced at once, and waves like it that follow without a pause."""

    first: int
    """Number of the first of these waves, from 1."""
    last: int
    """Number of the last one."""
    nodes: int
    """How many nodes they replace together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """The roll of one rollout group."""

    group: str
    """The group, ``cluster/pool/failure-domain``."""
    effect: Effect
    """Whether its nodes are replaced, or nobody knows."""
    roll: Roll
    nodes: int | None
    """How many nodes are replaced; None where nobody knows whether they are."""
    count: int | None
    """How many waves that takes; None where ``nodes`` is."""
    waves: tuple[Wave, ...]
    """Waves if every step takes as long as the region measured; none where that is not given, or the pool is paused."""
    ends_most: int | None
    """Minute at which it has ended if each drain takes as long as it may; None where there are no ``waves``, or nodes
    wait for their jobs."""
    promotion: int | None
    """Number of the wave of an open promotion that it belongs to; None where its pool has none."""

    @property
    def ends(self) -> int:
        """Return the minute at which its last wave has ended; 0 where there are none."""
        return self.waves[-1].ends if self.waves else 0

    @property
    def spares(self) -> tuple[int, int]:
        """Return the free hosts of the failure domain before and after the roll, and while it lasts."""
        return self.roll.spares_left + self.roll.surge, self.roll.spares_left


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedSpan(Span):
    """A freeze."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantTimeline:
    """The rolls of one tenant."""

    tenant: str
    lanes: tuple[Lane, ...]
    begins: int
    """Minute from which on the change may be applied: 0, or the end of the freezes that come before it."""
    held: bool
    """Whether replacements begin within windows only."""
    windows: tuple[Span, ...]
    freezes: tuple[NamedSpan, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """All rolls of a change that is applied as early as freezes let it."""

    start: dt.datetime
    """Moment of minute 0."""
    minutes: int
    """How long it is, in whole days; rolls may last longer."""
    tenants: tuple[TenantTimeline, ...]


def timeline(head: Environment, impact: Impact, start: dt.datetime) -> Timeline:
    """Return when ``impact`` replaces nodes, if the change is applied at ``start`` or when the freezes of then end.

    Groups of a change roll side by side. Where the region holds rolls to windows, a wave begins within one and may end
    after it. Neither evidence between waves nor what controllers provision at the same time is in it.

    Args:
        head: the environment as it will be.
        impact: what happens to it.
        start: a moment with a time zone.
    """
    found = []
    for tenant in head.tenants:
        calendar = _Calendar(head, tenant, start)
        rolls = [(row, row.roll) for row in impact.rows if row.roll and row.tenant == tenant.tenant]
        if rolls:
            found.append((calendar, tuple(_lane(head, calendar, row, roll) for row, roll in rolls)))
    last = max((lane.ends_most or lane.ends for _, lanes in found for lane in lanes), default=0)
    minutes = min(math.ceil(last / DAY_MINUTES) or _UNTIMED_DAYS, _MOST_DAYS) * DAY_MINUTES
    return Timeline(start=start, minutes=minutes, tenants=tuple(one.shown(lanes, minutes) for one, lanes in found))


def _lane(head: Environment, calendar: _Calendar, row: Row, roll: Roll) -> Lane:
    at_once = max(1, roll.surge or roll.out_at_once)
    count = None if row.count is None else math.ceil(row.count / at_once)
    waves: tuple[Wave, ...] = ()
    ends_most = None
    if row.count and count and roll.minutes is not None and not roll.paused:
        waves = tuple(_waves(calendar.runs(count, roll.minutes // count), row.count, at_once))
        if roll.minutes_most is not None:
            ends_most = calendar.runs(count, roll.minutes_most // count)[-1].ends
    moved = moved_waves(head.image_pins, pool_of(row.part))
    return Lane(
        group=row.part,
        effect=row.effect,
        roll=roll,
        nodes=row.count,
        count=count,
        waves=waves,
        ends_most=ends_most,
        promotion=next((number for number, domains in moved if domain_of(row.part) in domains), None),
    )


def _waves(runs: Iterable[_Run], nodes: int, at_once: int) -> Iterator[Wave]:
    for run in runs:
        done = min(nodes, run.last * at_once) - (run.first - 1) * at_once
        yield Wave(begins=run.begins, ends=run.ends, first=run.first, last=run.last, nodes=done)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run(Span):
    """Waves that follow each other without a pause."""

    first: int
    last: int


class _Calendar:
    """When one tenant's nodes may be replaced, in minutes after the start."""

    def __init__(self, head: Environment, tenant: TenantSpec, start: dt.datetime) -> None:
        self._tenant, self._start = tenant.tenant, start
        self._window = tenant.changes.window
        self._held = self._window is not None and head.region.nodes.windows is Windows.ENFORCE
        self._freezes = [
            NamedSpan(name=freeze.name, begins=self._minute(freeze.from_), ends=self._minute(freeze.to))
            for freeze in head.policy.freezes
            if freeze.to > start and freeze.protects(tenant.tenant)
        ]
        self._begins = 0
        for freeze in sorted(self._freezes, key=lambda one: one.begins):
            if freeze.begins <= self._begins:
                self._begins = max(self._begins, freeze.ends)
        self._known: list[Span] = []
        self._until = self._begins
        self.runs = cache(self._runs)

    def shown(self, lanes: tuple[Lane, ...], minutes: int) -> TenantTimeline:
        """Return the timeline of the tenant, with what is within its first ``minutes``."""
        window, until = self._window, self._start + dt.timedelta(minutes=minutes)
        opens = window.openings(self._start, until) if window else ()
        return TenantTimeline(
            tenant=self._tenant,
            lanes=lanes,
            begins=self._begins,
            held=self._held,
            windows=tuple(Span(begins=self._minute(begins), ends=self._minute(ends)) for begins, ends in opens),
            freezes=tuple(freeze for freeze in self._freezes if freeze.begins < minutes),
        )

    def _minute(self, moment: dt.datetime) -> int:
        return int((moment - self._start).total_seconds() // 60)

    def _runs(self, count: int, each: int) -> tuple[_Run, ...]:
        """Return when ``count`` waves of ``each`` minutes take place, one after the other."""
        found: list[_Run] = []
        minute = self._begins
        for number in range(1, count + 1):
            begins = self._earliest(minute)
            minute = begins + each
            if found and begins == found[-1].ends:
                found[-1] = replace(found[-1], ends=minute, last=number)
            else:
                found.append(_Run(begins=begins, ends=minute, first=number, last=number))
        return tuple(found)

    def _earliest(self, minute: int) -> int:
        """Return the first minute from ``minute`` on at which a replacement may begin."""
        if not self._held:
            return minute
        while True:
            at = bisect_right(self._known, minute, key=lambda opening: opening.ends)
            if at < len(self._known):
                return max(minute, self._known[at].begins)
            self._look_ahead()

    def _look_ahead(self) -> None:
        since, self._until = self._until, self._until + _AHEAD_DAYS * DAY_MINUTES
        moments = (self._start + dt.timedelta(minutes=minute) for minute in (since, self._until))
        for begins, ends in self._window.openings(*moments) if self._window else ():
            opening = Span(begins=self._minute(begins), ends=self._minute(ends))
            if opening not in self._known[-1:]:
                self._known.append(opening)
