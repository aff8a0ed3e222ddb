"""Schedule of rollouts: consecutive waves, within windows, after freezes, and unknown durations."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from components.specs.times import DAY_MINUTES
from jacquard.previews.impacts.timeline import NamedSpan, Span, TenantTimeline, Timeline, Wave, timeline
from tests.support.changes.impacts import edited, impact_of

START = dt.datetime(2026, 11, 22, tzinfo=dt.UTC)
"""A Sunday."""
STEPS = "  durations: {drain_minutes: 10, deprovision_minutes: 5, boot_minutes: 15, join_minutes: 5}\n"
WINDOW = "changes: {approval: required, window: {days: [mon, thu], from: '02:00', to: '04:00', timezone: UTC}}"
PROMOTED = ("promote acme-train/train gpu-2026.11.1",)


def rolled(folder: Path, *edits: tuple[str, ...]) -> Timeline:
    bench = edited(folder, "laptop", edits, PROMOTED)
    return timeline(bench.load(), impact_of(bench), START)


def of_acme(found: Timeline) -> TenantTimeline:
    [tenant] = found.tenants
    assert tenant.tenant == "acme"
    return tenant


def held(text: str = "enforce") -> tuple[tuple[str, ...], ...]:
    return (
        ("region.yaml", f"{STEPS}  windows: {text}\n"),
        ("tenants/acme.yaml", "changes: {approval: required}", WINDOW),
    )


def frozen(*spans: str) -> tuple[str, str]:
    lines = [f"  - {{name: f{index}, {span}, reason: r}}\n" for index, span in enumerate(spans)]
    return ("policy.yaml", "schema_version: 1\nfreezes:\n" + "".join(lines))


AT_ONCE = ("tenants/acme.yaml", "strategy: idle, ", "")
"""Nodes are drained for at most an hour, with any workload."""


def test_a_rollout_that_waits_for_jobs_has_no_known_end(tmp_path: Path) -> None:
    found = rolled(tmp_path, ("region.yaml", STEPS))

    lane = of_acme(found).lanes[0]
    assert (found.minutes, lane.ends, lane.ends_most) == (DAY_MINUTES, 175, None)


def test_nodes_of_a_gated_pool_are_replaced_by_the_next_ones_after_their_burn_in(tmp_path: Path) -> None:
    gated = ("tenants/acme.yaml", "rollout: {strategy: idle, ", "health: {burn_in: gated}\n        rollout: {")
    found = rolled(tmp_path, ("region.yaml", STEPS), gated)

    round_minutes = 20 + 10 + 120 + 5 + 5 + 1
    nodes, burn_in = 5, 9 * round_minutes  # The first whole rounds that last a day
    assert [lane.ends for lane in of_acme(found).lanes] == [nodes * (35 + burn_in)] * 2


def test_waves_of_a_group_follow_each_other_and_groups_roll_side_by_side(tmp_path: Path) -> None:
    found = rolled(tmp_path, ("region.yaml", STEPS), AT_ONCE)

    assert (found.start, found.minutes) == (START, DAY_MINUTES)
    lanes = of_acme(found).lanes
    assert [lane.group for lane in lanes] == ["acme-train/train/a01", "acme-train/train/a02"]
    for lane in lanes:  # Five nodes, one at a time, 35 minutes each; 85 if a drain takes an hour
        assert lane.waves == (Wave(begins=0, ends=175, first=1, last=5, nodes=5),)
        assert (lane.ends_most, lane.nodes, lane.count, lane.spares, lane.promotion) == (425, 5, 5, (1, 1), None)


def test_a_wave_begins_within_a_window_and_may_end_after_it(tmp_path: Path) -> None:
    found = rolled(tmp_path, *held(), AT_ONCE)

    monday, thursday = DAY_MINUTES + 120, 4 * DAY_MINUTES + 120
    tenant = of_acme(found)
    assert tenant.held
    assert tenant.windows == tuple(
        Span(begins=minute, ends=minute + 120) for minute in (monday, thursday, monday + 7 * DAY_MINUTES)
    )
    assert tenant.lanes[0].waves == (
        Wave(begins=monday, ends=monday + 140, first=1, last=4, nodes=4),
        Wave(begins=thursday, ends=thursday + 35, first=5, last=5, nodes=1),
    )
    # With drains of an hour, two waves start in each window: the fifth one starts on the following Monday.
    assert tenant.lanes[0].ends_most == 8 * DAY_MINUTES + 120 + 85
    assert found.minutes == 9 * DAY_MINUTES


def test_a_window_that_is_not_enforced_is_only_shown(tmp_path: Path) -> None:
    tenant = of_acme(rolled(tmp_path, *held("annotate")))

    assert not tenant.held
    assert tenant.lanes[0].waves == (Wave(begins=0, ends=175, first=1, last=5, nodes=5),)


def test_nothing_begins_before_the_freezes_end_that_protect_the_tenant(tmp_path: Path) -> None:
    first = "from: 2026-11-20T00:00:00Z, to: 2026-11-24T00:00:00Z"
    joined = "from: 2026-11-23T12:00:00Z, to: 2026-11-25T00:00:00Z, tenants: [acme]"
    others = "from: 2026-11-21T00:00:00Z, to: 2026-12-24T00:00:00Z, tenants: [globex]"
    later = "from: 2026-11-25T01:00:00Z, to: 2026-11-26T00:00:00Z"

    tenant = of_acme(rolled(tmp_path, ("region.yaml", STEPS), frozen(first, joined, others, later)))

    assert tenant.begins == 3 * DAY_MINUTES
    assert tenant.freezes == (
        NamedSpan(name="f0", begins=-2 * DAY_MINUTES, ends=2 * DAY_MINUTES),
        NamedSpan(name="f1", begins=DAY_MINUTES + 720, ends=3 * DAY_MINUTES),
        NamedSpan(name="f3", begins=3 * DAY_MINUTES + 60, ends=4 * DAY_MINUTES),
    )
    assert (
        tenant.lanes[0].waves[0].begins == 3 * DAY_MINUTES
    )  # A started rollout continues through the following freeze.


def test_without_durations_only_the_number_of_waves_is_known(tmp_path: Path) -> None:
    found = rolled(tmp_path)

    assert found.minutes == 28 * DAY_MINUTES
    lane = of_acme(found).lanes[0]
    assert (lane.waves, lane.ends_most, lane.count, lane.nodes) == ((), None, 5, 5)


def test_a_paused_pool_rolls_at_no_time(tmp_path: Path) -> None:
    lane = of_acme(
        rolled(
            tmp_path,
            ("region.yaml", STEPS),
            ("tenants/acme.yaml", "rollout: {", "rollout: {paused: true, "),
        )
    ).lanes[0]

    assert (lane.waves, lane.roll.paused) == ((), True)


def test_a_rollout_with_spares_uses_them_until_it_ends(tmp_path: Path) -> None:
    lane = of_acme(
        rolled(
            tmp_path,
            ("region.yaml", STEPS),
            ("tenants/acme.yaml", "rollout: {", "rollout: {surge: 1, "),
        )
    ).lanes[0]

    assert (lane.spares, lane.roll.spares_floor, lane.roll.out_at_once) == ((1, 0), 1, 0)


def test_a_change_that_rolls_nothing_has_an_empty_timeline(tmp_path: Path) -> None:
    bench = edited(tmp_path, "laptop", [], ())
    assert timeline(bench.load(), impact_of(bench), START).tenants == ()
