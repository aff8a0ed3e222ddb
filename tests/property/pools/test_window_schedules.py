"""The cron schedules of a window agree with the window itself, at every minute of a week."""

from __future__ import annotations

import datetime as dt

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from components.render.pools.pool_windows import LEAST_MINUTES, closing, opening
from components.specs.times import DAY_MINUTES, WindowSpec

MONDAY = dt.datetime(2026, 11, 2, tzinfo=dt.UTC)
WEEK = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
MOMENTS = [MONDAY + dt.timedelta(minutes=minute) for minute in range(7 * DAY_MINUTES)]
clocks = st.integers(0, DAY_MINUTES - 1)
days = st.sets(st.sampled_from(WEEK), min_size=1).map(lambda chosen: sorted(chosen, key=WEEK.index))


def numbers(field: str) -> set[int]:
    """Return the values that a cron field permits."""
    found = set()
    for part in field.split(","):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def fires(schedule: str) -> set[int]:
    """Return the minutes of the week at which cron runs the job."""
    minute, hour, day, month, weekday = schedule.split()
    assert (day, month) == ("*", "*")
    on = WEEK if weekday == "*" else weekday.split(",")
    at = {60 * hours + minutes for hours in numbers(hour) for minutes in numbers(minute)}
    return {WEEK.index(day) * DAY_MINUTES + minute for day in on for minute in at}


@settings(max_examples=40)
@given(days=days, begin=clocks, end=clocks)
def test_schedules_turn_a_window_when_it_turns_and_never_hold_it_while_it_is_open(
    days: list[str], begin: int, end: int
) -> None:
    assume(LEAST_MINUTES <= (end - begin) % DAY_MINUTES <= DAY_MINUTES - LEAST_MINUTES)
    clock = [f"{minute // 60:02}:{minute % 60:02}" for minute in (begin, end)]
    window = WindowSpec.model_validate({"days": days, "from": clock[0], "to": clock[1], "timezone": "UTC"})
    covered = [window.covers(moment) for moment in MOMENTS]
    turns = {minute for minute in range(len(covered)) if covered[minute] != covered[minute - 1]}
    opened = {minute for minute in turns if covered[minute]}
    closes = fires(closing(window))

    assert fires(opening(window)) == opened
    assert turns - opened <= closes
    assert not any(covered[(minute + late) % len(covered)] for minute in closes for late in range(LEAST_MINUTES))
