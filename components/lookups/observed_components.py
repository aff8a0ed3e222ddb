"""Observation of components: monitors, alerts and dashboards, or the reason why a component has no monitor."""

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import Field, JsonValue

from components.lookups.monitor_targets import Target
from components.lookups.table_files import table_file
from components.render.manifest import MANAGEMENT, Manifest
from components.specs.base import CheckedSpec, ConstraintViolation, DataFile, Text
from components.specs.struct import Struct

FILE = Path(__file__).with_suffix(".yaml")
RELEASES = frozenset({"HelmRelease", "Kustomization"})
"""Kinds of releases of charts and of manifest artefacts."""


class Monitor(StrEnum):
    """Source of the monitor of a component."""

    RENDERED = "rendered"
    """A monitor of the library selects the pods."""
    CHART = "chart"
    """The chart has the monitor."""
    NONE = "none"
    """There is no monitor."""


class ObservedComponent(CheckedSpec):
    """Row of the table."""

    name: Text
    """Name of the concept, the chart or the manifest artefact."""
    monitor: Monitor
    stored: bool = False
    """Whether only regions with a store of metrics have the monitor of the library."""
    values: dict[str, JsonValue] = Field(default_factory=dict)
    """Values of the chart, by path, that enable its monitor; empty if the chart always has it."""
    because: Text | None = None
    """Reason why there is no monitor."""
    alerts: tuple[Text, ...] = ()
    """Alerts about the component, in addition to those of its own rules."""
    dashboards: tuple[Text, ...] = ()

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield a missing or needless reason, and values without a monitor of the chart."""
        if (self.because is None) is (self.monitor is Monitor.NONE):
            yield ConstraintViolation("is required without a monitor, and only then", ("because",), str(self.because))
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


def _at(values: Any, path: str) -> Any:
    for step in path.split("."):
        values = values.get(step) if isinstance(values, Mapping) else None
    return values


@cache
def table() -> ObservedComponentTable:
    """Return the table of the library."""
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
