"""A placed order is valid, and in an open region with capacity, for arbitrary fleets and orders."""

from __future__ import annotations

import datetime as dt
from functools import partial
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from components.lookups.host_use import HostUse, counted_hosts
from components.placement import placing
from components.placement.placing import Placement
from components.rules.checks import check
from components.specs.environment import Environment
from components.specs.fleet.order import OrderSpec
from components.specs.reading.fleet import Fleet
from tests.support.data.fleets import GPUS, empty_region, fleet, order

place = partial(placing.place, today=dt.date(2026, 11, 1))
NAMES = ("ash", "elm", "oak")
STATUSES = ("open", "open", "open", "building", "draining", "retired")
AREAS = ("us", "eu")
SPARES, SYSTEM = 3, 3
"""Maximum spares of a pool in laptop, which has three racks, and hosts of a system pool with a spare."""

entries = st.fixed_dictionaries(
    {
        "status": st.sampled_from(STATUSES),
        "jurisdictions": st.lists(st.sampled_from(AREAS), min_size=1, unique=True),
        "latency_group": st.sampled_from([None, "east"]),
    }
)
regions = st.dictionaries(st.sampled_from(NAMES), st.tuples(entries, st.sampled_from([0, 5, 12, 24])), min_size=1)
constraints = st.fixed_dictionaries(
    {
        "jurisdictions": st.lists(st.sampled_from(AREAS), unique=True),
        "excluded_regions": st.lists(st.sampled_from(NAMES), max_size=1),
    }
)
orders = st.lists(
    st.tuples(st.sampled_from(["heron", "stork"]), st.sampled_from(["one", "two"]), st.integers(1, 14), constraints),
    min_size=1,
    max_size=3,
)


def free(environment: Environment, gpus: bool) -> int:  # noqa: FBT001 - one of two kinds
    """Return the number of free hosts with or without GPUs, from the inventory and the lock file only."""
    hosts = [item.host for item in counted_hosts(environment) if item.use is HostUse.FREE]
    return sum((host.instance_type == GPUS) is gpus for host in hosts)


def permitted(known: Fleet, wanted: OrderSpec, name: str) -> bool:
    entry, asked = known.regions[name], wanted.constraints
    areas = not asked.jurisdictions or bool({*asked.jurisdictions} & {*entry.jurisdictions})
    return entry.status == "open" and areas and name not in asked.excluded_regions


@settings(max_examples=12, deadline=None)
@given(regions, orders)
def test_placed_orders_are_valid_and_in_permitted_regions(
    drawn: dict[str, tuple[dict[str, Any], int]], wishes: list[tuple[str, str, int, dict[str, Any]]]
) -> None:
    known = fleet(**{name: entry for name, (entry, _) in drawn.items()})
    reverse = fleet(**{name: entry for name, (entry, _) in reversed(drawn.items())})
    state = {name: empty_region(name, gpus) for name, (_, gpus) in drawn.items()}
    texts: dict[str, dict[str, str]] = {name: {} for name in drawn}
    for index, (tenant, cluster, nodes, limits) in enumerate(wishes):
        wanted = order(nodes=nodes, order=f"o{index}", tenant=tenant, cluster=f"{tenant}-{cluster}", constraints=limits)
        known_texts = {name: files[tenant] for name, files in texts.items() if tenant in files}

        found = place(wanted, known, list(state.values()), known_texts)

        assert found == place(wanted, reverse, list(state.values())[::-1], dict(reversed(known_texts.items())))
        _require_right(found, known, wanted, state)
        if found.edits:
            name = found.edits.before.name
            state[name], texts[name][tenant] = found.edits.after, found.edits.text


def _require_right(found: Placement, known: Fleet, wanted: OrderSpec, state: dict[str, Environment]) -> None:
    nodes, chosen = wanted.items[0].nodes, found.decision.region
    assert {verdict.region for verdict in found.decision.verdicts} == {*state}
    assert all((verdict.rank is None) == bool(verdict.refusals) for verdict in found.decision.verdicts)
    roomy = [
        name
        for name, environment in state.items()
        if permitted(known, wanted, name)
        and free(environment, gpus=True) >= nodes + SPARES
        and free(environment, gpus=False) >= SYSTEM + 1
    ]
    assert chosen is not None or not roomy
    if found.edits is None:
        return
    assert chosen == found.edits.before.name
    assert permitted(known, wanted, chosen)
    before, after = state[chosen], found.edits.after
    assert check(after) == []
    assert nodes <= free(before, gpus=True) - free(after, gpus=True) <= nodes + SPARES
    assert before.allocations.hosts.items() <= after.allocations.hosts.items()
