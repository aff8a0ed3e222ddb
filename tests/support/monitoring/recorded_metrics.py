"""Metrics of exporters, and metrics that expressions use."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import promql_parser as promql
import yaml

from components.render.region.controllers import object_metrics

RECORD: Mapping[str, Any] = yaml.load(Path(__file__).with_suffix(".yaml").read_bytes(), Loader=yaml.CSafeLoader)
_NAME = "__name__"
_RESTRICTING = ("and", "unless")
_OF_KIND = ("customresource_group", "customresource_version", "customresource_kind")
"""Labels of all series of custom resources (KSM:docs/metrics/extend/customresourcestate-metrics.md)."""


@dataclass(frozen=True, kw_only=True)
class Metric:
    """Metric of an exporter."""

    labels: frozenset[str]
    jobs: frozenset[str]
    """Values of the label ``job``; empty if any value is possible."""


@dataclass(frozen=True, kw_only=True)
class Use:
    """Selector of an expression."""

    pattern: str
    """Regular expression for the whole name of the metric."""
    labels: frozenset[str]
    jobs: frozenset[str]
    """Values that an equality matcher requires of the label ``job``."""

    def metrics(self) -> dict[str, Metric]:
        """Return the recorded metrics that the selector selects by name, by name."""
        return {name: metric for name, metric in recorded().items() if re.fullmatch(self.pattern, name)}


@cache
def recorded() -> dict[str, Metric]:
    """Return all metrics by name: recorded ones, and those of custom resources from the rendered kube-state-metrics."""
    of_targets = frozenset(RECORD["target_labels"])
    found: dict[str, Metric] = {}
    for exporter in RECORD["exporters"]:
        jobs = frozenset(exporter.get("jobs", ()))
        for name, labels in exporter["metrics"].items():
            found[name] = Metric(labels=of_targets | {*labels}, jobs=jobs)
    values = object_metrics.metrics(dpf=True, metal3=True, stacks=True)
    for resource in values["customResourceState"]["config"]["spec"]["resources"]:
        for entry in resource["metrics"]:
            name = f"{resource['metricNamePrefix']}_{entry['name']}"
            labels = {*_OF_KIND, *resource.get("labelsFromPath", ()), *_own_labels(entry)}
            known = found[name].labels if name in found else of_targets
            found[name] = Metric(labels=known | labels, jobs=frozenset())
    return found


def _own_labels(entry: Mapping[str, Any]) -> Iterator[str]:
    yield from entry.get("labelsFromPath", ())
    for state in (value for key, value in entry["each"].items() if key != "type"):
        yield from state.get("labelsFromPath", ())
        if "labelName" in state:
            yield state["labelName"]


def uses(expression: str) -> Iterator[Use]:
    """Yield the selectors of ``expression``. Labels of ``by`` and ``on`` are labels of each selector."""
    yield from _uses(promql.parse(expression), frozenset())


def _uses(node: Any, labels: frozenset[str]) -> Iterator[Use]:
    match node:
        case promql.VectorSelector():
            yield _use(node, labels)
        case promql.MatrixSelector():
            yield _use(node.vector_selector, labels)
        case promql.AggregateExpr():
            grouping = node.modifier.labels if node.modifier else ()
            yield from _uses(node.expr, labels | {*grouping})
        case promql.BinaryExpr():
            matching = node.modifier.matching if node.modifier else None
            matched = {*(matching.labels if matching else ())}
            yield from _uses(node.lhs, labels | matched)
            # The result has only series of the left side.
            restricts = matched and str(node.op).lower() in _RESTRICTING
            yield from _uses(node.rhs, frozenset(matched) if restricts else labels | matched)
        case promql.Call() if node.func.name == "label_replace":
            vector, target, _, source, _ = node.args
            yield from _uses(vector, labels - {target.val} | {source.val})
        case promql.Call():
            for argument in node.args:
                yield from _uses(argument, labels)
        case promql.ParenExpr() | promql.UnaryExpr() | promql.SubqueryExpr():
            yield from _uses(node.expr, labels)
        case promql.NumberLiteral() | promql.StringLiteral():
            pass
        case _:
            msg = f"{type(node).__name__} is not read"
            raise TypeError(msg)


def _use(selector: promql.VectorSelector, labels: frozenset[str]) -> Use:
    matchers = {matcher.name: matcher for matcher in selector.matchers.matchers}
    job = matchers.get("job")
    exact = {job.value} if job is not None and str(job.op).endswith("Equal") and "Not" not in str(job.op) else set()
    pattern = re.escape(selector.name) if selector.name else matchers[_NAME].value
    return Use(pattern=pattern, labels=labels | ({*matchers} - {_NAME}), jobs=frozenset(exact))


def problems(expression: str, *, stored: bool = False) -> Iterator[str]:
    """Yield the metrics and labels of ``expression`` that no recorded exporter has.

    Series that are ``stored`` also have the labels of the store.
    """
    added = frozenset(RECORD["store_labels"]) if stored else frozenset()
    for use in uses(expression):
        metrics = use.metrics()
        if not metrics:
            yield f"no exporter has the metric {use.pattern}"
        for name, metric in metrics.items():
            if unknown := use.labels - metric.labels - added:
                yield f"{name} has no label {', '.join(sorted(unknown))}"
            if metric.jobs and use.jobs - metric.jobs:
                yield f"{name} has the job {' or '.join(sorted(metric.jobs))}, not {', '.join(use.jobs)}"
