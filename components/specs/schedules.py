"""Times at which cron schedules run."""

import datetime as dt
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

from components.specs.base import CronSchedule

_START, _DAYS = dt.date(2001, 1, 1), 8 * 366
"""First day and number of the days that are examined, which contain 29 February twice."""
_DAY_MINUTES = 24 * 60


@cache
def longest_interval_minutes(schedule: CronSchedule) -> int:
    """Return the longest time between two runs of ``schedule``, in minutes, without leap years of centuries.

    A schedule that never runs, such as 30 February, has the length of all examined days.
    """
    minutes, hours, *fields = schedule.split()
    times = [60 * hour + minute for hour in _numbers(hours, 0, 23) for minute in _numbers(minutes, 0, 59)]
    days = [(day - _START).days for day in _days(*fields)]
    if len(days) < 2:  # noqa: PLR2004 - an interval has two ends
        return _DAYS * _DAY_MINUTES
    within = [later - earlier for earlier, later in pairwise(times)]
    night = times[0] - times[-1]
    across = [(later - earlier) * _DAY_MINUTES + night for earlier, later in pairwise(days)]
    return max(within + across)


def _days(days: str, months: str, weekdays: str) -> Iterator[dt.date]:
    """Yield the days of a schedule. If both fields of days are restricted, a day matches one of them (cron(5))."""
    of_month, of_year = set(_numbers(days, 1, 31)), set(_numbers(months, 1, 12))
    of_week = set(_numbers(weekdays, 0, 6))
    either = "*" not in (days, weekdays)
    for day in (_START + dt.timedelta(days=number) for number in range(_DAYS)):
        found = day.day in of_month, day.isoweekday() % 7 in of_week
        if day.month in of_year and (any(found) if either else all(found)):
            yield day


def _numbers(field: str, least: int, most: int) -> list[int]:
    """Return the numbers of a field: a list of numbers, ranges or ``*``, each with an optional step."""
    numbers: set[int] = set()
    for part in field.split(","):
        extent, _, step = part.partition("/")
        first, dash, last = ("", "", "") if extent == "*" else extent.partition("-")
        # A number with a step begins a range, as in the parser of Kubernetes (robfig/cron parser.go).
        end = int(last) if dash else most if step or not first else int(first)
        numbers.update(range(int(first or least), end + 1, int(step or 1)))
    return sorted(numbers)
