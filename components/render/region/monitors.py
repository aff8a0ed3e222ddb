"""Monitors and alerts of prometheus-operator for control planes and services of the management cluster.

All series of a control plane have the labels ``cluster`` and ``job`` (``apiserver``, ``kube-controller-manager``,
``kube-scheduler``, ``etcd``) that the dashboards of kube-prometheus-stack expect.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from components.render import labels as keys
from components.render.manifest import MANAGEMENT, Manifest
from components.render.objects import given, manifest
from components.specs.region.thresholds import Thresholds, TunableAlert

API_GROUP = "monitoring.coreos.com/v1"
NODE_FAULT = {"fault": "node"}
"""Label of alerts about faults for which a node is repaired. They have the label ``node``."""
INTERVAL = "30s"
CONTROL_PLANE_JOBS = ("apiserver", "etcd", "kube-controller-manager", "kube-scheduler")
"""Jobs of a cluster's control plane, whose targets have the labels of the cluster and its tenant."""
CONTROL_PLANE_DOWN = "ControlPlaneDown"
CONTROL_PLANE_WAS_DOWN = "ControlPlaneWasDown"
CONTROL_PLANE_FAILS, CONTROL_PLANE_SLOW = "ControlPlaneFails", "ControlPlaneSlow"
AVAILABILITY_BURN, LATENCY_BURN = "ControlPlaneAvailabilityBurn", "ControlPlaneLatencyBurn"
METRICS_MISSING = "ClusterMetricsMissing"
RUNBOOKS = f"https://{keys.DOMAIN}/docs/region/alerts.md"
"""Page with the runbooks of alerts. The default anchor of an alert is its name in lower case."""
HOLD = "10m"
_DOWN_HOLD = "2m"
_BACKUP_LATE_SECONDS = 12 * 3600
MUTATING = 'verb=~"POST|PUT|PATCH|DELETE"'
SLOW_SECONDS = 1
"""Objective of SIG Scalability for mutating requests, in seconds at the 99th percentile."""


class Audience(StrEnum):
    """Recipients of an alert, the label ``audience``."""

    OPERATORS = "operators"
    """The operators of the region."""
    TENANT = "tenant"
    """The operators, and the tenant in the label ``tenant``."""


def relabelled(cluster: str, job: str, tenant: str | None = None) -> list[dict[str, str]]:
    """Return the relabelings that set the labels ``cluster`` and ``job`` of a target, and optionally ``tenant``.

    With ``tenant``, the tenant can query the series in the store of the region.
    """
    labels = {"cluster": cluster, "job": job, **given(tenant=tenant)}
    return [{"action": "replace", "targetLabel": label, "replacement": value} for label, value in labels.items()]


def metrics_service(
    cluster: str, labels: Mapping[str, str], selector: Mapping[str, str], ports: Mapping[str, int]
) -> Manifest:
    """Return the headless Service for metrics of pods that match ``selector`` and declare no metrics port."""
    return manifest(
        "v1",
        "Service",
        f"{cluster}-metrics",
        namespace=cluster,
        labels={**labels, keys.METRICS: cluster},
        spec={
            "clusterIP": "None",
            "selector": dict(selector),
            "ports": [{"name": name, "port": port, "targetPort": port} for name, port in ports.items()],
        },
    )


def service_monitor(cluster: str, labels: Mapping[str, str], endpoints: list[dict[str, Any]]) -> Manifest:
    """Return the ServiceMonitor of `metrics_service`."""
    return manifest(
        API_GROUP,
        "ServiceMonitor",
        f"{cluster}-control-plane",
        namespace=cluster,
        labels=labels,
        spec={"selector": {"matchLabels": {keys.METRICS: cluster}}, "endpoints": endpoints},
    )


