"""Alerts on recorded series, by the real vmalert-tool and promtool if they are built, and metrics of expressions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from components.lookups.health.node_checks import library_checks
from components.render.add_ons.add_on_monitors import history_query
from components.specs.health.node_checks import HealthAction
from jacquard.machine import paths
from tests.support.data.environment_data import LAPTOP, reference
from tests.support.monitoring.alert_series import Case, cases, promtool, unit_tests, vmalert_tool
from tests.support.monitoring.alerts import Alert, every_alert
from tests.support.monitoring.recorded_metrics import RECORD, problems

_PAGE = paths.ROOT / "docs/region/alerts.md"
_CASES = [pytest.param(case, id=f"{case.alert}-{number}") for number, case in enumerate(cases())]
_NODE_FAULTS = "node-faults"
Tool = Callable[[Path, Iterable[Mapping[str, Any]], Iterable[Mapping[str, Any]]], str]
_TOOLS = pytest.mark.parametrize("run", [vmalert_tool, pytest.param(promtool, marks=pytest.mark.nightly)])


def _rules(case: Case) -> list[Alert]:
    return [alert for alert in every_alert() if case.is_about(alert.rule)]


@_TOOLS
@pytest.mark.parametrize("case", _CASES)
def test_an_alert_fires_after_its_hold_time_and_not_on_healthy_series(case: Case, run: Tool, tmp_path: Path) -> None:
    rules = _rules(case)

    assert rules, f"no rule for {case.alert}"
    for alert in rules:
        assert run(tmp_path, (*alert.records, alert.rule), unit_tests(alert.rule, case)) == ""


@_TOOLS
@pytest.mark.parametrize(
    ("change", "failed"),
    [
        ({"expr": "kube_node_status_condition > 1"}, "fault"),
        ({"expr": "kube_node_status_condition >= 0"}, "healthy"),
        ({"for": "9m"}, "fault"),
        ({"for": "11m"}, "fault"),
        ({"labels": {"severity": "critical", "audience": "operators"}}, "fault"),
    ],
)
def test_an_invalid_rule_fails(change: dict[str, Any], failed: str, run: Tool, tmp_path: Path) -> None:
    case = next(case for case in cases() if case.alert == "GpuLost")
    [alert] = _rules(case)

    assert failed in run(tmp_path, [{**alert.rule, **change}], unit_tests(alert.rule, case))


@_TOOLS
@pytest.mark.parametrize(
    ("action", "hold_seconds", "count"), [("repair", 300, 1), ("repair", 120, 2), ("quarantine", 300, 2)]
)
def test_the_history_of_a_check_counts_the_nodes_on_which_it_would_have_acted(
    action: str, hold_seconds: int, count: int, run: Tool, tmp_path: Path
) -> None:
    """An hour ago, one node had the fault for eight minutes and one for four; a third one never had it."""
    changes = {"action": HealthAction(action), "hold_seconds": hold_seconds}
    query = history_query(library_checks()["gpu-lost"].model_copy(update=changes))
    rule = {"alert": "History", "expr": query, "for": "0s", "labels": {}, "annotations": {"nodes": "{{ $value }}"}}
    series = 'kube_node_status_condition{{cluster="c",node="{}",condition="GpuLost",status="true"}}'
    values = {"a": "0x10 1x8 0x60", "b": "0x20 1x3 0x60", "c": "0x90"}
    alerts = [{"exp_labels": {"cluster": "c"}, "exp_annotations": {"nodes": str(count)}}]
    history = {
        "name": "history",
        "interval": "1m",
        "input_series": [{"series": series.format(node), "values": text} for node, text in values.items()],
        "alert_rule_test": [{"eval_time": "75m", "alertname": "History", "exp_alerts": alerts}],
    }

    assert run(tmp_path, [rule], [history]) == ""


def test_each_rule_has_a_case() -> None:
    without = [alert.rule["expr"] for alert in every_alert() if not any(c.is_about(alert.rule) for c in cases())]

    assert without == []


@pytest.mark.parametrize("alert", [pytest.param(alert, id=alert.rule["alert"]) for alert in every_alert()])
def test_an_expression_only_uses_metrics_and_labels_that_exporters_have(alert: Alert) -> None:
    for rule in (*alert.records, alert.rule):
        assert list(problems(rule["expr"])) == []


@pytest.mark.parametrize("case", _CASES)
def test_recorded_series_have_only_labels_of_their_exporters(case: Case) -> None:
    for series in (*case.fault, *case.healthy):
        is_stored = "$cluster" in series  # Alerts about one cluster are evaluated on the store.
        assert list(problems(series.replace("$cluster", "a"), stored=is_stored)) == []


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("kube_node_condition == 1", "no exporter has the metric kube_node_condition"),
        ('kube_node_status_condition{type="Ready"}', "kube_node_status_condition has no label type"),
        (
            "sum by (gpus) (rate(DCGM_FI_DEV_PCIE_REPLAY_COUNTER[5m]))",
            "DCGM_FI_DEV_PCIE_REPLAY_COUNTER has no label gpus",
        ),
        ('etcd_server_has_leader{job="etcd3"}', "etcd_server_has_leader has the job etcd, not etcd3"),
        ("up * on (rack) capi_cluster_info", "up has no label rack"),
    ],
)
def test_an_unknown_metric_label_or_job_is_found(expression: str, problem: str) -> None:
    assert next(problems(expression)) == problem


def test_the_record_is_about_the_pinned_charts() -> None:
    versions = reference(LAPTOP.name).versions
    pinned = {chart.name: chart.version for chart in (*versions.manifests, *versions.charts)}
    of_charts = [exporter for exporter in RECORD["exporters"] if "chart" in exporter]

    assert {exporter["name"]: pinned[exporter["chart"]] for exporter in of_charts} == {
        exporter["name"]: exporter["pinned"] for exporter in of_charts
    }


def test_each_alert_has_a_runbook_and_each_runbook_an_alert() -> None:
    headings = re.findall(r"^## (.+)$", _PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    anchors = {heading.lower().replace(" ", "-") for heading in headings}
    linked = {alert.rule["annotations"]["runbook_url"].rpartition("#")[2] for alert in every_alert()}

    assert linked == anchors
    assert _NODE_FAULTS in linked
