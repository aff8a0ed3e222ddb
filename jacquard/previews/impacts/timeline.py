"""Timeline of node replacements: the waves of each rollout in minutes, with windows and freezes of the tenant."""

from __future__ import annotations

import datetime as dt
import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cache

from components.lookups.effects.effect import Effect
from components.rollout.waves import moved_waves
from components.specs.environment import Environment
from components.specs.keys import domain_of, pool_of
from components.specs.pools.nodes import Windows
from components.specs.region.tenant import TenantSpec
from components.specs.struct import Struct, replace
from components.specs.times import DAY_MINUTES
from jacquard.previews.impacts.impact import Impact, Roll, Row

_MOST_DAYS = 182
"""Maximum length of a timeline; rollouts can end later."""
_AHEAD_DAYS = 56
"""Number of days for which window openings are computed at a time."""
_UNTIMED_DAYS = 28
"""Number of days shown if the durations of all rollouts are unknown."""


class Span(Struct):
    """A period, in minutes from the start of the timeline."""

    begins: int
    ends: int


class Wave(Span):
    """One or more consecutive waves of a rollout group without a pause between them."""

    first: int
    """Number of the first wave, from 1."""
    last: int
    """Number of the last wave."""
    nodes: int
    """Number of nodes that these waves replace in total."""


class Lane(Struct):
    """Rollout of one rollout group."""

    group: str
    """Rollout group, ``cluster/pool/failure-domain``."""
    effect: Effect
    """``replaced`` or ``unknown``."""
    roll: Roll
    nodes: int | None
    """Number of replaced nodes; None if the effect is unknown."""
    count: int | None
    """Number of waves; None if ``nodes`` is None."""
    waves: tuple[Wave, ...]
    """Waves with the durations in ``nodes.durations``; empty if ``nodes.durations`` is not set, or the pool is
    paused."""
    ends_most: int | None
    """End of the rollout in minutes if each drain takes the maximum time; None without ``waves``, or if nodes wait for
    their jobs."""
    promotion: int | None
    """Wave of the group in an open promotion; None without an open promotion."""

    @property
    def ends(self) -> int:
        """Return the end of the last wave in minutes; 0 without waves."""
        return self.waves[-1].ends if self.waves else 0

    @property
    def spares(self) -> tuple[int, int]:
        """Return the free hosts of the failure domain before and after the rollout, and during it."""
        return self.roll.spares_left + self.roll.surge, self.roll.spares_left


class NamedSpan(Span):
    """A freeze."""

    name: str


class TenantTimeline(Struct):
    """Rollouts of one tenant."""

    tenant: str
    lanes: tuple[Lane, ...]
    begins: int
    """Minute from which the change may be applied: 0, or the end of the freezes at the start of the timeline."""
    held: bool
    """Whether replacements begin only within windows."""
    windows: tuple[Span, ...]
    freezes: tuple[NamedSpan, ...]


class Timeline(Struct):
    """All rollouts of a change, applied as early as freezes permit."""

    start: dt.datetime
    """Time of minute 0."""
    minutes: int
    """Length of the timeline in minutes, a multiple of a day; rollouts can last longer."""
    tenants: tuple[TenantTimeline, ...]


def timeline(head: Environment, impact: Impact, start: dt.datetime) -> Timeline:
    """Return the timeline of ``impact`` if the change is applied at ``start``, or at the end of a freeze at that time.

    All groups of a change roll in parallel. If windows are enforced, a wave begins within a window but can end
    after it. The timeline ignores evidence between waves and concurrent provisioning by controllers.

    Args:
        head: environment after the change.
        impact: impact of the change.
        start: time with a time zone.
    """
    schedules = []
    for tenant in head.tenants:
        calendar = _Calendar(head, tenant, start)
        rolls = [(row, row.roll) for row in impact.rows if row.roll and row.tenant == tenant.tenant]
        if rolls:
            schedules.append((calendar, tuple(_lane(head, calendar, row, roll) for row, roll in rolls)))
    last = max((lane.ends_most or lane.ends for _, lanes in schedules for lane in lanes), default=0)
    minutes = min(math.ceil(last / DAY_MINUTES) or _UNTIMED_DAYS, _MOST_DAYS) * DAY_MINUTES
    shown = tuple(calendar.shown(lanes, minutes) for calendar, lanes in schedules)
    return Timeline(start=start, minutes=minutes, tenants=shown)


