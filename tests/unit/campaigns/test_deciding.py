"""Next step of a campaign: order, waves, soak times, stops, and the effect of a second run."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from components.campaigns.deciding import Advance, advance
from components.campaigns.decision import CampaignState, Reason, RegionState
from components.rollout.promotion import Promotion
from components.specs.environment import Environment
from tests.support.changes.campaigns import (
    NOW,
    Walk,
    campaign,
    fleet,
    hours,
    promoted,
    reasons,
    region,
    regions,
    states,
)
from tests.support.changes.rollouts import NEW, OLD, rollable
from tests.support.data.small_region import changed

READY, WAITING, STOPPED, COMPLETE = (
    CampaignState.READY,
    CampaignState.WAITING,
    CampaignState.STOPPED,
    CampaignState.COMPLETE,
)


def soaked(walk: Walk, *names: str) -> Advance:
    """Promote a step, and record the evidence of its soak."""
    found = walk.run()
    start, walk.now = walk.now, walk.now + hours(60)
    assert found.decision.state is READY
    return walk.run(*(walk.seen(name, since=start + hours(2)) for name in names))


def test_the_first_edit_is_that_of_a_promotion_of_the_canary() -> None:
    walk = Walk(campaign())
    before = walk.state["canary"]

    found = walk.run()

    assert found.decision.state is READY
    assert found.pins == {"canary": Promotion(before, "one-one/rack", NEW, NOW.date()).next_wave(1)}
    [wave] = found.decision.regions[0].promoted
    assert (wave.key, wave.version, wave.wave, wave.groups) == ("one-one/rack", NEW, 1, ("one-one/rack/n1",))
    assert states(found) == [RegionState.PROMOTING, *[RegionState.PENDING] * 3]
    progress = found.campaign.progress["canary"]
    assert (progress.started, progress.promoted, progress.settled) == (NOW, ("one-one/rack",), None)


def test_a_campaign_runs_from_its_first_to_its_last_region() -> None:
    walk = Walk(campaign())

    after_canary = soaked(walk, "canary")
    assert {*after_canary.pins} == {"desk", "bench"}
    assert walk.spec.progress["canary"].soaked == walk.now
    start, walk.now = walk.now, walk.now + hours(60)
    one_of_two = walk.run(walk.seen("desk", since=start + hours(1)))
    assert (one_of_two.pins, reasons(one_of_two)) == ({}, [("bench", Reason.EVIDENCE)])
    assert states(one_of_two)[1:] == [RegionState.SOAKED, RegionState.PROMOTING, RegionState.PENDING]
    both = walk.run(walk.seen("bench", since=start + hours(1)))
    assert {*both.pins} == {"plant"}
    walk.now += hours(50)
    last = walk.run(walk.seen("plant", since=walk.now - hours(48)))

    assert (last.decision.state, last.pins) == (COMPLETE, {})
    assert all(promoted(environment, walk.spec) == (1, 1) for environment in walk.state.values())
    again = walk.run()
    assert (again.decision.state, again.campaign) == (COMPLETE, last.campaign)


def test_a_second_run_changes_nothing() -> None:
    walk = Walk(campaign())
    first = walk.run()

    second = walk.run()

    assert (second.decision.state, second.pins, second.campaign) == (WAITING, {}, first.campaign)
    assert reasons(second) == [("canary", Reason.EVIDENCE)]
    assert second.decision.reasons[0][1].text == (
        "there is no evidence that promoted nodes are settled; write it with jacquard status canary --format json >"
        " canary.json"
    )


@pytest.mark.parametrize(
    ("settled", "state"),
    [(23.9, WAITING), (24, READY), (90, READY)],
)
def test_a_step_starts_after_the_soak_and_not_before(settled: float, state: CampaignState) -> None:
    walk = Walk(campaign())
    walk.run()
    walk.now += hours(100)
    since = walk.now - hours(settled)

    found = walk.run(walk.seen("canary", since=since))

    assert found.decision.state is state
    canary = found.decision.regions[0]
    if state is WAITING:
        until = since + hours(24)
        assert (canary.state, canary.until) == (RegionState.SOAKING, until)
        text = f"was settled for 23 of 24 hours; observe it again at {until.isoformat()}"
        assert [(item.reason, item.text) for item in canary.reasons] == [(Reason.SOAK, text)]
        assert walk.spec.progress["canary"].settled == since
        assert found.pins == {}


def test_waves_of_a_region_need_evidence_one_by_one() -> None:
    walk = Walk(campaign(), regions() | {"canary": region("canary", 3, {"max_rolling_nvlink_domains": 1})})
    assert walk.run().decision.state is READY

    for count in (2, 3):
        walk.now += hours(3)
        assert reasons(walk.run()) == [("canary", Reason.EVIDENCE)]
        assert walk.run(walk.seen("canary")).decision.state is READY
        assert promoted(walk.state["canary"], walk.spec) == (count, 3)

    assert walk.state["canary"].image_pins.rollouts == {}
    assert reasons(walk.run(walk.seen("canary"))) == [("canary", Reason.SOAK)]


def test_a_target_waits_for_the_next_run_if_a_limit_counts_the_other_targets() -> None:
    walk = Walk(campaign(), regions() | {"canary": two_pools({"max_unavailable_per_fabric": 1})})

    first = walk.run()

    assert [wave.key for wave in first.decision.regions[0].promoted] == ["one-one/rack"]
    assert reasons(first) == [("canary", Reason.LIMIT)]
    assert first.decision.reasons[0][1].text == (
        "two-one/rack: 2 nodes would be unavailable simultaneously in fabric ib, max_unavailable_per_fabric allows 1;"
        " the next run continues"
    )
    walk.now += hours(1)
    second = walk.run(walk.seen("canary"))
    assert [wave.key for wave in second.decision.regions[0].promoted] == ["two-one/rack"]
    assert {*walk.spec.progress["canary"].promoted} == {"one-one/rack", "two-one/rack"}


def test_targets_within_the_limits_are_promoted_together() -> None:
    walk = Walk(campaign(), regions() | {"canary": two_pools({"max_unavailable_per_fabric": 2})})

    found = walk.run()

    assert [wave.key for wave in found.decision.regions[0].promoted] == ["one-one/rack", "two-one/rack"]
    assert promoted(walk.state["canary"], walk.spec) == (2, 2)


def two_pools(limits: dict[str, Any]) -> Environment:
    """Return a region of two tenants with one rack each."""
    made = rollable({"one": 1, "two": 1}, limits=limits)
    return changed(made, name="canary", region=changed(made.region, region="canary"))


def settled_canary() -> Walk:
    walk = Walk(campaign())
    walk.run()
    walk.now += hours(4)
    assert reasons(walk.run(walk.seen("canary"))) == [("canary", Reason.SOAK)]
    walk.now += hours(2)
    return walk


def test_a_failed_soak_stops_the_campaign_until_the_stop_is_removed() -> None:
    walk = settled_canary()
    failed = {"settled": False, "settled_since": None, "ready": 3, "why": ["1 of 4 nodes is not ready"]}

    found = walk.run(walk.seen("canary", **failed))

    assert (found.decision.state, found.pins, states(found)[0]) == (STOPPED, {}, RegionState.STOPPED)
    assert reasons(found) == [("canary", Reason.FAILED_SOAK)]
    stop = walk.spec.stopped
    assert stop is not None
    assert (stop.region, stop.at, stop.evidence) == ("canary", walk.now, walk.seen("canary", **failed).digest)
    assert stop.reason == (
        "1 failed after all were settled, failed_nodes allows 0: one-one/rack/n1 is not settled: 1 of 4 nodes is not"
        " ready"
    )
    walk.now += hours(100)
    still = walk.run(walk.seen("canary", since=walk.now - hours(90)))
    assert (still.decision.state, still.pins, still.campaign.stopped) == (STOPPED, {}, stop)
    assert reasons(still) == [("canary", Reason.STOPPED)]
    walk.spec = walk.spec.model_copy(update={"stopped": None})
    assert {*walk.run(walk.seen("canary", since=walk.now - hours(90))).pins} == {"desk", "bench"}


def test_failed_nodes_within_the_limit_restart_the_soak() -> None:
    walk = Walk(campaign(steps=[{"regions": ["plant"], "soak_hours": 24, "stop": {"failed_nodes": 1}}]))
    walk.run()
    walk.now += hours(20)
    walk.run(walk.seen("plant", since=walk.now - hours(10)))
    failed = {"settled": False, "settled_since": None, "ready": 3}

    assert reasons(walk.run(walk.seen("plant", **failed))) == [("plant", Reason.SETTLING)]
    walk.now += hours(20)
    assert reasons(walk.run(walk.seen("plant", since=walk.now - hours(19)))) == [("plant", Reason.SOAK)]
    failed["ready"] = 2
    assert reasons(walk.run(walk.seen("plant", **failed))) == [("plant", Reason.FAILED_SOAK)]


@pytest.mark.parametrize(("waited", "state"), [(10, WAITING), (10.1, STOPPED)])
def test_nodes_that_do_not_settle_in_time_stop_the_campaign(waited: float, state: CampaignState) -> None:
    steps = [{"regions": ["plant"], "soak_hours": 24, "stop": {"settle_hours": 10}}]
    walk = Walk(campaign(steps=steps))
    walk.run()
    walk.now += hours(waited)

    found = walk.run(walk.seen("plant", settled=False, settled_since=None, ready=3))

    assert found.decision.state is state
    if state is STOPPED:
        assert found.decision.reasons[0][1].text == (
            "not settled 10 hours after 2026-12-01T12:00:00+00:00 (settle_hours): one-one/rack/n1 is not settled"
        )


def test_a_rollback_stops_the_campaign_instead_of_being_promoted_again() -> None:
    walk = settled_canary()
    back = Promotion(walk.state["canary"], "one-one/rack", None).all_at_once()
    walk.state["canary"] = changed(walk.state["canary"], image_pins=back)
    assert promoted(walk.state["canary"], walk.spec) == (0, 1)

    found = walk.run()

    assert (found.decision.state, found.pins) == (STOPPED, {})
    assert found.decision.reasons[0][1].text == "one-one/rack was rolled back, or promoted to another version"


def test_a_stop_in_one_region_of_a_step_stops_the_others() -> None:
    steps = [{"regions": ["canary"], "soak_hours": 1}, {"regions": ["desk", "bench"], "soak_hours": 24}]
    state = regions() | {"bench": region("bench", 2, {"max_rolling_nvlink_domains": 1})}
    walk = Walk(campaign(steps=steps), state)
    walk.run()
    walk.now += hours(5)
    assert {*walk.run(walk.seen("canary", since=walk.now - hours(2))).pins} == {"desk", "bench"}
    walk.now += hours(2)
    walk.run(walk.seen("desk"))
    walk.now += hours(0.5)

    failed = walk.seen("desk", settled=False, settled_since=None, ready=0)
    found = walk.run(failed, walk.seen("bench"))

    assert (found.decision.state, found.pins) == (STOPPED, {})
    assert all(not item.promoted for item in found.decision.regions)
    assert promoted(walk.state["bench"], walk.spec) == (1, 2)


def test_a_region_that_has_the_version_before_the_campaign_must_prove_its_soak() -> None:
    walk = Walk(campaign())
    walk.state["canary"] = changed(
        walk.state["canary"], image_pins=Promotion(walk.state["canary"], "one-one/rack", NEW).all_at_once()
    )

    assert reasons(walk.run()) == [("canary", Reason.EVIDENCE)]
    found = walk.run(walk.seen("canary", since=NOW - hours(24)))

    assert {*found.pins} == {"desk", "bench"}
    assert walk.spec.progress["canary"].started is None


def test_a_campaign_to_the_old_image_moves_nothing_that_has_it() -> None:
    walk = Walk(campaign(images=[OLD]))

    assert reasons(walk.run()) == [("canary", Reason.EVIDENCE)]


def test_the_decision_does_not_read_the_clock() -> None:
    spec, state = campaign(), regions()

    first, second = (advance(spec, fleet(spec), state, {}, NOW) for _ in range(2))

    assert first == second
    later = advance(spec, fleet(spec), state, {}, NOW + dt.timedelta(days=1))
    assert later.pins == first.pins


def test_the_decision_as_json() -> None:
    walk = settled_canary()

    data = walk.run(walk.seen("canary")).decision.to_json()

    assert (data["campaign"], data["state"], data["schema_version"]) == ("driver", "waiting", 1)
    first = data["regions"][0]
    assert (first["region"], first["state"], first["until"]) == ("canary", "soaking", "2026-12-02T17:00:00+00:00")
    assert first["targets"][0]["done"] is True
    assert first["reasons"][0]["reason"] == "soak"
