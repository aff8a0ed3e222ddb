"""Monitors and alerts of the store of logs and of audit events, evaluated by Prometheus of the management cluster."""

from typing import Any

from components.render.manifest import Manifest
from components.render.region.availability import missing_agents
from components.render.region.metrics_monitors import pod_monitor
from components.render.region.metrics_store import NAMESPACE
from components.render.region.monitors import alert, prometheus_rule
from components.specs.region.logs import LogStoreSpec
from components.specs.region.thresholds import Thresholds, TunableAlert

_NAME = "log-store"
_PARTS = ("vlinsert", "vlselect", "vlstorage")
FREE_PERCENT = 20
"""Space that must stay free for merges, in percent of a volume (VL:docs/victorialogs/README.md Capacity planning)."""


def render(store: LogStoreSpec, collectors: str, daemon_set: str, thresholds: Thresholds) -> tuple[Manifest, ...]:
    """Return the monitor of the pods of ``store``, whose job is the name of the component, and the alerts.

    Args:
        store: the store.
        collectors: namespace of the collectors of the management cluster.
        daemon_set: DaemonSet of these collectors.
        thresholds: thresholds of the region.
    """
    free = thresholds.of(TunableAlert.LOG_STORE_NEARLY_FULL)
    alerts = (*_alerts(store, free), *_audit(), _collectors_down(collectors, daemon_set))
    return (
        pod_monitor(_NAME, _PARTS, "http"),
        prometheus_rule(_NAME, _NAME, [*alerts], {}, namespace=NAMESPACE, labels={}),
    )


def _alerts(store: LogStoreSpec, free_percent: int) -> tuple[dict[str, Any], ...]:
    def of(job: str) -> str:
        return f'{{namespace="{NAMESPACE}",job="{job}"}}'

    storage = of("vlstorage")
    free, total = f"vl_free_disk_space_bytes{storage}", f"vl_total_disk_space_bytes{storage}"
    dropped = f"sum by (reason) (rate(vl_rows_dropped_total{storage}[15m]))"
    return (
        alert(
            "LogStoreDown",
            "critical",
            " or ".join(f"absent(up{of(part)} == 1)" for part in _PARTS),
            "A part of the store of logs is down: it stores no logs of clusters, or cannot answer queries.",
        ),
        alert(
            "LogStoreDegraded",
            "warning",
            f"(sum(up{storage}) or vector(0)) < {store.storage_pods}",
            "Storage pods of the store of logs are down; queries do not return their logs.",
        ),
        alert(
            "LogStoreNearlyFull",
            "warning",
            f"{free} / {total} < {free_percent / 100}",
            f"Less than {free_percent} % of a volume of the store of logs is free; the oldest logs are deleted early.",
        ),
        alert(
            "LogsDropped",
            "warning",
            f"{dropped} > 0",
            "The store of logs drops records: their time is before the retention or in the future.",
        ),
    )


def _audit() -> tuple[dict[str, Any], ...]:
    management = 'apiserver_audit_event_total{job="apiserver",cluster=""}'
    failed = 'sum by (cluster) (rate(apiserver_audit_error_total{job="apiserver",plugin="log"}[15m]))'
    return (
        alert(
            "AuditLogMissing",
            "warning",
            f"sum(rate({management}[1h])) == 0 or absent({management})",
            "The API servers of the management cluster record no audit events.",
        ),
        alert(
            "AuditEventsLost",
            "warning",
            f"{failed} > 0",
            "An API server cannot write audit events to its file; they are lost.",
        ),
    )


def _collectors_down(namespace: str, daemon_set: str) -> dict[str, Any]:
    return alert(
        "LogAgentsDown",
        "warning",
        missing_agents(f'namespace="{namespace}",daemonset="{daemon_set}"'),
        "Log collector not running on some hosts of the management cluster; their logs are not stored until it runs.",
    )
