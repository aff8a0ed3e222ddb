"""Times of day, time zones and windows. Callers pass the current time; this module does not read the clock."""

import datetime as dt
import difflib
import re
import zoneinfo
from collections.abc import Iterator
from enum import StrEnum
from functools import cache
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, WithJsonSchema

from components.specs.base import CheckedSpec, ConstraintViolation

HOUR_MINUTES = 60
DAY_MINUTES = 24 * HOUR_MINUTES
CLOCK_SKEW = dt.timedelta(minutes=5)
"""Tolerated difference between the clocks of two machines."""
_ALIKE = 0.75
"""Similarity above which a city name counts as a typing error."""
_CLOCK = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]")


def _clock(value: object) -> object:
    if isinstance(value, str) and _CLOCK.fullmatch(value):
        return dt.time.fromisoformat(value)
    if isinstance(value, dt.time):
        return value
    msg = 'must be a time of day in quotes like "02:00"'
    raise ValueError(msg)


@cache
def _timezones() -> tuple[str, ...]:
    return tuple(sorted(zoneinfo.available_timezones()))


def _timezone(value: str) -> str:
    if value not in _timezones():
        area, _, city = value.lower().rpartition("/")  # Similar names on other continents have another time zone.
        alike = [zone for zone in _timezones() if zone.lower().rpartition("/")[0] == area and area]
        cities = {zone.rpartition("/")[2].lower(): zone for zone in alike}
        near = difflib.get_close_matches(city, cities, n=1, cutoff=_ALIKE)
        meant = f"; did you mean '{cities[near[0]]}'?" if near else ""
        msg = f"must be an IANA time zone like Europe/Berlin{meant}"
        raise ValueError(msg)
    return value


ClockTime = Annotated[
    dt.time,
    BeforeValidator(_clock),
    PlainSerializer(lambda time: f"{time:%H:%M}", return_type=str),
    WithJsonSchema({"type": "string", "pattern": f"^{_CLOCK.pattern}$", "examples": ["02:00"]}),
]
"""Time of day such as ``"02:00"``."""
TimeZone = Annotated[str, AfterValidator(_timezone)]
"""Name of a time zone in the IANA database."""


def _minutes(time: dt.time) -> int:
    return time.hour * HOUR_MINUTES + time.minute


class Weekday(StrEnum):
    """Day of the week, Monday first."""

    MON = "mon"
    """The day is Monday."""
    TUE = "tue"
    """The day is Tuesday."""
    WED = "wed"
    """The day is Wednesday."""
    THU = "thu"
    """The day is Thursday."""
    FRI = "fri"
    """The day is Friday."""
    SAT = "sat"
    """The day is Saturday."""
    SUN = "sun"
    """The day is Sunday."""


class WindowSpec(CheckedSpec):
    """Time window on some days of the week, in one time zone."""

    days: tuple[Weekday, ...] = Field(min_length=1, max_length=7)
    """Days on which the window opens."""
    from_: ClockTime = Field(alias="from")
    """Time of day at which the window opens, such as ``"02:00"``."""
    to: ClockTime
    """Time of day at which the window closes, not included. A time earlier than ``from`` means the next day."""
    timezone: TimeZone
    """IANA time zone of both times, such as ``Europe/Berlin``."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield a window that never opens, and days that are listed twice."""
        for index, day in enumerate(self.days):
            if day in self.days[:index]:
                yield ConstraintViolation(f"'{day}' is listed twice; remove one", ("days", index))
        if self.from_ == self.to:
            yield ConstraintViolation("equals the opening time; write another time", ("to",), f"{self.to:%H:%M}")

    @property
    def minutes(self) -> int:
        """Return the length of the window in minutes."""
        return (_minutes(self.to) - _minutes(self.from_)) % DAY_MINUTES

    def covers(self, moment: dt.datetime) -> bool:
        """Return whether the window is open at ``moment``, which must have a time zone."""
        local = moment.astimezone(zoneinfo.ZoneInfo(self.timezone))
        time, week = local.time(), tuple(Weekday)
        if self.from_ < self.to:
            return week[local.weekday()] in self.days and self.from_ <= time < self.to
        opened_today = week[local.weekday()] in self.days and time >= self.from_
        return opened_today or (week[local.weekday() - 1] in self.days and time < self.to)

    def openings(self, since: dt.datetime, until: dt.datetime) -> Iterator[tuple[dt.datetime, dt.datetime]]:
        """Yield the opening and closing times (UTC) of the window between ``since`` and ``until``, in order."""
        zone, week = zoneinfo.ZoneInfo(self.timezone), tuple(Weekday)
        day, last = (moment.astimezone(zone).date() for moment in (since, until))
        day -= dt.timedelta(days=1)  # A window that opened on the previous day may still be open.
        while day <= last:
            if week[day.weekday()] in self.days:
                ends_on = day + dt.timedelta(days=int(self.to < self.from_))
                opens, ends = (
                    dt.datetime.combine(*moment, tzinfo=zone).astimezone(dt.UTC)
                    for moment in ((day, self.from_), (ends_on, self.to))
                )
                if opens < until and ends > since:
                    yield opens, ends
            day += dt.timedelta(days=1)
