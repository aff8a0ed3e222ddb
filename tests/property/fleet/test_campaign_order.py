"""A campaign keeps its order for arbitrary regions and times: no step starts before the previous one has soaked."""

from __future__ import annotations

import datetime as dt
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from components.campaigns.deciding import advance
from components.campaigns.decision import CampaignState
from components.specs.environment import Environment
from components.specs.fleet.campaign import CampaignSpec
from tests.support.changes.campaigns import NOW, campaign, fleet, hours, promoted, proof, region
from tests.support.data.small_region import changed

NAMES = ("canary", "desk", "bench", "plant")
SIZES = st.tuples(*[st.integers(1, 3)] * len(NAMES))
LIMITS = {"max_rolling_nvlink_domains": 1}
runs = st.lists(
    st.tuples(
        st.integers(0, 60),
        st.lists(st.sampled_from(NAMES), unique=True, max_size=4),
        st.integers(0, 50),
        st.sampled_from([*["settled"] * 5, "failed"]),
    ),
    min_size=8,
    max_size=30,
)
"""Hours until a run, observed regions, hours since which their nodes are settled, and their state."""


def steps(cuts: set[int], soak: int) -> list[dict[str, Any]]:
    """Return the regions in steps; a step starts at the first region and at each of ``cuts``."""
    starts = sorted({0, 1, *cuts})
    ends = [*starts[1:], len(NAMES)]
    return [{"regions": NAMES[start:end], "soak_hours": soak} for start, end in zip(starts, ends, strict=True)]


@settings(max_examples=40, deadline=None)
@given(SIZES, st.sets(st.integers(2, 3)), st.integers(1, 40), runs)
def test_a_campaign_keeps_its_order(
    sizes: tuple[int, ...], cuts: set[int], soak: int, drawn: list[tuple[int, list[str], int, str]]
) -> None:
    spec = campaign(steps=steps(cuts, soak))
    state = {name: region(name, size, LIMITS) for name, size in zip(NAMES, sizes, strict=True)}
    now, moved_at = NOW, dict.fromkeys(NAMES, NOW)
    for wait, seen, settled, how in drawn:
        now += hours(wait)
        evidence = {
            name: proof(state[name], now, since=max(moved_at[name], now - hours(settled)), **_observed(how))
            for name in seen
        }
        before = spec
        found = advance(spec, fleet(spec), state, evidence, now)
        again = advance(spec, fleet(spec), dict(reversed(state.items())), dict(reversed(evidence.items())), now)
        assert found == again
        for name, pins in found.pins.items():
            _require_permitted(name, before, found.campaign)
            assert found.decision.state is CampaignState.READY
            state[name], moved_at[name] = changed(state[name], image_pins=pins), now
        spec = found.campaign
        assert before.stopped is None or (found.pins == {} and spec.stopped == before.stopped)
        _require_soaked(spec, state, moved_at)


def _observed(how: str) -> dict[str, Any]:
    return {} if how == "settled" else {"settled": False, "settled_since": None, "ready": 0}


def _require_permitted(name: str, before: CampaignSpec, after: CampaignSpec) -> None:
    """Assert that all regions of earlier steps have soaked, and only regions of one step are promoted."""
    at = next(index for index, step in enumerate(after.steps) if name in step.regions)
    earlier = [other for step in after.steps[:at] for other in step.regions]
    later = [other for step in after.steps[at + 1 :] for other in step.regions]
    assert all(after.has_soaked(other) for other in earlier)
    assert not {*later} & {*after.progress}
    assert not before.has_soaked(name)


def _require_soaked(spec: CampaignSpec, state: dict[str, Environment], moved_at: dict[str, dt.datetime]) -> None:
    """Assert that each soaked region has had the version everywhere for the whole soak time."""
    for step in spec.steps:
        for name in step.regions:
            if spec.has_soaked(name):
                done, total = promoted(state[name], spec)
                assert done == total
                soaked = spec.progress[name].soaked
                assert soaked is not None
                assert soaked - moved_at[name] >= hours(step.soak_hours)
