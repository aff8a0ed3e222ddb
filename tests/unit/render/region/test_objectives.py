"""Objectives of control planes: recorded series, windows, and thresholds from the data."""

from __future__ import annotations

import re
from typing import Any

import pytest

from components.render import labels as keys
from components.render.region import objectives
from components.specs.region.observability import SloSpec, SlosSpec
from tests.support.monitoring.recorded_metrics import RECORD, uses

LABELS = {keys.CLUSTER: "acme-train", keys.TENANT: "acme"}
RECORDS = next(entry for entry in RECORD["exporters"] if entry["name"] == "recording rules of control planes")


def _rules(slos: SlosSpec | None = None) -> list[dict[str, Any]]:
    rules: list[dict[str, Any]] = objectives.of_tenant(LABELS, slos or SlosSpec())["rules"]
    return rules


def test_the_record_has_the_recorded_series() -> None:
    recorded = [rule["record"] for rule in _rules() if "record" in rule]

    assert set(recorded) == set(RECORDS["metrics"])
    assert len(recorded) == len(set(recorded))


def test_each_rule_only_reads_series_that_rules_before_it_record() -> None:
    known: set[str] = set()
    for rule in _rules():
        read = {use.pattern.replace("\\", "") for use in uses(rule["expr"])}
        assert {name for name in read if name.startswith("control_plane:")} <= known
        known.add(rule.get("record", ""))


@pytest.mark.parametrize(
    ("objective", "thresholds"),
    [("99.9%", ["0.0144", "0.006", "0.003", "0.001"]), ("99.95%", ["0.0072", "0.003", "0.0015", "0.0005"])],
)
def test_thresholds_are_burn_rates_times_the_budget_of_the_data(objective: str, thresholds: list[str]) -> None:
    slos = SlosSpec(availability=SloSpec(objective=objective, reason="contract"))
    burns = [rule for rule in _rules(slos) if rule.get("alert") == "ControlPlaneAvailabilityBurn"]

    pairs = [re.findall(r"rate(\w+)\{[^}]*\} > ([0-9.]+)", rule["expr"]) for rule in burns]
    long, short = ["1h", "6h", "1d", "3d"], ["5m", "30m", "2h", "6h"]
    assert [pair for found in pairs for pair in found] == [
        entry
        for index, threshold in enumerate(thresholds)
        for entry in ((long[index], threshold), (short[index], threshold))
    ]
    assert all(rule["annotations"]["summary"].endswith(f"(objective: {objective}).") for rule in burns)


def test_rules_of_a_tenant_name_its_cluster_and_those_of_the_management_cluster_none() -> None:
    assert all(rule["labels"].items() >= {"cluster": "acme-train", "tenant": "acme"}.items() for rule in _rules())

    for rule in objectives.of_management(SlosSpec())["rules"]:
        assert {"cluster", "tenant"}.isdisjoint(rule.get("labels", {}))
        assert all(match == "" for match in re.findall(r'cluster="([^"]*)"', rule["expr"]))
