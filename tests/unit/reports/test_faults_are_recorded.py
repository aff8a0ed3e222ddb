"""Faulty hosts are recorded with any contracts; unmet contracts are reported with their number of nodes."""

from __future__ import annotations

import datetime as dt

import pytest

from components.reports.contracts import unmet_contracts
from components.rules.checks import check, check_data
from components.specs.environment import Environment
from tests.support.data.small_region import (
    NODE_TYPE,
    RACK_TYPE,
    allocated,
    broken,
    changed,
    nodes,
    racks,
    small_region,
    sold_out,
    sold_to,
)


def _reported(region: Environment) -> list[str]:
    return [str(item).partition(": ")[2] for item in unmet_contracts(region, dt.date(2026, 11, 28))]


def _refused(region: Environment) -> set[str]:
    return {problem.rule for problem in (*check(region), *check_data(region))} - _AS_BEFORE


_AS_BEFORE = {problem.rule for problem in (*check(sold_out()), *check_data(sold_out()))}


@pytest.mark.parametrize("hosts", [("n1-u1",), ("n1-u1", "n1-u2"), tuple(host.host for host in sold_out().hosts)])
def test_no_fault_is_refused_in_a_region_that_is_sold_out(hosts: tuple[str, ...]) -> None:
    sold = sold_out()
    faulty = broken(sold, *hosts)

    assert not {rule for rule in _AS_BEFORE if rule.startswith("contracts.")}
    assert _refused(faulty) == set()
    assert allocated(faulty).allocations == sold.allocations


def test_a_pool_that_grows_by_itself_is_not_refused_for_a_fault() -> None:
    pool = nodes(2, min_nodes=1, max_nodes=12, autoscaling=True)
    grown = allocated(small_region(), tenants=(sold_to("ant", pool, 12),))

    assert _refused(broken(grown, "a1-u1", "a2-u1", "b1-u1")) == set()


def test_a_spare_replaces_a_host_and_missing_nodes_are_reported() -> None:
    sold = sold_out()

    assert _reported(sold) == _reported(broken(sold, "n1-u1")) == _reported(broken(sold, "n1-u1", "n2-u3")) == []
    [reported] = _reported(broken(sold, "n1-u1", "n1-u2", "n2-u3"))
    assert reported == (
        f"6 {RACK_TYPE} are contracted, 5 can run, as many as hosts in service and their spares allow; out of service:"
        " n1-u1, n1-u2"
    )


def test_contracted_nodes_that_are_not_ordered_yet_can_be_missing_too() -> None:
    sold = sold_out()
    free = [
        host.host for host in sold.hosts if host.instance_type == NODE_TYPE and host.host not in sold.allocations.hosts
    ]

    assert _reported(broken(sold, *free[:2])) == []
    [reported] = _reported(broken(sold, *free))
    assert reported == (
        f"12 {NODE_TYPE} are contracted, 8 can run, as many as hosts in service and their spares allow; out of service:"
        f" {', '.join(free[:5])} and {len(free) - 5} more"
    )


def test_a_contract_beyond_the_inventory_is_not_a_fault() -> None:
    sold = changed(sold_out(), tenants=(sold_to("ant", racks(2, name="lab"), 99),))

    assert _reported(sold) == []
