"""Services and pods that monitors of prometheus-operator can select: rendered ones, and recorded ones of charts."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from components.lookups.table_files import table_file
from components.render.manifest import Manifest
from components.specs.base import DataFile, Label, Spec, Text
from components.specs.struct import Struct

FILE = Path(__file__).with_name("monitored_pods.yaml")
SERVICE_MONITOR, POD_MONITOR = "ServiceMonitor", "PodMonitor"
_TARGETS = {SERVICE_MONITOR: "Service", POD_MONITOR: "Pod"}
"""Kind of the targets, by kind of the monitor."""
MONITORS = frozenset(_TARGETS)
_WORKLOADS = frozenset({"DaemonSet", "Deployment", "StatefulSet"})
_RELEASE = "HelmRelease"


class ChartPods(Spec):
    """Pods of a chart that a monitor of the library selects."""

    chart: Label
    version: Text
    labels: dict[str, str]
    """Labels of the pods; ``{release}`` is the name of the release."""
    ports: tuple[Label, ...]
    """Names of the ports of the pods' containers."""
    source: Text


class MadePods(Spec):
    """Pods that an operator creates for an object, and that a monitor of the library selects."""

    kind: Text
    """Kind of the object."""
    part: Label | None = None
    """Field of the object's spec that describes the pods; None if the whole object does."""
    labels: dict[str, str]
    """Labels of the pods; ``{name}`` is the name of the object."""
    ports: tuple[Label, ...]
    """Names of the ports of the pods' containers."""
    source: Text


class MonitoredPodTable(DataFile):
    """Content of ``monitored_pods.yaml``."""

    pods: tuple[ChartPods, ...]
    made: tuple[MadePods, ...]


class Target(Struct):
    """Service, or pod of a workload."""

    kind: str
    """``Service`` or ``Pod``."""
    cluster: str
    namespace: str
    labels: Mapping[str, str]
    ports: tuple[str, ...]
    """Names of the ports."""

    def is_selected(self, kind: str, cluster: str, namespace: str, spec: Mapping[str, Any]) -> bool:
        """Return whether a monitor of ``kind`` in ``namespace`` of ``cluster`` selects the target by its labels."""
        if (self.kind, self.cluster) != (_TARGETS[kind], cluster):
            return False
        spaces = spec.get("namespaceSelector") or {}
        within = spaces.get("any") or self.namespace in spaces.get("matchNames", (namespace,))
        return bool(within) and matches(self.labels, spec["selector"])


@cache
def _table() -> MonitoredPodTable:
    return table_file(FILE, MonitoredPodTable)


@cache
def chart_pods() -> Mapping[str, ChartPods]:
    """Return the recorded pods by chart."""
    return {row.chart: row for row in _table().pods}


def matches(labels: Mapping[str, str], selector: Mapping[str, Any]) -> bool:
    """Return whether ``labels`` satisfy a label selector."""
    exact: Mapping[str, str] = selector.get("matchLabels") or {}
    return exact.items() <= labels.items() and all(
        _satisfies(labels.get(entry["key"]), entry) for entry in selector.get("matchExpressions") or ()
    )


def _satisfies(value: str | None, entry: Mapping[str, Any]) -> bool:
    match entry["operator"]:
        case "In":
            return value in entry["values"]
        case "NotIn":
            return value not in entry["values"]
        case "Exists":
            return value is not None
    return value is None


def targets(items: Iterable[Manifest]) -> Iterator[Target]:
    """Yield the targets among rendered objects, and those of the releases among them."""
    for item in items:
        if item.kind == "Service":
            yield _target("Service", item, item.body["metadata"].get("labels", {}), item.body["spec"].get("ports", ()))
        elif item.kind in _WORKLOADS:
            template = item.body["spec"]["template"]
            ports = [port for entry in template["spec"]["containers"] for port in entry.get("ports", ())]
            yield _target("Pod", item, template["metadata"].get("labels", {}), ports)
        elif item.kind == _RELEASE:
            yield from _of_release(item)
        else:
            yield from _made_for(item)


def _target(kind: str, item: Manifest, labels: Mapping[str, str], ports: Iterable[Mapping[str, Any]]) -> Target:
    names = tuple(str(port["name"]) for port in ports if "name" in port)
    return Target(kind=kind, cluster=item.cluster, namespace=str(item.namespace), labels=labels, ports=names)


def _of_release(item: Manifest) -> Iterator[Target]:
    spec = item.body["spec"]
    row = chart_pods().get(spec["chartRef"]["name"])
    if row is not None and "kubeConfig" not in spec:
        labels = {key: value.format(release=spec["releaseName"]) for key, value in row.labels.items()}
        space = spec["targetNamespace"]
        yield Target(kind="Pod", cluster=item.cluster, namespace=space, labels=labels, ports=row.ports)


@cache
def _made_pods() -> Mapping[str, tuple[MadePods, ...]]:
    """Return the recorded pods by the kind of the object for which they are created."""
    rows: dict[str, tuple[MadePods, ...]] = {}
    for row in _table().made:
        rows[row.kind] = (*rows.get(row.kind, ()), row)
    return rows


def _made_for(item: Manifest) -> Iterator[Target]:
    for row in _made_pods().get(item.kind, ()):
        if row.part is None or row.part in item.body["spec"]:
            labels = {key: value.format(name=item.name) for key, value in row.labels.items()}
            space = str(item.namespace)
            yield Target(kind="Pod", cluster=item.cluster, namespace=space, labels=labels, ports=row.ports)
