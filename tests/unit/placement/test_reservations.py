"""Orders for later days: contracts that they may use, and their reservations."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from components.placement.placing import Placement, place, with_region
from components.reports.contracts import ended_contracts, ending_contracts
from components.reports.fleet.room import Period, rooms
from components.rules.checks import check_fleet
from components.specs.environment import Environment
from components.specs.fleet.order import OrderSpec
from components.specs.reading.fleet import NAME
from components.specs.region.tenant import ContractSpec
from tests.support.data.fleets import GPUS, OPEN, empty_region, fleet, order

TODAY = dt.date(2026, 11, 1)
END = dt.date(2026, 12, 31)
ROOM = 21
"""Nodes that fit into the three racks of laptop without spares."""


def region(nodes: int, *entries: dict[str, Any]) -> Environment:
    """Return a region in which the tenant stork has a pool of ``nodes``, and a contract with ``entries``."""
    wanted = order(tenant="stork", cluster="stork", nodes=nodes)
    edits = place(wanted, fleet(desk=OPEN), [empty_region("desk")], {}, TODAY).edits
    assert edits
    after = edits.after
    contract = tuple(ContractSpec.model_validate({"instance_type": GPUS, **entry}) for entry in entries)
    return after.model_copy(update={"tenants": (after.tenants[0].model_copy(update={"contract": contract}),)})


def decided(wanted: OrderSpec, environment: Environment, *others: OrderSpec, today: dt.date = TODAY) -> Placement:
    return place(wanted, fleet(*others, desk=OPEN), [environment], {}, today)


def outcome(found: Placement) -> str:
    if found.decision.region is None:
        return "refused"
    return "reserved" if found.decision.is_reserved else "placed"


@pytest.mark.parametrize(
    ("first", "nodes", "expected"),
    [
        ("2027-01-01", 15, "reserved"),
        ("2026-12-31", 15, "refused"),
        ("2026-12-31", 6, "placed"),
        ("2027-01-01", ROOM + 1, "refused"),
    ],
)
def test_an_order_gets_nodes_that_a_contract_releases_before_it(first: str, nodes: int, expected: str) -> None:
    environment = region(12, {"nodes": 12, "until": END})

    assert outcome(decided(order(nodes=nodes, **{"from": first}), environment)) == expected


@pytest.mark.parametrize(
    ("last", "nodes", "expected"),
    [
        ("2027-03-31", 9, "placed"),
        ("2027-04-01", 9, "refused"),
        (None, 9, "refused"),
        ("2027-04-01", 5, "placed"),
        (None, 5, "placed"),
    ],
)
def test_an_order_does_not_get_nodes_that_a_contract_needs_before_its_end(
    last: str | None, nodes: int, expected: str
) -> None:
    environment = region(8, {"nodes": 8}, {"nodes": 6, "from": dt.date(2027, 4, 1)})

    found = decided(order(nodes=nodes, until=last), environment)

    assert outcome(found) == expected
    if found.edits:
        end = f", until: {last}" if last else ""
        assert f"contract:\n  - {{instance_type: {GPUS}, nodes: {nodes}{end}}}\n" in found.edits.text


def test_a_contract_that_ended_before_today_releases_nothing_while_its_pools_exist() -> None:
    environment, late = region(12, {"nodes": 12, "until": END}), dt.date(2027, 1, 15)

    assert outcome(decided(order(nodes=15, **{"from": "2027-02-01"}), environment, today=late)) == "refused"
    [ended] = ended_contracts(environment, late)
    assert str(ended).partition(": ")[2] == (
        f"the contract for {GPUS} ended on 2026-12-31; 0 nodes are contracted, but the pools have 12; make them smaller"
        " by 12, or extend the contract"
    )
    assert list(ended_contracts(environment, END)) == []
    renewed = region(12, {"nodes": 12, "until": END}, {"nodes": 12, "from": dt.date(2027, 1, 1)})
    assert list(ended_contracts(renewed, late)) == []
    assert outcome(decided(order(nodes=15, **{"from": "2027-02-01"}), renewed)) == "refused"


def test_contracts_that_end_soon() -> None:
    environment = region(12, {"nodes": 8, "until": END}, {"nodes": 12, "until": dt.date(2027, 6, 30)})

    [ending] = ending_contracts(environment, TODAY)

    assert (ending.tenant, ending.nodes, ending.until, ending.days) == ("stork", 8, END, 60)
    assert (ending.contracted_after, ending.planned) == (12, 12)
    assert ending_contracts(environment, TODAY, 59) == []
    assert [item.days for item in ending_contracts(environment, TODAY, 241)] == [60, 241]
    assert ending_contracts(environment, END)[0].days == 0


def test_reserved_nodes_are_not_sold_again_and_are_placed_once_they_are_free() -> None:
    environment = region(12, {"nodes": 12, "until": END})
    wanted = {"nodes": 15, "from": "2027-01-01", "until": "2027-06-30"}
    reserved = order(**wanted, reserved_in="desk")
    other = {"order": "other", "tenant": "other", "cluster": "other"}

    assert [outcome(decided(order(nodes=nodes, **other), environment, reserved)) for nodes in (3, 6, 7)] == [
        "placed",
        "reserved",
        "refused",
    ]
    during = {"from": "2027-06-30", "nodes": 7}
    assert outcome(decided(order(**other, **during), environment, reserved)) == "refused"
    after = {"from": "2027-07-01", "nodes": 7}
    assert outcome(decided(order(**other, **after), environment, reserved)) == "reserved"
    assert rooms(environment, Period(today=TODAY, first=TODAY), [reserved])[GPUS].reserved == 3

    still = decided(reserved, environment, reserved)
    assert (outcome(still), still.edits) == ("reserved", None)
    assert outcome(decided(reserved, empty_region("desk"), reserved)) == "placed"
    assert with_region("a: 1\nreserved_in: desk\n", "desk") == "a: 1\nplaced_in: desk\n"
    assert with_region("a: 1\n", "desk", is_reserved=True) == "a: 1\nreserved_in: desk\n"


def test_a_reservation_is_only_for_its_region() -> None:
    known = fleet(desk=OPEN, other=OPEN)
    reserved = order(nodes=15, reserved_in="desk", **{"from": "2027-01-01"})
    regions = [region(12, {"nodes": 12, "until": END}), empty_region("other")]

    found = place(reserved, known, regions, {}, TODAY).decision

    assert ([verdict.region for verdict in found.verdicts], found.region, found.is_reserved) == (["desk"], "desk", True)
    free = place(order(nodes=15, **{"from": "2027-01-01"}), known, regions, {}, TODAY).decision
    assert [(item.region, bool(item.not_yet)) for item in free.verdicts] == [("other", False), ("desk", True)]


def test_more_reserved_than_there_is_on_a_day() -> None:
    environment = region(12, {"nodes": 12, "until": END})
    first = order(nodes=15, reserved_in="desk", **{"from": "2027-01-01"})
    second = order(order="second", nodes=7, reserved_in="desk", **{"from": "2027-02-01"})

    assert check_fleet(fleet(first, desk=OPEN), [environment]) == {}
    [problem] = check_fleet(fleet(first, second, desk=OPEN), [environment])[NAME]
    assert f"{problem.file} {problem.path}: {problem.text}" == (
        f"../orders/second.yaml reserved_in: with these 7 nodes, 22 {GPUS} of desk are promised on 2027-02-01, but its"
        f" inventory fits {ROOM} without spares; remove the key, then place it"
    )
