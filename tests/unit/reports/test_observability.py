"""The table of observed components and its report cover everything that the reference environments render."""

from __future__ import annotations

from typing import Any

import pytest

from components.inputs.slice_inputs import made
from components.lookups.observed_components import (
    Monitor,
    ObservedComponent,
    ObservedPart,
    Release,
    declared_row,
    table,
)
from components.lookups.slices import slices
from components.render.add_ons.add_on_monitors import MONITORED
from components.reports.observability import CLUSTERS, CONCEPT, Observability, ObservedRow, observability
from components.specs.region.versions import MissingPartsSpec, ObservedSpec
from tests.support.data.environment_data import LAPTOP, REFERENCES, SMALL, reference
from tests.support.monitoring.alerts import every_alert


def _rows(report: Observability) -> dict[tuple[str, str], ObservedRow]:
    return {(row.place, row.component): row for row in report.rows}


@pytest.mark.parametrize("name", SMALL)
def test_each_rendered_component_has_a_row(name: str) -> None:
    rows = observability(reference(name)).rows

    assert [
        (row.place, row.component) for row in rows if any("versions.yaml" in text for text in row.without.values())
    ] == []
    assert {row.component for row in rows if row.place != CONCEPT and not row.alerts} == set()


def test_each_row_is_a_concept_or_is_in_the_catalogue() -> None:
    versions = reference(LAPTOP.name).versions
    pinned = {pin.name for pin in (*versions.charts, *versions.manifests)}
    concepts = {
        type(entry.concept).__name__.removesuffix("Input")
        for name in REFERENCES
        for part in slices(reference(name))
        for entry in made(reference(name), part)
    }

    assert {row.name for row in table().concepts} == concepts
    assert {row.name for row in (*table().management, *table().clusters)} - pinned == {"tenant"}


def test_each_alert_of_the_table_is_rendered() -> None:
    known = {alert.rule["alert"] for alert in every_alert()}

    assert {alert for row in _all_rows() for alert in row.alerts} - known == set()


def _all_rows() -> tuple[ObservedComponent, ...]:
    return (*table().concepts, *table().management, *table().clusters)


def test_values_of_the_table_are_those_that_enable_the_monitors() -> None:
    of_table = {row.name: row.values for row in table().clusters if row.values}

    assert of_table.keys() == MONITORED.keys()
    for chart, values in MONITORED.items():
        release = Release(name=chart, cluster="a", namespace="a", values=values("monitoring"))
        assert release.unset() == {}, chart
        assert Release(name=chart, cluster="a", namespace="a", values={}).unset() == of_table[chart]


def test_a_monitor_of_the_table_is_rendered_somewhere() -> None:
    reports = [_rows(observability(reference(name))) for name in (*SMALL, "us-east-04a")]
    rendered = {(CONCEPT, row.name) for row in table().concepts if row.monitor is Monitor.RENDERED}
    rendered |= {("management", row.name) for row in table().management if row.monitor is Monitor.RENDERED}

    for key in rendered:
        assert any(key in rows and rows[key].monitored == rows[key].instances for rows in reports), key


def test_the_report_names_monitor_alerts_and_receivers() -> None:
    rows = _rows(observability(reference("eu-south-03a")))

    planes, gpus, kamaji = (
        rows[CONCEPT, "HostedControlPlane"],
        rows[CLUSTERS, "gpu-operator"],
        rows.get(("management", "kamaji")),
    )
    assert (planes.monitor, planes.instances, planes.monitored) == (Monitor.RENDERED, 6, 6)
    assert planes.alerts == (
        "ControlPlaneDown",
        "ControlPlaneFails",
        "ControlPlaneSlow",
        "EtcdWithoutLeader",
        "EtcdNearlyFull",
        "RecoveryPointMissed",
        "BackupNotVerified",
        "ControlPlaneWasDown",
        "ControlPlaneAvailabilityBurn",
        "ControlPlaneLatencyBurn",
    )
    assert (planes.operators, len(planes.tenants), planes.inside) == (("on-call", "platform"), 4, False)
    assert (gpus.monitor, gpus.instances, gpus.monitored) == (Monitor.CHART, 4, 3)
    assert (gpus.operators, gpus.tenants, gpus.inside) == (("platform",), ("tessera", "vireo", "wisent"), True)
    assert kamaji is None


def test_a_region_without_a_store_has_the_reason_for_missing_monitors() -> None:
    with_store, without = (
        _rows(observability(reference(name)))["management", "metallb"] for name in ("eu-south-03a", "laptop")
    )

    assert (with_store.monitor, with_store.monitored, with_store.without) == (Monitor.RENDERED, 1, {})
    assert (without.monitor, without.monitored) == (Monitor.NONE, 0)
    assert without.without == {ObservedPart.MONITOR: "only regions with a store of metrics have its monitor"}


def test_a_chart_of_a_user_has_the_parts_that_its_row_in_the_catalogue_declares() -> None:
    row = declared_row(
        "tools", ObservedSpec(alerts=("ToolsDown",), without=MissingPartsSpec(monitor="it has no metrics"))
    )

    assert (row.monitor, row.alerts, row.dashboards) == (Monitor.NONE, ("ToolsDown",), ())
    assert row.without == {
        ObservedPart.MONITOR: "it has no metrics",
        ObservedPart.DASHBOARDS: "its row in versions.yaml has neither this part nor a reason",
    }


def test_without_observability_there_are_no_alert_receivers() -> None:
    rows = observability(reference("starter")).rows

    assert {(row.operators, row.tenants) for row in rows} == {((), ())}


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"monitor": "none"}, "is required without monitor, and only then"),
        ({"monitor": "rendered", "without": {"monitor": "x"}}, "is required without monitor, and only then"),
        ({"monitor": "rendered", "alerts": []}, "is required without alerts, and only then"),
        ({"monitor": "rendered", "without": {"alerts": "x"}}, "is required without alerts, and only then"),
        ({"monitor": "rendered", "dashboards": []}, "is required without dashboards, and only then"),
        ({"monitor": "rendered", "values": {"a": True}}, "requires the monitor of the chart"),
        ({"monitor": "chart", "stored": True}, "requires the monitor of the library"),
    ],
)
def test_a_row_has_each_part_or_a_reason(row: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        ObservedComponent.model_validate({"name": "a", "alerts": ["A"], "dashboards": ["D"], **row})
