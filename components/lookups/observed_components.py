"""Observation of components: monitors, alerts and dashboards, or the reason why a component lacks one of them."""

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from pydantic import Field, JsonValue

from components.lookups.monitor_targets import Target
from components.lookups.table_files import table_file
from components.render.manifest import MANAGEMENT, Manifest
from components.render.region import dashboards
from components.specs.base import CheckedSpec, ConstraintViolation, DataFile, Text
from components.specs.region.versions import ObservedSpec
from components.specs.struct import Struct

FILE = Path(__file__).with_suffix(".yaml")
RELEASES = frozenset({"HelmRelease", "Kustomization"})
"""Kinds of releases of charts and of manifest artefacts."""
_MISSING = "its row in versions.yaml has neither this part nor a reason"


class Monitor(StrEnum):
    """Source of the monitor of a component."""

    RENDERED = "rendered"
    """A monitor of the library selects the pods."""
    CHART = "chart"
    """The chart has the monitor."""
    NONE = "none"
    """There is no monitor."""


class ObservedPart(StrEnum):
    """Part of the observation of a component."""

    MONITOR = "monitor"
    ALERTS = "alerts"
    DASHBOARDS = "dashboards"


class ObservedComponent(CheckedSpec):
    """Row of the table."""

    name: Text
    """Name of the concept, the chart or the manifest artefact."""
    monitor: Monitor
    stored: bool = False
    """Whether only regions with a store of metrics have the monitor of the library."""
    values: dict[str, JsonValue] = Field(default_factory=dict)
    """Values of the chart, by path, that enable its monitor; empty if the chart always has it."""
    alerts: tuple[Text, ...] = ()
    """Alerts about the component, in addition to those of its own rules."""
    dashboards: tuple[Text, ...] = ()
    """Dashboards with its metrics."""
    without: dict[ObservedPart, Text] = Field(default_factory=dict)
    """Reason for each part that the component does not have."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield missing and needless reasons, and values without a monitor of the chart."""
        parts = {
            ObservedPart.MONITOR: self.monitor is not Monitor.NONE,
            ObservedPart.ALERTS: bool(self.alerts),
            ObservedPart.DASHBOARDS: bool(self.dashboards),
        }
        for part, present in parts.items():
            if present is (part in self.without):
                text = f"is required without {part}, and only then"
                yield ConstraintViolation(text, ("without", part.value), str(self.without.get(part)))
        if self.stored and self.monitor is not Monitor.RENDERED:
            yield ConstraintViolation("requires the monitor of the library", ("stored",), str(self.stored))
        if self.values and self.monitor is not Monitor.CHART:
            yield ConstraintViolation("requires the monitor of the chart", ("values",), str(self.values))


class ObservedComponentTable(DataFile):
    """Content of ``observed_components.yaml``."""

    concepts: tuple[ObservedComponent, ...]
    management: tuple[ObservedComponent, ...]
    """Charts and artefacts of the management cluster."""
    clusters: tuple[ObservedComponent, ...]
    """Charts and artefacts of tenant clusters."""


class Release(Struct):
    """Release of a chart or of a manifest artefact."""

    name: str
    """Name of the chart or of the artefact."""
    cluster: str
    """Cluster of its pods."""
    namespace: str
    """Namespace of its pods; empty if the release has none."""
    values: Mapping[str, Any]

    @classmethod
    def of(cls, spec: Mapping[str, Any], namespace: str) -> "Release":
        """Return the release that a HelmRelease or Kustomization in ``namespace`` describes.

        Objects for a tenant cluster are in the namespace with the name of the cluster.
        """
        source = spec.get("chartRef") or spec["sourceRef"]
        return cls(
            name=source["name"],
            cluster=namespace if "kubeConfig" in spec else MANAGEMENT,
            namespace=spec.get("targetNamespace", ""),
            values=spec.get("values", {}),
        )

    @property
    def row(self) -> ObservedComponent | None:
        """Return the row of the release; None for an unknown chart or artefact."""
        known = table().management if self.cluster == MANAGEMENT else table().clusters
        return next((row for row in known if row.name == self.name), None)

    def unset(self) -> dict[str, JsonValue]:
        """Return the values that the monitor of the chart requires and the release does not have, by path."""
        row = self.row
        required = row.values if row else {}
        return {path: value for path, value in required.items() if _at(self.values, path) != value}


class Observers:
    """Alerts and dashboards among the objects of all slices, which are searched on first use."""

    def __init__(self, objects: Iterable[Manifest]) -> None:
        self._objects = objects

    @cached_property
    def alerts(self) -> frozenset[str]:
        """Return the names of all alerts."""
        return frozenset(rule["alert"] for item in self._objects for rule in alert_rules(item))

    @cached_property
    def dashboards(self) -> frozenset[str]:
        """Return the titles of all dashboards."""
        return frozenset(title for item in self._objects for title in dashboards.titles_in(item))


def alert_rules(item: Manifest) -> list[Mapping[str, Any]]:
    """Return the alerts of a rule of any kind, such as PrometheusRule; empty for another object."""
    groups = item.body.get("spec", {}).get("groups") if item.kind.endswith("Rule") else None
    return [rule for group in groups or () for rule in group["rules"] if "alert" in rule]


def declared_row(name: str, observed: ObservedSpec) -> ObservedComponent:
    """Return the row of a chart or artefact that the library does not know, from its declaration in the catalogue."""
    reasons = observed.without
    without = {part: getattr(reasons, part.value) or _MISSING for part in ObservedPart}
    for part, names in ((ObservedPart.ALERTS, observed.alerts), (ObservedPart.DASHBOARDS, observed.dashboards)):
        if names:
            del without[part]
    monitor = Monitor.NONE if reasons.monitor else Monitor.RENDERED
    if monitor is Monitor.RENDERED:
        del without[ObservedPart.MONITOR]
    return ObservedComponent(
        name=name, monitor=monitor, alerts=observed.alerts, dashboards=observed.dashboards, without=without
    )


def _at(values: Any, path: str) -> Any:
    for step in path.split("."):
        values = values.get(step) if isinstance(values, Mapping) else None
    return values


@cache
def table() -> ObservedComponentTable:
    """Return the monitor, alerts and dashboards of each component of the library."""
    return table_file(FILE, ObservedComponentTable)


def selected(monitors: Iterable[Manifest], targets: Iterable[Target]) -> frozenset[tuple[str, str]]:
    """Return the clusters and namespaces of ``targets`` that one of ``monitors`` selects."""
    known = list(targets)
    return frozenset(
        (target.cluster, target.namespace)
        for monitor in monitors
        for target in known
        if target.is_selected(monitor.kind, monitor.cluster, str(monitor.namespace), monitor.body["spec"])
    )
