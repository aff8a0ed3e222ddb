"""Metrics of GPUs that alerts and dashboards use are among those that the exporter reads."""

from __future__ import annotations

import re

from components.lookups.health.node_checks import library_checks
from components.render.add_ons.add_on_monitors import MONITORED
from components.render.add_ons.add_on_values import GPU_OPERATOR
from components.render.add_ons.gpu_metrics import COUNTERS, HEALTH
from jacquard.machine import paths

_METRIC = re.compile(r"\bDCGM_\w+")


def test_each_metric_of_an_alert_or_dashboard_is_exported() -> None:
    panels = (paths.ROOT / "jacquard" / "lab" / "dashboard_panels.yaml").read_text()
    alerts = " ".join(check.expression or "" for check in library_checks().values())
    used = {*_METRIC.findall(panels), *_METRIC.findall(alerts)}

    assert HEALTH in used
    assert used <= {name for name, _, _ in COUNTERS}


def test_the_list_of_metrics_has_three_columns() -> None:
    config = MONITORED[GPU_OPERATOR]("monitoring")["dcgmExporter"]["config"]
    rows = [line.split(", ") for line in config["data"].splitlines()]

    assert (config["create"], [tuple(row) for row in rows]) == (True, list(COUNTERS))
    assert {kind for _, kind, _ in rows} == {"gauge", "counter", "label"}
    assert len({name for name, _, _ in rows}) == len(rows)
