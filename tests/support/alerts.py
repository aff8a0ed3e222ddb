"""Alerts of the management cluster with the labels that reach Alertmanager, for tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from environment_data import reference

from components.inputs.manifests import manifests
from components.lookups.pools import clusters
from components.lookups.slices import SliceKind, slices
from components.render.manifest import MANAGEMENT, objects

RULE = "PrometheusRule"


@dataclass(frozen=True, kw_only=True)
class Alert:
    """An alert of a rendered rule."""

    rule: Mapping[str, Any]
    """The rule."""
    cluster: str
    """Cluster whose Prometheus evaluates it."""


def alerts_of(name: str) -> list[Alert]:
    """Return the alerts of all rendered rules of a reference environment. The inventory has no rules."""
    environment = reference(name)
    return [
        Alert(rule=rule, cluster=item.cluster)
        for part in slices(environment)
        if part.kind is not SliceKind.INVENTORY
        for item in objects(manifests(environment, part))
        if item.kind == RULE
        for group in item.body["spec"]["groups"]
        for rule in group["rules"]
    ]


def fired(name: str) -> Iterator[dict[str, str]]:
    """Yield the labels of each alert that the management cluster can send, without those no route depends on.

    Rules on objects of Cluster API have the labels of a cluster from its series: one set for each cluster.
    """
    region = {"region": name}
    of_clusters = [
        {"tenant": placed.tenant.tenant, "cluster": placed.cluster.name} for placed in clusters(reference(name))
    ]
    for alert in (entry.rule for entry in alerts_of(name) if entry.cluster == MANAGEMENT):
        labels = {"alertname": alert["alert"], **alert["labels"], **region}
        from_series = labels["audience"] == "tenant" and "tenant" not in labels
        yield from ({**labels, **series} for series in (of_clusters if from_series else [{}]))
