"""The map of halls: the query of its panel on series of hosts and Machines, by the real vmalert-tool."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from components.render.region import dashboards, monitoring
from components.specs.hosts.bare_metal import BareMetalBackend
from tests.support.data.environment_data import reference
from tests.support.monitoring.alert_series import vmalert_tool

SERIES = (
    ("east", "r1", "a-1", "acme", "m-1", "OK"),
    ("east", "r1", "a-2", "acme", "m-2", "OK"),
    ("east", "r1", "a-3", "free-hosts", "", "OK"),
    ("east", "r1", "a-4", "free-hosts", "", "error"),
    ("east", "r2", "b-1", "acme", "m-3", "OK"),
    ("east", "r3", "c-1", "acme", "m-4", "error"),
    ("east", "r4", "d-1", "globex", "m-2", "OK"),
    ("west", "r1", "e-1", "acme", "m-5", "error"),
)
"""Hosts: hall, rack, name, namespace, Machine and status."""
UNHEALTHY = (("acme", "m-2", 1), ("acme", "m-1", 0))
"""Machines: namespace, name, and whether the health check failed."""


def panel() -> dict[str, Any]:
    """Return the panel of the map."""
    content = json.loads((dashboards.FOLDER / "region.json").read_text(encoding="utf-8"))
    [found] = [item for item in content["panels"] if item.get("repeat") == "hall"]
    return dict(found)


def series() -> dict[str, str]:
    """Return the series with their samples. Labels without a value are omitted, as by kube-state-metrics."""
    found = {}
    for hall, rack, name, space, machine, status in SERIES:
        labels = {"hall": hall, "rack": rack, "name": name, "namespace": space, "cluster": space, "machine": machine}
        found[_selector("baremetalhost_info", **labels, operational_status=status)] = "1x5"
    for space, name, failed in UNHEALTHY:
        labels = {"name": name, "namespace": space, "cluster": space, "type": "HealthCheckSucceeded", "status": "False"}
        found[_selector("capi_machine_status_condition", **labels)] = f"{failed}x5"
    return found


def _selector(metric: str, **labels: str) -> str:
    pairs = ",".join(f'{key}="{value}"' for key, value in labels.items() if value)
    return f"{metric}{{{pairs}}}"


@pytest.mark.parametrize(
    ("hall", "shares"), [("east", {"r1": 0.5, "r2": 1.0, "r3": 0.0, "r4": 1.0}), ("west", {"r1": 0.0})]
)
def test_each_rack_of_a_hall_has_the_share_of_hosts_without_a_fault(
    hall: str, shares: dict[str, float], tmp_path: Path
) -> None:
    samples = [{"labels": f'{{rack="{rack}"}}', "value": share} for rack, share in shares.items()]
    test = {
        "interval": "1m",
        "input_series": [{"series": key, "values": values} for key, values in series().items()],
        "metricsql_expr_test": [
            {"expr": panel()["targets"][0]["expr"].replace("$hall", hall), "eval_time": "3m", "exp_samples": samples}
        ],
    }
    rule = {"alert": "Never", "expr": "vector(0) > 1"}

    assert vmalert_tool(tmp_path, [rule], [test]) == ""
    wrong = [{**sample, "value": 0.25} for sample in samples]
    test["metricsql_expr_test"][0]["exp_samples"] = wrong  # type: ignore[index]
    assert vmalert_tool(tmp_path, [rule], [test]) != ""


def test_tiles_are_named_by_rack_and_sorted_and_none_is_left_out() -> None:
    found = panel()

    assert found["transformations"] == [{"id": "sortBy", "options": {"sort": [{"field": "rack"}]}}]
    reduced = found["options"]["reduceOptions"]
    assert (reduced["values"], reduced["fields"]) == (True, "/^Value$/")
    racks = {host.rack for host in reference("us-east-04a").hosts}
    assert reduced["limit"] >= len(racks)
    assert [step["color"] for step in found["fieldConfig"]["defaults"]["thresholds"]["steps"]] == [
        "red",
        "orange",
        "green",
    ]


@pytest.mark.parametrize("backend", list(BareMetalBackend))
def test_metrics_of_hosts_need_the_kind_of_metal3(backend: BareMetalBackend) -> None:
    region = reference("laptop").region
    spec = region.model_copy(update={"bare_metal": region.bare_metal.model_copy(update={"backend": backend})})
    values = monitoring.operator(spec).values["kube-state-metrics"]
    kinds = {item["groupVersionKind"]["kind"] for item in values["customResourceState"]["config"]["spec"]["resources"]}
    groups = {group for rule in values["rbac"]["extraRules"] for group in rule["apiGroups"]}

    metal3 = backend is BareMetalBackend.METAL3
    assert ("BareMetalHost" in kinds, "metal3.io" in groups) == (metal3, metal3)
