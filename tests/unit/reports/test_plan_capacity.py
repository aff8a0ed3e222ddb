"""Capacity of a region: every host is counted once, and shortages are reported."""

from __future__ import annotations

import datetime as dt

from components.reports.capacity import COLUMNS, Capacity, Figures, capacity
from components.specs.environment import Environment
from components.specs.hosts.out_of_service import HostState, OutOfServiceSpec
from components.specs.locks import GroupAllocation


def broken(region: Environment, *hosts: str) -> Environment:
    why = OutOfServiceSpec(state=HostState.TRIAGE, since=dt.date(2026, 11, 3), reason="no link")
    return region.model_copy(update={"out_of_service": dict.fromkeys(hosts, why)})


def locked(region: Environment, **changes: object) -> Environment:
    return region.model_copy(update={"allocations": region.allocations.model_copy(update=changes)})


def domain(table: Capacity, instance_type: str, name: str) -> Figures:
    [kind] = (kind for kind in table.types if kind.instance_type == instance_type)
    return kind.domains[name]


def total(table: Capacity, instance_type: str) -> Figures:
    return next(kind.total for kind in table.types if kind.instance_type == instance_type)


def test_every_host_is_counted_once(region: Environment) -> None:
    spoilt = broken(region, "a01-u01", "a04-u06")

    for figures in [figures for kind in capacity(spoilt).types for figures in kind.domains.values()]:
        serving = figures.installed - figures.out_of_service - figures.free - figures.spare
        assert serving == figures.planned
    assert capacity(spoilt).nodes.installed == len(region.hosts)


def test_the_figures_of_the_example_are_those_of_its_files(region: Environment) -> None:
    table = capacity(region)

    assert domain(table, "h100-ib-8", "a01") == Figures(installed=8, planned=6, spare=2)
    assert total(table, "h100-ib-8") == Figures(installed=24, contracted=18, planned=18, spare=6)
    assert total(table, "cpu-gen4") == Figures(installed=6, contracted=2, planned=2, spare=1, free=3)
    assert table.nodes == Figures(installed=30, contracted=20, planned=20, spare=7, free=3)
    assert table.gpus == Figures(installed=192, contracted=144, planned=144, spare=48)


def test_a_broken_host_uses_a_spare_and_the_missing_spare_is_reported(region: Environment) -> None:
    before, after = capacity(region), capacity(broken(region, "a01-u01"))

    assert domain(before, "h100-ib-8", "a01").short == 0
    assert domain(after, "h100-ib-8", "a01") == Figures(installed=8, planned=6, spare=1, out_of_service=1, short=1)


def test_a_broken_host_that_is_free_is_not_free(region: Environment) -> None:
    assert domain(capacity(broken(region, "a04-u06")), "cpu-gen4", "a04") == Figures(
        installed=6, planned=2, spare=1, out_of_service=1, free=2
    )


def test_nodes_that_no_group_has_are_planned_and_short_without_a_failure_domain(region: Environment) -> None:
    groups = {key: group for key, group in region.allocations.groups.items() if key != "acme-train/train/a01"}

    table = capacity(locked(region, groups=groups))

    assert domain(table, "h100-ib-8", "") == Figures(planned=5, short=5)
    assert total(table, "h100-ib-8").short == 5


def test_a_group_with_too_few_hosts_is_short_of_nodes_and_their_spares(region: Environment) -> None:
    groups = {**region.allocations.groups, "acme-train/infer/a03": GroupAllocation(nodes=6)}

    # Five hosts are assigned; six nodes and one spare are required.
    assert domain(capacity(locked(region, groups=groups)), "h100-ib-8", "a03").short == 2


def test_a_contract_that_cannot_be_served_is_short(region: Environment) -> None:
    [acme, globex] = region.tenants
    contract = tuple(item.model_copy(update={"nodes": 25}) for item in globex.contract)
    sold = region.model_copy(update={"tenants": (acme, globex.model_copy(update={"contract": contract}))})

    assert total(capacity(sold), "h100-ib-8") == Figures(installed=24, contracted=39, planned=18, spare=6, short=15)


def test_the_table_is_data(region: Environment) -> None:
    table = capacity(region)

    answer = table.to_json()["instance_types"][1]

    assert answer == {
        "instance_type": "cpu-gen4",
        "gpus_per_node": 0,
        "hardware": region.instance_types.by_name["cpu-gen4"].model_dump(mode="json", exclude={"name"}),
        "failure_domain": "rack",
        "nodes": dict(zip(COLUMNS, (6, 2, 2, 1, 0, 3, 0), strict=True)),
        "gpus": dict.fromkeys(COLUMNS, 0),
        "failure_domains": {"a04": dict(zip(COLUMNS, (6, None, 2, 1, 0, 3, 0), strict=True))},
    }
