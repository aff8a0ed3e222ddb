"""Monitoring of the management cluster: Prometheus, Alertmanager and kube-state-metrics."""

from collections.abc import Iterable
from types import MappingProxyType
from typing import Any

from components.render.manifest import Manifest
from components.render.region import alert_routes, dashboards, metrics_store, objectives, platform_objects
from components.render.region.alert_routes import Tenants
from components.render.region.controllers import object_metrics
from components.render.region.logs import log_store
from components.render.region.operators import Operator
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.region.region import RegionSpec

NAMESPACE = "monitoring"
CHART = "kube-prometheus-stack"
_REPLACED = {"kubeApiserverBurnrate": False, "kubeApiserverSlos": False}
"""Rules of the chart over the sum of all API servers, those of tenants included; `objectives` judges each cluster
(PHC:charts/kube-prometheus-stack/templates/prometheus/rules-1.14/kube-apiserver-slos.yaml)."""


def operator(
    region: RegionSpec, tenants: Tenants = MappingProxyType({}), logged: Iterable[str] = (), *, dpf: bool = False
) -> Operator:
    """Return the monitoring of the management cluster. Alerts have the label ``region``.

    Args:
        region: the region.
        tenants: receivers of each tenant.
        logged: tenants whose logs are in the store of the region, if it has one.
        dpf: whether DPF is installed, whose DPUs are then observed.
    """
    alerting = alert_routes.values(region.observability, tenants)
    metal3 = region.bare_metal.backend is BareMetalBackend.METAL3
    prometheus = alerting.get("prometheus", {}).get("prometheusSpec", {})
    # Monitors of control planes are in the namespaces of the clusters and not part of this release.
    every = {f"{what}SelectorNilUsesHelmValues": False for what in ("podMonitor", "serviceMonitor", "rule")}
    return Operator(
        chart=CHART,
        namespace=NAMESPACE,
        values={
            **alerting,
            "defaultRules": {"rules": _REPLACED},
            "prometheus": {
                "prometheusSpec": {
                    **every,
                    "externalLabels": {"region": region.region},
                    **prometheus,
                    **metrics_store.remote_write(region),
                }
            },
            "kube-state-metrics": object_metrics.metrics(dpf=dpf, metal3=metal3, stacks=region.engine is not None),
            **_data_sources(region, logged),
        },
    )


def rules(region: RegionSpec, *, dpf: bool) -> Manifest:
    """Return the alerts on objects of the management cluster and the objectives of its API servers."""
    slos, thresholds = objectives.of_management(region.slos), region.thresholds
    return platform_objects.rules(NAMESPACE, slos, thresholds=thresholds, dpf=dpf)


def dashboards_of(region: RegionSpec, release: str) -> tuple[Manifest, ...]:
    """Return the dashboards of a region with ``observability``; those of logs need the plug-in for Grafana."""
    logs = region.log_store
    shown = logs is not None and logs.grafana_plugin is not None
    return (dashboards.render(NAMESPACE, release, logs=shown),) if region.observability else ()


def _data_sources(region: RegionSpec, tenants: Iterable[str]) -> dict[str, Any]:
    """Return the values of Grafana with the stores of ``region``; empty without a store."""
    if metrics_store.store_of(region) is None:
        return {}
    values, logs = dashboards.data_sources(metrics_store.READ_URL), region.log_store
    if logs is None or logs.grafana_plugin is None:
        return values
    return dashboards.with_logs(values, logs.grafana_plugin, log_store.READ_URL, tenants)
