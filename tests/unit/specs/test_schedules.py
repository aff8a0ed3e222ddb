"""Longest interval between two runs of a cron schedule."""

from __future__ import annotations

import pytest

from components.specs.schedules import longest_interval_minutes

HOUR, DAY = 60, 24 * 60


@pytest.mark.parametrize(
    ("schedule", "minutes"),
    [
        ("*/10 * * * *", 10),
        ("5/20 * * * *", 20),
        ("0 */6 * * *", 6 * HOUR),
        ("0 8-18/2 * * *", 14 * HOUR),
        ("30 2 * * *", DAY),
        ("0 3 * * 1-5", 3 * DAY),
        ("0 3 * * 0", 7 * DAY),
        ("0 3 1 * *", 31 * DAY),
        # Both fields of days are restricted: the job runs on Sundays, and on the first of a month.
        ("0 3 1 * 0", 7 * DAY),
        ("0 3 29 2 *", (4 * 365 + 1) * DAY),
    ],
)
def test_the_longest_interval_is_found(schedule: str, minutes: int) -> None:
    assert longest_interval_minutes(schedule) == minutes


def test_a_schedule_that_never_runs_has_an_interval_of_years() -> None:
    assert longest_interval_minutes("0 3 30 2 *") > longest_interval_minutes("0 3 29 2 *")
