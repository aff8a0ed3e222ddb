"""Reasons why a campaign waits, with their texts."""

from __future__ import annotations

from typing import Any

import pytest

from components.campaigns.decision import CampaignState, Reason
from components.rollout.promotion import Promotion
from components.specs.environment import Environment
from components.specs.region.evidence import Evidence
from components.specs.region.policy import PolicySpec
from tests.support.changes.campaigns import Walk, campaign, hours, proof, reasons, region, regions
from tests.support.changes.rollouts import NEW, OLD
from tests.support.data.small_region import changed

READY, WAITING = CampaignState.READY, CampaignState.WAITING


def stale(walk: Walk) -> Evidence:
    return proof(walk.state["canary"], walk.now - hours(1.1))


def early(walk: Walk) -> Evidence:
    return proof(walk.state["canary"], walk.now + hours(0.2))


def not_applied(walk: Walk) -> Evidence:
    return proof(region("canary"), walk.now)


def booting(walk: Walk) -> Evidence:
    return walk.seen("canary", settled=False, settled_since=None, ready=1, why=["3 of 4 nodes are not ready"])


@pytest.mark.parametrize(
    ("make", "reason", "text"),
    [
        (stale, Reason.EVIDENCE, "canary.json is from 2026-12-01T16:54:00+00:00, older than 1 hour; write jacquard"),
        (early, Reason.EVIDENCE, "canary.json is from 2026-12-01T18:12:00+00:00, later than now"),
        (not_applied, Reason.SETTLING, "one-one/rack/n1 has "),
        (booting, Reason.SETTLING, "one-one/rack/n1 is not settled: 3 of 4 nodes are not ready"),
    ],
)
def test_evidence_that_proves_nothing(make: Any, reason: Reason, text: str) -> None:
    walk = Walk(campaign())
    before = walk.run().campaign
    walk.now += hours(6)

    found = walk.run(make(walk))

    assert (found.decision.state, found.pins, found.campaign) == (WAITING, {}, before)
    assert reasons(found) == [("canary", reason)]
    assert found.decision.reasons[0][1].text.startswith(text)


@pytest.mark.parametrize("status", ["draining", "retired"])
def test_a_closed_region_waits(status: str) -> None:
    walk = Walk(campaign(), canary={"status": status, "jurisdictions": ["us"]})

    found = walk.run()

    assert reasons(found) == [("canary", Reason.STATUS)]
    assert found.decision.reasons[0][1].text == (
        f"canary is {status}; remove it from the steps, or write open in fleet.yaml"
    )


def test_a_region_that_is_being_built_may_be_the_canary() -> None:
    assert Walk(campaign(), canary={"status": "building", "jurisdictions": ["us"]}).run().decision.state is READY


def test_a_freeze_waits_and_names_its_end() -> None:
    walk = Walk(campaign())
    freeze = {"name": "end-of-year", "from": "2026-11-30T00:00:00Z", "to": "2026-12-02T00:00:00Z", "reason": "audit"}
    policy = PolicySpec.model_validate({"schema_version": 1, "freezes": [freeze]}, strict=False)
    walk.state["canary"] = changed(walk.state["canary"], policy=policy)

    found = walk.run()

    assert reasons(found) == [("canary", Reason.FREEZE)]
    assert found.decision.reasons[0][1].text == (
        "freeze end-of-year protects one until 2026-12-02T00:00:00+00:00: audit"
    )
    walk.now += hours(24)
    assert walk.run().decision.state is READY


def rolling(*, back: bool) -> Environment:
    """Return a region with an open rollout to the new image, or with its open rollback."""
    before = region("canary", 3, {"max_rolling_nvlink_domains": 1})
    opened = changed(before, image_pins=Promotion(before, "one-one/rack", NEW).next_wave(1))
    if not back:
        return opened
    wider = changed(opened, image_pins=Promotion(opened, "one-one/rack", NEW).next_wave(2, proof(opened)))
    return changed(wider, image_pins=Promotion(wider, "one-one/rack", None).next_wave(1))


@pytest.mark.parametrize(("image", "back", "kind", "to"), [(OLD, False, "rollout", NEW), (NEW, True, "rollback", OLD)])
def test_another_open_rollout_waits(*, image: str, back: bool, kind: str, to: str) -> None:
    walk = Walk(campaign(images=[image]), regions() | {"canary": rolling(back=back)})

    found = walk.run()

    assert reasons(found) == [("canary", Reason.ROLLOUT)]
    assert found.decision.reasons[0][1].text == (
        f"one-one/rack has an open {kind} to {to}; finish it with jacquard promote canary one-one/rack"
    )


def test_an_image_outside_the_channel_is_refused() -> None:
    found = Walk(campaign(images=["gpu-2026.12.0"])).run()

    assert reasons(found) == [("canary", Reason.REFUSED)]
    text = "one-one/rack: image gpu-2026.12.0 is in candidate, not in channel stable of region.yaml"
    assert found.decision.reasons[0][1].text.startswith(text)
