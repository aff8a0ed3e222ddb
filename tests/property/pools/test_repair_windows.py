"""The cluster's program agrees with the data models, for arbitrary windows, time zones, freezes and times."""

from __future__ import annotations

import datetime as dt
import json
import zoneinfo

from hypothesis import given, settings
from hypothesis import strategies as st

from components.programs.repair_times import waits_for
from components.render.health.node_tests import RepairTimes
from components.specs.region.policy import FreezeSpec
from components.specs.times import DAY_MINUTES, WindowSpec
from tests.support.objects.node_test_objects import node, verdict

ZONES = sorted(zoneinfo.available_timezones())
WEEK = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
FAULT = verdict("GpuResetRequired", "True", -30)
clocks = st.integers(0, DAY_MINUTES - 1).map(lambda minute: f"{minute // 60:02}:{minute % 60:02}")
moments = st.datetimes(dt.datetime(2026, 1, 1), dt.datetime(2028, 1, 1), timezones=st.just(dt.UTC))  # noqa: DTZ001
windows = (
    st.fixed_dictionaries(
        {
            "days": st.lists(st.sampled_from(WEEK), min_size=1, unique=True),
            "from": clocks,
            "to": clocks,
            "timezone": st.sampled_from(ZONES),
        }
    )
    .filter(lambda window: window["from"] != window["to"])
    .map(WindowSpec.model_validate)
)


@st.composite
def freezes(draw: st.DrawFn, near: dt.datetime) -> FreezeSpec:
    begin = near + dt.timedelta(minutes=draw(st.integers(-DAY_MINUTES, DAY_MINUTES)))
    end = begin + dt.timedelta(minutes=draw(st.integers(1, DAY_MINUTES)))
    return FreezeSpec.model_validate({"name": "quiet", "from": begin, "to": end, "reason": "drawn"})


@settings(max_examples=300)
@given(data=st.data(), window=st.none() | windows, now=moments)
def test_a_repair_waits_exactly_while_the_data_forbid_it(
    data: st.DataObject, window: WindowSpec | None, now: dt.datetime
) -> None:
    drawn = tuple(data.draw(st.lists(freezes(now), max_size=2)))
    times = json.loads(json.dumps(RepairTimes(window=window, freezes=drawn, approval=False).settings()))
    start = now + dt.timedelta(seconds=times["hold_seconds"])
    closed = window is not None and not (window.covers(now) and window.covers(start))
    frozen = any(freeze.from_ <= start and now < freeze.to for freeze in drawn)

    assert (waits_for(node(), (FAULT,), times, now) is not None) == (closed or frozen)
