"""Alerts of the reference environments, and the labels with which they reach Alertmanager."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from components.inputs.add_ons import of_cluster
from components.inputs.manifests import manifests
from components.lookups.pools import clusters
from components.lookups.slices import SliceKind, slices
from components.render.manifest import MANAGEMENT, Manifest, objects
from components.specs.struct import replace
from tests.support.data.environment_data import LAPTOP, REFERENCES, reference
from tests.support.data.nvlink_racks import racks
from tests.support.objects.rendered_objects import objects_of

RULES = ("PrometheusRule", "VMRule")
_CLUSTER = "acme-train"
_ADD_ONS = (("default", "monitoring"), ("default", "calico", "monitoring"))


@dataclass(frozen=True, kw_only=True)
class Alert:
    """An alert of a rendered rule."""

    rule: Mapping[str, Any]
    """The rule."""
    records: tuple[Mapping[str, Any], ...]
    """Names of the recording rules in its group."""
    cluster: str
    """Cluster that evaluates the rule: the management cluster for rules over the metrics store."""


def rules_of(name: str) -> list[Manifest]:
    """Return all rendered rules of a reference environment. The inventory has no rules."""
    environment = reference(name)
    return [
        item
        for part in slices(environment)
        if part.kind is not SliceKind.INVENTORY
        for item in objects(manifests(environment, part))
        if item.kind in RULES
    ]


def alerts_of(name: str) -> list[Alert]:
    """Return the alerts of all rendered rules of a reference environment."""
    return [alert for item in rules_of(name) for alert in _alerts(item)]


def _alerts(item: Manifest) -> Iterator[Alert]:
    if item.kind in RULES:
        for group in item.body["spec"]["groups"]:
            records = tuple(rule for rule in group["rules"] if "record" in rule)
            for rule in group["rules"]:
                if "alert" in rule:
                    yield Alert(rule=rule, records=records, cluster=item.cluster)


@cache
def every_alert() -> tuple[Alert, ...]:
    """Return one alert for each rendered rule: of the reference environments, and with all add-ons and node checks.

    Rules that differ only in the name of a cluster, namespace or CronJob, or in a list of namespaces, count as one.
    """
    more = [alert for add_ons in _ADD_ONS for item in _inside(add_ons) for alert in _alerts(item)]
    rules = {_shape(alert.rule): alert for alert in (*(a for name in REFERENCES for a in alerts_of(name)), *more)}
    return tuple(rules.values())


def _inside(add_ons: tuple[str, ...]) -> tuple[Manifest, ...]:
    """Return the add-on objects of a cluster whose nodes have the hardware of every node check."""
    environment = racks(reference(LAPTOP.name))
    [placed] = [placed for placed in clusters(environment) if placed.cluster.name == _CLUSTER]
    cluster = placed.cluster.model_copy(update={"add_ons": add_ons})
    [given] = of_cluster(environment, replace(placed, cluster=cluster))
    return objects_of(given)


def _shape(rule: Mapping[str, Any]) -> tuple[str, str, str]:
    return (
        rule["alert"],
        re.sub('(cluster|namespace|cronjob)="[^"]*"|namespace=~"[^"]*"', "", rule["expr"]),
        rule["for"],
    )


def fired(name: str) -> Iterator[dict[str, str]]:
    """Yield the labels of each alert that the management cluster can send, without labels that no route uses.

    Rules on Cluster API objects get the labels of a cluster from their series: one set for each cluster.
    """
    region = {"region": name}
    of_clusters = [
        {"tenant": placed.tenant.tenant, "cluster": placed.cluster.name} for placed in clusters(reference(name))
    ]
    for alert in (entry.rule for entry in alerts_of(name) if entry.cluster == MANAGEMENT):
        labels = {"alertname": alert["alert"], **alert["labels"], **region}
        from_series = labels["audience"] == "tenant" and "tenant" not in labels
        yield from ({**labels, **series} for series in (of_clusters if from_series else [{}]))