def pod_monitor(
    name: str, cluster: str, selector: Mapping[str, str], *, namespace: str, labels: Mapping[str, str]
) -> Manifest:
    """Return the PodMonitor ``name`` of etcd members that match ``selector``. Series have the label ``cluster``."""
    return manifest(
        API_GROUP,
        "PodMonitor",
        name,
        namespace=namespace,
        labels=labels,
        spec={
            "selector": {"matchLabels": dict(selector)},
            "podMetricsEndpoints": [
                {"port": "metrics", "interval": INTERVAL, "relabelings": relabelled(cluster, "etcd")}
            ],
        },
    )


def controller_monitor(name: str, namespace: str, port: str) -> Manifest:
    """Return the PodMonitor of the controller of the release ``name``, whose series describe other objects.

    The labels ``namespace`` and ``name`` of the series identify these objects, not the exporting pod.
    """
    endpoint = {
        "port": port,
        "interval": INTERVAL,
        "honorLabels": True,
        "relabelings": [{"action": "replace", "targetLabel": "job", "replacement": name}],
    }
    pods = {"app.kubernetes.io/name": name, "app.kubernetes.io/instance": name}
    spec = {"selector": {"matchLabels": pods}, "podMetricsEndpoints": [endpoint]}
    return manifest(API_GROUP, "PodMonitor", name, namespace=namespace, spec=spec)


def rules(
    cluster: str,
    labels: Mapping[str, str],
    objectives: dict[str, Any],
    thresholds: Thresholds,
    *,
    etcd: Iterable[dict[str, Any]],
) -> Manifest:
    """Return the rules of a control plane: its alerts, those of its dedicated ``etcd``, and group ``objectives``."""
    alerts = [*_api_server(cluster, thresholds), *etcd]
    common = {"cluster": cluster, "tenant": labels[keys.TENANT]}
    return prometheus_rule(
        f"{cluster}-control-plane", "control-plane", alerts, common, objectives, namespace=cluster, labels=labels
    )


def secret_rules(name: str, namespace: str) -> Manifest:
    """Return the alerts of External Secrets Operator, based on its condition metrics."""
    # Without the name of the metric: Prometheus rejects a result with two alerts that differ only in it.
    text = "An ExternalSecret or PushSecret fails to synchronize: its target is missing or out of date."
    condition = '{__name__=~"(external|push)secret_status_condition",condition="Ready",status="False"}'
    alerts = [
        alert(
            "SecretsOperatorDown",
            "warning",
            f'absent(up{{job="{name}"}} == 1)',
            "External Secrets Operator is down: Secrets are not copied or refreshed.",
        ),
        alert("SecretNotCopied", "warning", f"max without () ({condition}) == 1", text),
    ]
    return prometheus_rule(name, "secrets", alerts, {}, namespace=namespace, labels={})


def name_rules(name: str, namespace: str, thresholds: Thresholds) -> Manifest:
    """Return the alerts of all ExternalDNS instances, with the job ``name`` and a namespace for each instance."""
    of, old = f'{{job="{name}"}}', thresholds.of(TunableAlert.NAMES_OLD)
    alerts = [
        alert(
            "NamesNotWritten",
            "warning",
            f"up{of} == 0",
            "ExternalDNS of this namespace is down: its DNS records are not updated.",
        ),
        alert(
            "NamesOld",
            "warning",
            f"time() - external_dns_controller_last_sync_timestamp_seconds{of} > {old * 60}",
            f"No DNS synchronization for {old} min: the name server rejects updates or is unreachable.",
        ),
        alert(
            "NamesUnread",
            "warning",
            f"external_dns_registry_endpoints_total{of} == 0",
            "The name server rejects zone transfers: ExternalDNS creates DNS records but never deletes them.",
        ),
    ]
    return prometheus_rule(name, "names", alerts, {}, namespace=namespace, labels={})


def since_success(of: str) -> str:
    """Return the seconds since the last successful run of the CronJob with the labels ``of``, or since its creation."""
    return f"time() - (kube_cronjob_status_last_successful_time{{{of}}} or kube_cronjob_created{{{of}}})"


