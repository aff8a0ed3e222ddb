"""No day is oversold, for arbitrary contracts, orders and days."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from functools import cache
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from components.placement.placing import place
from components.reports.fleet.room import Period, rooms
from components.specs.environment import Environment
from components.specs.fleet.order import OrderSpec
from components.specs.region.tenant import ContractSpec
from tests.support.data.fleets import GPUS, OPEN, empty_region, fleet, order

TODAY = dt.date(2026, 11, 1)
LENGTH = 40
"""Number of tested days from today; includes all drawn days."""
ROOM = 21
"""Nodes that fit into the three racks of laptop without spares: eight hosts each, with one spare."""
TENANTS = ("heron", "stork")

days = st.integers(0, LENGTH - 1)
periods = st.tuples(st.none() | days, st.none() | days).map(
    lambda pair: tuple(sorted(pair)) if None not in pair else pair  # type: ignore[type-var]
)
contracts = st.lists(st.tuples(st.sampled_from(TENANTS), periods, st.integers(1, 12)), max_size=5)
orders = st.lists(
    st.tuples(st.integers(0, 8), days, st.none() | st.integers(0, 20), st.integers(1, 14)), min_size=1, max_size=3
)


def day(number: int | None) -> dt.date | None:
    return None if number is None else TODAY + dt.timedelta(days=number)


def covers(first: dt.date | None, last: dt.date | None, at: dt.date) -> bool:
    return (first is None or first <= at) and (last is None or at <= last)


def sold(environment: Environment, waiting: list[OrderSpec], today: dt.date) -> list[int]:
    """Return the contracted nodes of each day from ``today``; for ``today`` also those of pools."""
    found = []
    for number in range((today - TODAY).days, 2 * LENGTH):
        at, nodes = TODAY + dt.timedelta(days=number), Counter[str]()
        for tenant in environment.tenants:
            for entry in tenant.contract:
                if entry.instance_type == GPUS and covers(entry.from_, entry.until, at):
                    nodes[tenant.tenant] += entry.nodes
            pools = sum(
                pool.nodes or 0
                for cluster in tenant.clusters
                for pool in cluster.pools
                if pool.instance_type == GPUS and at == today
            )
            nodes[tenant.tenant] = max(nodes[tenant.tenant], pools)
        reserved = sum(item.items[0].nodes for item in waiting if covers(item.from_, item.until, at))
        found.append(sum(nodes.values()) + reserved)
    return found


@cache
def with_pools() -> Environment:
    """Return a region whose tenants have small pools and contracts for them."""
    environment = empty_region("desk")
    for name in TENANTS:
        edits = place(
            order(tenant=name, order=name, cluster=name, nodes=2), fleet(desk=OPEN), [environment], {}, TODAY
        ).edits
        assert edits
        environment = edits.after
    return environment


def contracted(drawn: list[tuple[str, Any, int]]) -> Environment:
    """Return the region with those of the ``drawn`` contracts that do not oversell a day."""
    environment = with_pools()
    for name, (first, last), nodes in drawn:
        entry = ContractSpec.model_validate(
            {"instance_type": GPUS, "nodes": nodes, "from": day(first), "until": day(last)}
        )
        tenants = tuple(
            item.model_copy(update={"contract": (*item.contract, entry)}) if item.tenant == name else item
            for item in environment.tenants
        )
        grown = environment.model_copy(update={"tenants": tenants})
        environment = grown if max(sold(grown, [], TODAY)) <= ROOM else environment
    return environment


@settings(max_examples=150, deadline=None)
@given(contracts, orders, days, st.none() | st.integers(0, 20))
def test_the_room_of_a_period_is_free_on_each_of_its_days(
    drawn: list[tuple[str, Any, int]],
    wishes: list[tuple[int, int, int | None, int]],
    first: int,
    length: int | None,
) -> None:
    environment, reserved = contracted(drawn), list[OrderSpec]()
    for index, (_, begin, wished, nodes) in enumerate(wishes):
        last = None if wished is None else str(day(begin + wished))
        wanted = order(order=f"o{index}", nodes=nodes, reserved_in="desk", **{"from": str(day(begin)), "until": last})
        if max(sold(environment, [*reserved, wanted], TODAY)) <= ROOM:
            reserved.append(wanted)
    begin_day, last_day = TODAY + dt.timedelta(days=first), day(None if length is None else first + length)
    period = Period(today=TODAY, first=begin_day, last=last_day or dt.date.max)

    nodes = rooms(environment, period, reserved)[GPUS].nodes

    on_days = sold(environment, reserved, TODAY)[first : None if length is None else first + length + 1]
    assert nodes == 0 or nodes + max(on_days) <= ROOM


@settings(max_examples=8, deadline=None)
@given(contracts, orders)
def test_no_day_is_oversold(drawn: list[tuple[str, Any, int]], wishes: list[tuple[int, int, int | None, int]]) -> None:
    environment, waiting, today = contracted(drawn), list[OrderSpec](), TODAY
    for index, (later, first, length, nodes) in enumerate(wishes):
        today += dt.timedelta(days=later)
        begin = max(first, (today - TODAY).days)
        last = None if length is None else begin + length
        name = f"o{index}"
        wanted = order(
            tenant=name, order=name, cluster=name, nodes=nodes,
            **{"from": str(day(begin)), "until": str(day(last)) if last is not None else None},
        )  # fmt: skip

        before = sold(environment, waiting, today)
        found = place(wanted, fleet(*waiting, desk=OPEN), [environment], {}, today)

        assert found == place(wanted, fleet(*waiting[::-1], desk=OPEN), [environment], {}, today)
        if found.edits:
            environment = found.edits.after
        elif found.decision.is_reserved:
            waiting.append(wanted.model_copy(update={"reserved_in": "desk"}))
        # Pools that outlive their contract may exceed the capacity, but then the order gets nothing on that day.
        for was, now in zip(before, sold(environment, waiting, today), strict=True):
            assert now <= ROOM or now == was
