"""Campaigns with a chart: the waves of clusters, and the soak of all clusters of a region."""

from __future__ import annotations

import datetime as dt
from typing import Any

from components.campaigns.decision import CampaignState, Reason, RegionState
from components.rollout.promotion import Promotion
from tests.support.changes import chart_rollouts
from tests.support.changes.campaigns import Walk, campaign, reasons
from tests.support.changes.chart_rollouts import CHART, NEW, PROMOTED
from tests.support.data.small_region import changed

SEEN = dt.datetime(2026, 11, 21, 9, tzinfo=dt.UTC)
"""Time of the evidence about charts."""
CLUSTERS = ("acme-train", "globex-lab")


def test_a_chart_is_promoted_cluster_by_cluster_and_soaks(laptop: Any) -> None:
    chart_rollouts.with_newer_release(laptop)
    chart_rollouts.with_waves(laptop, "canary_tenants: [globex]")
    region = laptop.load()
    steps = [{"regions": ["laptop"], "soak_hours": 1}]
    walk = Walk(campaign(images=[], chart={"name": CHART, "version": NEW}, steps=steps), {"laptop": region})
    walk.now = SEEN

    first = walk.run()

    assert first.pins == {"laptop": Promotion(region, PROMOTED, NEW).next_wave(1)}
    [wave] = first.decision.regions[0].promoted
    assert (wave.key, wave.version, wave.groups) == (PROMOTED, NEW, (f"{PROMOTED}/globex-lab",))
    assert reasons(walk.run()) == [("laptop", Reason.EVIDENCE)]
    second = walk.run(chart_rollouts.seen(walk.state["laptop"], "globex-lab"))
    assert second.decision.regions[0].promoted[0].groups == (f"{PROMOTED}/acme-train",)
    unsettled = chart_rollouts.seen(walk.state["laptop"], *CLUSTERS, settled=False, settled_since=None, why=["waits"])
    assert reasons(walk.run(unsettled)) == [("laptop", Reason.SETTLING)]
    young = chart_rollouts.seen(walk.state["laptop"], *CLUSTERS, settled_since="2026-11-21T08:30:00Z")
    assert reasons(walk.run(young)) == [("laptop", Reason.SOAK)]
    failed = walk.run(unsettled)
    assert failed.decision.regions[0].state is RegionState.STOPPED
    assert failed.decision.reasons[0][1].text.startswith("2 failed after all were settled, failed_nodes allows 0")
    walk.spec = changed(walk.spec, stopped=None)
    assert walk.run(chart_rollouts.seen(walk.state["laptop"], *CLUSTERS)).decision.state is CampaignState.COMPLETE