def _lane(head: Environment, calendar: _Calendar, row: Row, roll: Roll) -> Lane:
    batch = max(1, roll.surge or roll.out_at_once)
    count = None if row.count is None else math.ceil(row.count / batch)
    waves: tuple[Wave, ...] = ()
    ends_most = None
    if row.count and count and roll.minutes is not None and not roll.paused:
        waves = tuple(_waves(calendar.runs(count, roll.minutes // count), row.count, batch))
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


def _waves(runs: Iterable[_Run], nodes: int, batch: int) -> Iterator[Wave]:
    for run in runs:
        done = min(nodes, run.last * batch) - (run.first - 1) * batch
        yield Wave(begins=run.begins, ends=run.ends, first=run.first, last=run.last, nodes=done)


class _Run(Span):
    """Consecutive waves without a pause."""

    first: int
    last: int


class _Calendar:
    """Periods in which the nodes of one tenant may be replaced, in minutes from the start."""

    def __init__(self, head: Environment, tenant: TenantSpec, start: dt.datetime) -> None:
        self._tenant, self._start = tenant.tenant, start
        self._window = tenant.changes.window
        self._enforced = self._window is not None and head.region.nodes.windows is Windows.ENFORCE
        self._freezes = [
            NamedSpan(name=freeze.name, begins=self._minute(freeze.from_), ends=self._minute(freeze.to))
            for freeze in head.policy.freezes
            if freeze.to > start and freeze.protects(tenant.tenant)
        ]
        self._begins = 0
        for freeze in sorted(self._freezes, key=lambda item: item.begins):
            if freeze.begins <= self._begins:
                self._begins = max(self._begins, freeze.ends)
        self._known: list[Span] = []
        self._until = self._begins
        self.runs = cache(self._runs)

    def shown(self, lanes: tuple[Lane, ...], minutes: int) -> TenantTimeline:
        """Return the timeline of the tenant for the first ``minutes``."""
        window, until = self._window, self._start + dt.timedelta(minutes=minutes)
        opens = window.openings(self._start, until) if window else ()
        return TenantTimeline(
            tenant=self._tenant,
            lanes=lanes,
            begins=self._begins,
            held=self._enforced,
            windows=tuple(Span(begins=self._minute(begins), ends=self._minute(ends)) for begins, ends in opens),
            freezes=tuple(freeze for freeze in self._freezes if freeze.begins < minutes),
        )

    def _minute(self, moment: dt.datetime) -> int:
        return int((moment - self._start).total_seconds() // 60)

    def _runs(self, count: int, each: int) -> tuple[_Run, ...]:
        """Return the schedule of ``count`` sequential waves of ``each`` minutes."""
        runs: list[_Run] = []
        minute = self._begins
        for number in range(1, count + 1):
            begins = self._earliest(minute)
            minute = begins + each
            if runs and begins == runs[-1].ends:
                runs[-1] = replace(runs[-1], ends=minute, last=number)
            else:
                runs.append(_Run(begins=begins, ends=minute, first=number, last=number))
        return tuple(runs)

    def _earliest(self, minute: int) -> int:
        """Return the earliest minute, not before ``minute``, at which a replacement may begin."""
        if not self._enforced:
            return minute
        while True:
            at = bisect_right(self._known, minute, key=lambda opening: opening.ends)
            if at < len(self._known):
                return max(minute, self._known[at].begins)
            self._extend()

    def _extend(self) -> None:
        since, self._until = self._until, self._until + _AHEAD_DAYS * DAY_MINUTES
        moments = (self._start + dt.timedelta(minutes=minute) for minute in (since, self._until))
        for begins, ends in self._window.openings(*moments) if self._window else ():
            opening = Span(begins=self._minute(begins), ends=self._minute(ends))
            if opening not in self._known[-1:]:
                self._known.append(opening)