def backup_late(of: str) -> str:
    """Return the condition for a backup by the CronJob with the labels ``of`` that is missing.

    The limit follows the schedule: half a period and half a day after the run that should have succeeded. A CronJob
    that has never run has no time of its last run: its period begins with its creation.
    """
    last = f"(kube_cronjob_status_last_schedule_time{{{of}}} or kube_cronjob_created{{{of}}})"
    period = f"(kube_cronjob_next_schedule_time{{{of}}} - {last})"
    return f"{since_success(of)} > 1.5 * {period} + {_BACKUP_LATE_SECONDS}"


def release_rules(name: str, namespace: str, thresholds: Thresholds) -> Manifest:
    """Return the alert of the CronJob ``name`` that releases DPUs, based on kube-state-metrics."""
    of = f'namespace="{namespace}",cronjob="{name}"'
    late = f"{since_success(of)} > {thresholds.of(TunableAlert.DPU_RELEASE_STUCK) * 60}"
    summary = "A host has been away too long for a DPU flash, or dpu-release does not run; check the logs of its Jobs."
    alerts = [alert("DpuReleaseStuck", "warning", late, summary)]
    return prometheus_rule(name, "dpus", alerts, {}, namespace=namespace, labels={})


def prometheus_rule(
    name: str,
    group: str,
    alerts: list[dict[str, Any]],
    named: Mapping[str, str],
    *groups: dict[str, Any],
    namespace: str,
    labels: Mapping[str, str],
    there: str = MANAGEMENT,
) -> Manifest:
    """Return the PrometheusRule ``name`` in the cluster ``there``.

    It has ``group`` with ``alerts``, whose common labels are ``named``, and further ``groups``.
    """
    labelled = [{**alert, "labels": {**alert["labels"], **named}} for alert in alerts]
    spec = {"groups": [{"name": group, "rules": labelled}, *groups]}
    return manifest(API_GROUP, "PrometheusRule", name, namespace=namespace, labels=labels, cluster=there, spec=spec)


def _api_server(cluster: str, thresholds: Thresholds) -> list[dict[str, Any]]:
    limit = thresholds.of(TunableAlert.CONTROL_PLANE_FAILS)
    of = f'job="apiserver",cluster="{cluster}"'
    failed = (
        f'sum(rate(apiserver_request_total{{{of},code=~"5.."}}[5m])) / sum(rate(apiserver_request_total{{{of}}}[5m]))'
    )
    buckets = f"sum by (le) (rate(apiserver_request_sli_duration_seconds_bucket{{{of},{MUTATING}}}[5m]))"
    return [
        alert(
            CONTROL_PLANE_DOWN,
            "critical",
            f"absent(up{{{of}}} == 1)",
            "All API servers of the cluster are down: nodes and pods keep running, but cannot be changed or repaired.",
            audience=Audience.TENANT,
            hold=_DOWN_HOLD,
        ),
        alert(
            CONTROL_PLANE_FAILS,
            "warning",
            f"{failed} > {limit / 100}",
            f"More than {limit} % of API requests fail with a server error.",
            audience=Audience.TENANT,
        ),
        alert(
            CONTROL_PLANE_SLOW,
            "warning",
            f"histogram_quantile(0.99, {buckets}) > {SLOW_SECONDS}",
            f"The 99th percentile latency of mutating API requests exceeds {SLOW_SECONDS} s.",
            audience=Audience.TENANT,
        ),
    ]


def alert(
    name: str,
    severity: str,
    expression: str,
    summary: str,
    *,
    audience: Audience = Audience.OPERATORS,
    hold: str = HOLD,
    section: str = "",
) -> dict[str, Any]:
    """Return an alert that fires with ``summary`` after ``expression`` has been true for the duration ``hold``.

    ``section`` is the anchor of the alert's runbook; empty for the section of the alert's name.
    """
    return {
        "alert": name,
        "expr": expression,
        "for": hold,
        "labels": {"severity": severity, "audience": audience.value},
        "annotations": {"summary": summary, "runbook_url": f"{RUNBOOKS}#{section or name.lower()}"},
    }
