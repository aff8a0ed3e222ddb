"""Windows in the time of their zone."""

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
