"""Monitors and alerts of the store of metrics, and rules over the metrics of one cluster in the store.

Prometheus of the management cluster evaluates the alerts about the store. It keeps its own data, so that these alerts
fire while the store is down.

The store evaluates the rules over the metrics of a cluster. Each group reads only the series of its cluster:
``extra_label`` restricts its queries, so that the expressions are those of a Prometheus in the cluster
(VM:docs/victoriametrics/vmalert.md, ``params``).
"""

from collections.abc import Iterable
from typing import Any

from components.render import labels as keys
from components.render.manifest import Manifest
from components.render.objects import manifest
from components.render.region.metrics_store import API, NAME_INSIDE, NAMESPACE
from components.render.region.monitors import (
    API_GROUP,
    CONTROL_PLANE_JOBS,
    INTERVAL,
    METRICS_MISSING,
    Audience,
    alert,
    prometheus_rule,
)
from components.render.region.stores.store_certificates import AUTHORITY_KEY, SERVER_SECRET
from components.specs.region.observability import MetricsStoreSpec
from components.specs.region.region import RegionSpec
from components.specs.region.thresholds import TunableAlert

_NAME = "metrics-store"
_COMPONENT = "app.kubernetes.io/name"
_PROXY = "vmauth"
_PARTS = ("vminsert", "vmselect", "vmstorage")
_INTERNAL = "internal"
"""Port of the proxy with its own metrics (VMO:internal/controller/operator/factory/vmauth/vmauth.go)."""
_CLUSTER_RULES = "cluster-metrics"
_MISSING_HOLD = "15m"
"""Longer than a restart of the agent and an outage of the store, after which the agent writes older samples first."""


def render(region: RegionSpec) -> tuple[Manifest, ...]:
    """Return the monitors of the pods of the store, whose job is the name of the component, and the alerts.

    The tuple is empty if the region has no store.
    """
    store = region.observability.store if region.observability else None
    if store is None:
        return ()
    alerts = _alerts(store, region.thresholds.of(TunableAlert.METRICS_STORE_NEARLY_FULL))
    return (
        pod_monitor(_NAME, _PARTS, "http"),
        _monitor(f"{_NAME}-proxy", {"matchLabels": {_COMPONENT: _PROXY}}, _INTERNAL, **_verified()),
        prometheus_rule(_NAME, _NAME, [*alerts], {}, namespace=NAMESPACE, labels={}),
    )


def cluster_rules(tenant: str, cluster: str, alerts: Iterable[dict[str, Any]]) -> Manifest:
    """Return ``alerts`` over the metrics of ``cluster``, and the alert for missing metrics.

    The object is in the management cluster, in the namespace of the cluster.
    """
    owner = {"tenant": tenant, "cluster": cluster}
    group = {
        "name": cluster,
        "params": {"extra_label": [f"{name}={value}" for name, value in owner.items()]},
        "rules": [{**entry, "labels": {**entry["labels"], **owner}} for entry in (_missing(), *alerts)],
    }
    labels = {keys.TENANT: tenant, keys.CLUSTER: cluster}
    return manifest(API, "VMRule", _CLUSTER_RULES, namespace=cluster, labels=labels, spec={"groups": [group]})


def pod_monitor(name: str, parts: tuple[str, ...], port: str) -> Manifest:
    """Return the monitor of the pods of the components ``parts``, whose job is the name of the component."""
    return _monitor(name, {"matchExpressions": [{"key": _COMPONENT, "operator": "In", "values": list(parts)}]}, port)


def _verified() -> dict[str, Any]:
    """Return the fields with which Prometheus verifies the certificate of the proxy."""
    authority = {"secret": {"name": SERVER_SECRET, "key": AUTHORITY_KEY}}
    return {"scheme": "https", "tlsConfig": {"ca": authority, "serverName": NAME_INSIDE}}


def _monitor(name: str, selector: dict[str, Any], port: str, **further: Any) -> Manifest:
    labelled = "__meta_kubernetes_pod_label_" + _COMPONENT.replace(".", "_").replace("/", "_")
    relabelings = [{"sourceLabels": [labelled], "targetLabel": "job"}]
    endpoint = {"port": port, "interval": INTERVAL, "relabelings": relabelings, **further}
    spec = {"selector": selector, "podMetricsEndpoints": [endpoint]}
    return manifest(API_GROUP, "PodMonitor", name, namespace=NAMESPACE, spec=spec)


def _alerts(store: MetricsStoreSpec, free_percent: int) -> tuple[dict[str, Any], ...]:
    def of(job: str) -> str:
        return f'{{namespace="{NAMESPACE}",job="{job}"}}'

    storage = of("vmstorage")
    free = f"min by (instance) (vm_free_disk_space_bytes{storage})"
    down = " or ".join(f"absent(up{of(job)} == 1)" for job in (_PROXY, *_PARTS))
    return (
        alert(
            "MetricsStoreDown",
            "critical",
            down,
            "A part of the store of metrics is down: it stores no metrics of clusters, or cannot answer queries.",
        ),
        alert(
            "MetricsStoreDegraded",
            "warning",
            f"(sum(up{storage}) or vector(0)) < {store.storage_pods}",
            "Storage pods of the store of metrics are down; the failure of another one loses metrics.",
        ),
        alert(
            "MetricsStoreNearlyFull",
            "warning",
            f"{free} / ({free} + sum by (instance) (vm_data_size_bytes{storage})) < {free_percent / 100}",
            f"Less than {free_percent} % of a volume of the store is free; it rejects writes when it is full.",
        ),
    )


def _missing() -> dict[str, Any]:
    # Prometheus of the management cluster scrapes the control plane, and writes its series with the same labels.
    return alert(
        METRICS_MISSING,
        "critical",
        f'absent(up{{job!~"{"|".join(CONTROL_PLANE_JOBS)}"}})',
        "No metrics of the cluster arrive: its agent is down or cannot write, and its other alerts cannot fire.",
        audience=Audience.TENANT,
        hold=_MISSING_HOLD,
    )
