"""Permitted times for the remediation of an idle node with a soft fault: approvals, freezes, windows and requests."""

from __future__ import annotations

import datetime as dt
import zoneinfo
from typing import Any

import pytest

from components.programs.objects import REQUESTED
from components.programs.repair_times import APPROVAL, APPROVED, FREEZE, WINDOW, waits_for
from tests.support.objects.node_test_objects import node, verdict

HOLD = 300
FAULT = {**verdict("GpuResetRequired", "True", -30), "reason": "DriverRequiresReset"}
REQUEST = {**verdict("RebootWhenIdleRequested", "True", -30), "reason": REQUESTED}
NIGHT = {"days": ["tue", "thu"], "from": "22:00", "to": "05:00", "timezone": "Europe/Rome"}
MORNING = {"days": ["sun"], "from": "01:00", "to": "04:00", "timezone": "America/New_York"}
HALF_HOUR = {"days": ["mon"], "from": "00:00", "to": "02:00", "timezone": "Asia/Kolkata"}
YEAR_END = {"name": "year-end", "from": "2026-12-18T00:00:00+01:00", "to": "2027-01-04T00:00:00+00:00"}


def booted(boot: str | None = "boot-1", approved: str | None = None) -> dict[str, Any]:
    body = node()
    body["metadata"]["annotations"] = {APPROVED: approved} if approved else {}
    body["status"]["nodeInfo"] = {"bootID": boot} if boot else {}
    return body


def reason(times: dict[str, Any], now: str, body: dict[str, Any] | None = None, *faults: dict[str, Any]) -> str | None:
    moment = dt.datetime.fromisoformat(now)
    wait = waits_for(body or booted(), faults or (FAULT,), {"hold_seconds": HOLD, **times}, moment)
    return wait[0] if wait else None


@pytest.mark.parametrize(
    ("window", "now", "waits"),
    [
        pytest.param(NIGHT, "2026-11-24T20:59:00Z", True, id="Tuesday, a minute before it opens"),
        pytest.param(NIGHT, "2026-11-24T21:00:00Z", False, id="Tuesday, it opens"),
        pytest.param(NIGHT, "2026-11-25T03:54:00Z", False, id="Wednesday, long enough before it closes"),
        pytest.param(NIGHT, "2026-11-25T03:56:00Z", True, id="Wednesday, the repair would begin after it closes"),
        pytest.param(NIGHT, "2026-11-25T22:00:00Z", True, id="Wednesday night"),
        pytest.param(NIGHT, "2026-07-21T20:00:00Z", False, id="it opens an hour earlier in summer"),
        pytest.param(NIGHT, "2026-07-21T19:59:00Z", True, id="and not sooner"),
        pytest.param(MORNING, "2026-11-01T05:00:00Z", False, id="the clock goes back: first 01:00"),
        pytest.param(MORNING, "2026-11-01T06:30:00Z", False, id="the clock goes back: second 01:30"),
        pytest.param(MORNING, "2026-11-01T08:54:00Z", False, id="the clock goes back: 03:54"),
        pytest.param(MORNING, "2026-11-01T09:00:00Z", True, id="the clock goes back: 04:00"),
        pytest.param(MORNING, "2026-03-08T06:58:00Z", False, id="the clock goes forward: 01:58 to 03:03"),
        pytest.param(MORNING, "2026-03-08T07:56:00Z", True, id="the clock goes forward: 03:56"),
        pytest.param(HALF_HOUR, "2026-11-22T18:30:00Z", False, id="Monday in India, Sunday in UTC"),
        pytest.param(HALF_HOUR, "2026-11-23T00:30:00Z", True, id="Monday in UTC, past the window in India"),
    ],
)
def test_a_repair_begins_and_ends_its_hold_time_within_the_window(
    window: dict[str, Any], now: str, *, waits: bool
) -> None:
    assert reason({"window": window}, now) == (WINDOW if waits else None)


@pytest.mark.parametrize(
    ("now", "waits"),
    [
        ("2026-12-17T22:54:00Z", False),
        ("2026-12-17T22:56:00Z", True),
        ("2026-12-24T00:00:00Z", True),
        ("2027-01-03T23:59:59Z", True),
        ("2027-01-04T00:00:00Z", False),
    ],
)
def test_no_repair_begins_in_a_freeze(now: str, *, waits: bool) -> None:
    assert reason({"freezes": [YEAR_END]}, now) == (FREEZE if waits else None)
    assert reason({"freezes": [YEAR_END, {**YEAR_END, "to": "2026-12-19T00:00:00Z"}]}, now) == (
        FREEZE if waits else None
    )


@pytest.mark.parametrize(
    ("body", "waits"),
    [
        pytest.param(booted(), True, id="not approved"),
        pytest.param(booted(approved="boot-1"), False, id="approved"),
        pytest.param(booted(approved="boot-0"), True, id="approved before the last boot"),
        pytest.param(booted(None, approved="boot-1"), True, id="a node whose boot is unknown"),
        pytest.param(booted(None, approved="None"), True, id="the text of a missing boot"),
    ],
)
def test_an_approval_is_for_one_boot(body: dict[str, Any], *, waits: bool) -> None:
    assert reason({"approval": True}, "2026-11-25T12:00:00Z", body) == (APPROVAL if waits else None)
    assert reason({}, "2026-11-25T12:00:00Z", body) is None


def test_an_approval_does_not_open_a_window() -> None:
    times, approved = {"approval": True, "window": NIGHT}, booted(approved="boot-1")

    assert reason(times, "2026-11-25T12:00:00Z") == APPROVAL
    assert reason(times, "2026-11-25T12:00:00Z", approved) == WINDOW
    assert reason(times, "2026-11-24T21:00:00Z", approved) is None


def test_a_requested_reboot_waits_for_nothing() -> None:
    times = {"approval": True, "window": NIGHT, "freezes": [YEAR_END]}

    assert reason(times, "2026-12-24T12:00:00Z", None, REQUEST) is None
    assert reason(times, "2026-12-24T12:00:00Z", None, FAULT, REQUEST) is None


def test_messages_state_the_start_of_the_remediation() -> None:
    def message(times: dict[str, Any]) -> str:
        wait = waits_for(booted(), (FAULT,), times, dt.datetime(2026, 12, 24, 12, tzinfo=dt.UTC))
        assert wait is not None
        return wait[1]

    assert message({"approval": True}) == "the tenant approves the reboot by the annotation " + APPROVED + "=boot-1"
    assert message({"freezes": [YEAR_END]}) == "freeze year-end lasts until 2027-01-04T00:00:00+00:00"
    assert message({"window": NIGHT}) == "the window of the tenant is closed (tue,thu 22:00-05:00 Europe/Rome)"


def test_an_image_without_time_zones_repairs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """An image may lack the database of time zones; the official images of Python have it."""

    def missing(_name: str) -> zoneinfo.ZoneInfo:
        raise zoneinfo.ZoneInfoNotFoundError

    monkeypatch.setattr(zoneinfo, "ZoneInfo", missing)

    wait = waits_for(booted(), (FAULT,), {"window": NIGHT}, dt.datetime(2026, 11, 24, 21, tzinfo=dt.UTC))

    assert wait is not None
    assert wait[0] == WINDOW
    assert "has no time zone data" in wait[1]
