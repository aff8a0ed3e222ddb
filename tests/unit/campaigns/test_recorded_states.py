"""The states of a campaign's regions that its file records."""

from __future__ import annotations

from typing import Any

import pytest

from components.campaigns.deciding import advance, recorded_states
from components.reports.fleet.fleet import fleet_report
from tests.support.changes.campaigns import NAMES, NOW, campaign, fleet, regions


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"progress": {"canary": {"soaked": "2026-12-01T12:00:00Z"}}},
        {"progress": {"canary": {"soaked": "2026-12-01T12:00:00Z"}, "desk": {"started": "2026-12-01T12:00:00Z"}}},
        {"stopped": {"region": "canary", "at": "2026-12-01T12:00:00Z", "reason": "alerts"}},
        {
            "progress": {"canary": {"soaked": "2026-12-01T12:00:00Z"}, "desk": {"started": "2026-12-01T12:00:00Z"}},
            "stopped": {"region": "bench", "at": "2026-12-01T12:00:00Z", "reason": "alerts"},
        },
        {"progress": {name: {"soaked": "2026-12-01T12:00:00Z"} for name in NAMES}},
    ],
)
def test_the_state_that_is_recorded_is_that_of_a_decision_without_evidence(fields: dict[str, Any]) -> None:
    wanted = campaign(**fields)

    found = advance(wanted, fleet(wanted), regions(), {}, NOW)

    assert [item.state for item in found.decision.regions] == list(recorded_states(wanted).values())
    [shown] = fleet_report(fleet(wanted), [], NOW.date()).campaigns
    assert shown.regions == {item.region: item.state.value for item in found.decision.regions}
