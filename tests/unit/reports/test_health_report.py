"""Number of nodes with a current fault, and of those on which a check would act immediately with the current data."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from components.reports.health import CheckRow, NodeFault, health
from components.specs.environment import Environment
from components.specs.health.node_checks import HealthAction, HealthCatalog, HealthOverride
from components.specs.hosts.host_tests import HostTestSpec
from jacquard.cli.views.region.health import lines
from tests.support.data.environment_data import reference
from tests.support.monitoring.recorded_metrics import problems

NOW = dt.datetime(2026, 11, 20, 9, tzinfo=dt.UTC)


@pytest.fixture(scope="module")
def laptop() -> Environment:
    return reference("laptop")


def fault(check: str, *, minutes: int = 60, action: HealthAction = HealthAction.REPAIR, **changes: Any) -> NodeFault:
    row: dict[str, Any] = {
        "cluster": "acme-train",
        "node": f"{check}-{minutes}",
        "pool": "train",
        "host": None,
        "condition": check,
        "since": NOW - dt.timedelta(minutes=minutes),
        "message": "",
        "check": check,
        "action": action,
        "remediation": None,
        "next_action": "none",
    }
    return NodeFault.model_validate(row | changes)


def counted(environment: Environment, *faults: NodeFault) -> dict[str, tuple[int | None, int | None]]:
    report = health(environment, faults, now=NOW)
    [gpus] = (kind for kind in report.types if kind.instance_type == "h100-ib-8")
    return {row.check: (row.nodes, row.due) for row in gpus.checks}


def with_check(environment: Environment, **changes: Any) -> Environment:
    override = HealthOverride(reason="trial", **changes)
    return environment.model_copy(update={"health": HealthCatalog(schema_version=1, health_overrides=(override,))})


def test_a_remediation_is_due_after_its_hold_time_and_a_quarantine_immediately(laptop: Environment) -> None:
    quarantined = fault("nic-failed", minutes=1, action=HealthAction.QUARANTINE)
    counts = counted(laptop, fault("gpu-lost"), fault("gpu-lost", minutes=4), quarantined)

    assert (counts["gpu-lost"], counts["nic-failed"], counts["disk-failed"]) == ((2, 1), (1, 1), (0, 0))
    assert (counts["link-flaps"], counts["gpu-pcie-replays"]) == ((None, None), (None, None))


def test_a_changed_check_is_counted_with_the_changed_data(laptop: Environment) -> None:
    faults = (fault("gpu-lost"), fault("gpu-lost", minutes=4))

    assert counted(with_check(laptop, check="gpu-lost", hold_seconds=120), *faults)["gpu-lost"] == (2, 2)
    assert counted(with_check(laptop, check="gpu-lost", action=HealthAction.NOTIFY), *faults)["gpu-lost"] == (2, 0)


def queries(environment: Environment) -> dict[str, str | None]:
    return {row.check: row.history_query for kind in health(environment).types for row in kind.checks}


def test_the_history_of_a_check_is_queried_with_the_changed_data(laptop: Environment) -> None:
    lost = 'kube_node_status_condition{condition="GpuLost",status="true"}'
    held = "count by (cluster) (max_over_time(min_over_time(%s[%ds])[7d:1m]) == 1)"

    assert queries(laptop)["gpu-lost"] == held % (lost, 300)
    assert queries(with_check(laptop, check="gpu-lost", hold_seconds=120))["gpu-lost"] == held % (lost, 120)
    assert queries(with_check(laptop, check="gpu-lost", action=HealthAction.QUARANTINE))["gpu-lost"] == (
        f"count by (cluster) (max_over_time({lost}[7d]) == 1)"
    )
    assert queries(laptop)["link-flaps"] == (
        'count by (cluster) (count_over_time((increase(problem_counter{reason="LinkDown"}[3600s]) >= 3)[7d:1m]))'
    )
    assert queries(laptop)["gpu-throttled"] is None


def test_the_history_uses_metrics_that_exporters_have(laptop: Environment) -> None:
    """The store adds the label ``cluster``."""
    found = [query.replace(" by (cluster)", "") for query in queries(laptop).values() if query]

    assert [problem for query in found for problem in problems(query)] == []
    assert len(found) > len(queries(laptop)) / 2


def repair_lines(environment: Environment) -> list[str]:
    return [text for item in lines(health(environment)) if "replaces the node" in (text := str(item))]


def test_only_a_backend_with_repairs_by_reboot_counts_repairs(laptop: Environment) -> None:
    assert repair_lines(laptop) == [
        "after 1 repair of a host within 7 d 0 h, the next one replaces the node: cpu-gen4, h100-ib-8"
    ]
    text = "a repair replaces the node, also without a free host; take the broken host out of service first"
    assert repair_lines(reference("eu-south-03a")) == [f"{text}: cpu-gen5, h100-eth-8, h200-eth-8, l40s-8"]


def test_without_clusters_nothing_is_counted(laptop: Environment) -> None:
    rows: list[CheckRow] = [row for kind in health(laptop).types for row in kind.checks]

    assert {(row.nodes, row.due) for row in rows} == {(None, None)}


def test_the_table_has_the_counts_of_live_nodes_only(laptop: Environment) -> None:
    def titles(*faults: NodeFault, now: dt.datetime | None) -> set[str]:
        tables = [item for item in lines(health(laptop, faults, now=now)) if hasattr(item, "columns")]
        return {str(column.header) for table in tables for column in table.columns}

    assert "nodes now" in titles(fault("gpu-lost"), now=NOW)
    assert "nodes now" not in titles(now=None)


def test_a_fault_is_printed_with_the_last_test_of_its_host(laptop: Environment) -> None:
    test = HostTestSpec(passed=NOW - dt.timedelta(days=9), digest=f"sha256:{'a' * 64}")

    printed = [str(item) for item in lines(health(laptop, [fault("gpu-lost", evidence=test)], now=NOW))]

    assert f"    last test of the host: 2026-11-11 09:00 UTC, report {test.digest}" in printed
