"""Rail prefixes are disjoint, large enough, and stable while nodes run, for arbitrary cluster changes."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from components.allocate.allocation import attempt
from components.lookups.network.rails import rails_needed, room_of_rail
from components.lookups.pools import clusters
from components.specs.environment import Environment
from tests.support.data.small_region import changed, nodes, tenant
from tests.support.network.with_rails import RANGE, with_rails

_NAMES = ("ant", "bee", "cat")
STEPS = st.lists(st.dictionaries(st.sampled_from(_NAMES), st.integers(1, 4)), min_size=1, max_size=4)
"""Nodes by tenant, for consecutive orders."""


def _ordered(region: Environment, order: dict[str, int]) -> tuple[Environment, str]:
    """Return the region after the order, and the reported problems."""
    tenants = tuple(tenant(name, nodes(count), fabrics=("roce",)) for name, count in sorted(order.items()))
    edited = changed(region, tenants=tenants)
    found = attempt(edited)
    problems = " ".join(problem.text for problem in found.problems)
    return changed(edited, allocations=found.numbers, image_pins=found.pins), problems


@given(STEPS)
def test_prefixes_are_apart_in_their_range_and_stay_with_their_clusters(steps: list[dict[str, int]]) -> None:
    region = with_rails()
    [fabric] = region.region.fabrics
    for order in steps:
        before = region
        region, problems = _ordered(before, order)
        given_now = {name: one.rail_prefixes["roce"] for name, one in region.allocations.clusters.items()}
        quarantined = [
            prefix for freed in region.allocations.quarantine.values() for prefix in freed.rail_prefixes.get("roce", ())
        ]

        every = [*given_now.values(), *quarantined]
        assert not any(one.overlaps(other) for one, other in combinations(every, 2))
        assert all(prefix.subnet_of(RANGE) for prefix in every)
        for placed in clusters(region):
            needed = rails_needed(region, placed)["roce"]
            mine = given_now[placed.cluster.name]
            assert (
                room_of_rail(fabric.rail_subnets, mine) >= needed
                or f"needs {needed} addresses on each rail of roce" in problems
            )
        for name, had in before.allocations.clusters.items():
            if name in given_now:
                assert given_now[name] == had.rail_prefixes["roce"]
