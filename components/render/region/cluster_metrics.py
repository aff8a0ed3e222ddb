"""Rules over the metrics of one cluster in the store of the region.

Each group reads only the series of its cluster: ``extra_label`` restricts its queries, so that the expressions are
those of a Prometheus in the cluster (VM:docs/victoriametrics/vmalert.md, ``params``).
"""

from collections.abc import Iterable
from typing import Any

from components.render import labels as keys
from components.render.manifest import Manifest
from components.render.objects import manifest
from components.render.region.metrics_store import API
from components.render.region.monitors import METRICS_MISSING, Audience, alert

_NAME = "cluster-metrics"
_MISSING_HOLD = "15m"
"""Longer than a restart of the agent and an outage of the store, after which the agent writes older samples first."""


def rules(tenant: str, cluster: str, alerts: Iterable[dict[str, Any]]) -> Manifest:
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
    return manifest(API, "VMRule", _NAME, namespace=cluster, labels=labels, spec={"groups": [group]})


def _missing() -> dict[str, Any]:
    return alert(
        METRICS_MISSING,
        "critical",
        "absent(up)",
        "No metrics of the cluster arrive: its agent is down or cannot write, and its other alerts cannot fire.",
        audience=Audience.TENANT,
        hold=_MISSING_HOLD,
    )
