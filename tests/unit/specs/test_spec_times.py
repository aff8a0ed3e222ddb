"""Windows in the local time of their zone."""

from __future__ import annotations

import datetime as dt

import pytest

from components.specs.times import WindowSpec


def _window(days: list[str], begin: str, end: str, timezone: str) -> WindowSpec:
    return WindowSpec.model_validate({"days": days, "from": begin, "to": end, "timezone": timezone})


def _utc(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("moment", "covered"),
    [
        ("2026-11-03T01:59:59", False),
        ("2026-11-03T02:00:00", True),
        ("2026-11-03T05:59:59", True),
        ("2026-11-03T06:00:00", False),
        ("2026-11-04T02:00:00", False),
        ("2026-11-05T02:00:00", True),
    ],
)
def test_a_window_is_open_from_its_start_until_before_its_end(moment: str, *, covered: bool) -> None:
    assert _window(["tue", "thu"], "02:00", "06:00", "UTC").covers(_utc(moment)) is covered


@pytest.mark.parametrize(
    ("moment", "covered"),
    [
        ("2026-11-06T21:59:00", False),
        ("2026-11-06T22:00:00", True),
        ("2026-11-07T03:59:00", True),
        ("2026-11-07T04:00:00", False),
        ("2026-11-06T03:00:00", False),
        ("2026-11-07T22:00:00", False),
    ],
)
def test_a_window_over_midnight_belongs_to_the_day_on_which_it_opens(moment: str, *, covered: bool) -> None:
    assert _window(["fri"], "22:00", "04:00", "UTC").covers(_utc(moment)) is covered


def test_a_window_follows_the_clock_change_of_its_zone() -> None:
    window = _window(["wed"], "02:00", "03:00", "Europe/Berlin")

    assert window.covers(_utc("2026-07-01T00:30:00"))
    assert not window.covers(_utc("2026-12-02T00:30:00"))
    assert window.covers(_utc("2026-12-02T01:30:00"))


def test_a_window_is_written_as_it_was_read() -> None:
    data = {"days": ["tue"], "from": "02:00", "to": "06:30", "timezone": "UTC"}

    assert WindowSpec.model_validate(data).model_dump(mode="json") == data


def test_a_window_opens_at_moments_of_its_zone_each_time_that_it_is_open_in_a_span() -> None:
    window = _window(["sat", "sun"], "22:00", "04:00", "Europe/Berlin")

    found = window.openings(_utc("2026-10-24T22:30:00"), _utc("2026-10-31T21:30:00"))

    assert [(str(opens), str(ends)) for opens, ends in found] == [
        ("2026-10-24 20:00:00+00:00", "2026-10-25 03:00:00+00:00"),  # The night is one hour longer.
        ("2026-10-25 21:00:00+00:00", "2026-10-26 03:00:00+00:00"),
        ("2026-10-31 21:00:00+00:00", "2026-11-01 03:00:00+00:00"),
    ]


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kathmandu", "America/Los_Angeles"])
@pytest.mark.parametrize(("begins", "ends"), [("02:15", "06:45"), ("21:00", "03:30")])
def test_exactly_the_times_within_a_window_are_covered(begins: str, ends: str, zone: str) -> None:
    window = _window(["mon", "tue", "fri"], begins, ends, zone)
    since = _utc("2026-11-16T00:00:00")
    openings = list(window.openings(since, since + dt.timedelta(days=8)))

    for quarter in range(8 * 24 * 4):
        moment = since + dt.timedelta(minutes=15 * quarter)
        assert window.covers(moment) is any(opens <= moment < closes for opens, closes in openings), moment
