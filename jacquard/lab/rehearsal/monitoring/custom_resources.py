"""Simulated kube-state-metrics for custom resources, with the configuration in the values of its chart.

Metrics of the types Info, Gauge and StateSet have the series that the real program exports
(KSM:pkg/customresourcestate/registry_factory.go, v2.17.0).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jacquard.lab.rehearsal.monitoring.samples import Sample

Json = Mapping[str, Any]
Paths = Mapping[str, list[str]]


def samples(resource: Json, objects: Iterable[Json]) -> Iterator[Sample]:
    """Yield the samples of ``objects``, all of the kind of ``resource``, an entry of the configuration."""
    of = resource["groupVersionKind"]
    kind = {f"customresource_{field}": str(of[field]) for field in ("group", "version", "kind")}
    for obj in objects:
        common = {**kind, **_labels(obj, resource.get("labelsFromPath", {}))}
        for metric in resource["metrics"]:
            name = f"{resource['metricNamePrefix']}_{metric['name']}"
            labels = {**common, **_labels(obj, metric.get("labelsFromPath", {}))}
            yield from _each(name, metric["each"], obj, labels)


def _each(name: str, each: Json, obj: Json, labels: Mapping[str, str]) -> Iterator[Sample]:
    match each["type"]:
        case "Info":
            for item in _items(obj, each["info"]):
                yield Sample(name, {**labels, **_labels(item, each["info"].get("labelsFromPath", {}))})
        case "Gauge":
            value = _at(obj, each["gauge"]["path"])
            if value is not None or each["gauge"].get("nilIsZero"):
                yield Sample(name, labels, float(value or 0))
        case "StateSet":
            states = each["stateSet"]
            for item in _items(obj, states):
                found = {**labels, **_labels(item, states.get("labelsFromPath", {}))}
                value = _at(item, states.get("valueFrom", []))
                for state in states["list"] if value is not None else ():
                    yield Sample(name, {**found, states["labelName"]: state}, float(value == state))
        case other:
            msg = f"metrics of type '{other}' are not simulated"
            raise ValueError(msg)


def _items(obj: Json, metric: Json) -> list[Any]:
    """Return the value at the path of a metric: the entries of a list, or one value."""
    found = _at(obj, metric.get("path", []))
    return found if isinstance(found, list) else [] if found is None else [found]


def _labels(obj: Any, paths: Paths) -> dict[str, str]:
    """Return the values at ``paths``; a label without a value is missing."""
    found = {label: _at(obj, path) for label, path in paths.items()}
    return {
        label: str(value).lower() if isinstance(value, bool) else str(value)
        for label, value in found.items()
        if value is not None
    }


def _at(value: Any, path: Iterable[str]) -> Any:
    """Return the value at ``path``, in which ``[KEY=VALUE]`` selects an entry of a list."""
    for step in path:
        if step.startswith("["):
            key, _, wanted = step[1:-1].partition("=")
            entries = value if isinstance(value, list) else ()
            value = next((entry for entry in entries if str(entry.get(key)) == wanted), None)
        else:
            value = value.get(step) if isinstance(value, Mapping) else None
    return value
