"""``jacquard show ENV observability``."""

from __future__ import annotations

import json
from typing import Any

Invoke = Any


def test_the_text_has_a_table_for_each_place(invoke: Invoke) -> None:
    shown = invoke("show", "laptop", "observability")

    assert shown.exit_code == 0, shown.output
    lines = [" ".join(line.split()) for line in shown.stdout.splitlines()]
    assert [line for line in lines if line.startswith(("concepts", "charts"))] == [
        "concepts",
        "charts and manifests of the management cluster",
        "charts and manifests of tenant clusters",
    ]
    assert lines.count("component instances monitor alerts dashboards receivers") == 3
    assert any(line.startswith("external-dns 2 rendered ReleaseNotReady,") for line in lines)
    assert any(line.startswith("gpu-operator 2 chart, 0 of 2 ReleaseNotReady") for line in lines)
    assert "reasons for missing parts" in lines
    assert "monitor, alerts, dashboards PodPriorities priority classes run no pods" in lines


def test_the_json_has_the_reasons_for_missing_parts(invoke: Invoke) -> None:
    answer = json.loads(invoke("show", "laptop", "observability", "--format", "json").stdout)

    rows = {(row["place"], row["component"]): row for row in answer["rows"]}
    assert answer["environment"] == "laptop"
    assert rows["clusters", "cilium"] == {
        "component": "cilium",
        "place": "clusters",
        "instances": 2,
        "monitor": "none",
        "monitored": 0,
        "without": {
            "monitor": "kube-state-metrics counts its agents, since the network must not wait for the kinds of monitors"
        },
        "alerts": ["ReleaseNotReady"],
        "dashboards": ["Nodes"],
        "operators": ["platform"],
        "tenants": [],
        "inside": False,
    }


def test_there_is_no_yaml(invoke: Invoke) -> None:
    shown = invoke("show", "laptop", "observability", "--format", "yaml")

    assert shown.exit_code == 2
    assert "--format yaml: observability has no YAML output; write text or json" in shown.stderr
