"""Writer of the metrics of a cluster to the store of the region: values of kube-prometheus-stack.

The operator of the store generates the password of the cluster into a Secret next to the cluster's releases, and
cert-manager the certificate of the CA of the store into another one (`store_certificates`). Flux reads both, and the
chart creates a Secret in the cluster (``prometheus.extraSecret``), so that neither the data nor Pulumi's state contain
the password. Prometheus reads the certificate of the CA again for each request (PCOMMON:config/http_config.go
tlsRoundTripper.RoundTrip).

In a cluster that does not list the add-on, Prometheus is an agent: it stores no metrics, and evaluates no rules
(PHC:charts/kube-prometheus-stack/values.yaml agentMode). The store evaluates the rules of the platform instead. While
an agent cannot write, it keeps samples for two hours.

Prometheus of a cluster also writes to the sink of its tenant, and thus only series of this cluster. Each target reads
the write-ahead log at its own pace (PROMETHEUS:storage/remote/queue_manager.go), so that a sink that is slow or down
does not delay the store. The log of an agent is truncated every two hours, also for targets that are behind, and keeps
no sample for more than four hours (PROMETHEUS:tsdb/agent/db.go run).

The token of the sink is a file of a volume that is optional. With a reference to a key instead, prometheus-operator
would not write the configuration of Prometheus while the Secret is missing, also not for the store
(PO:pkg/prometheus/store.go addRemoteWritesToStore, pkg/assets/store.go GetSecretKey). The API has no such file for a
user name and password. Prometheus reads the file for each request, and repeats requests while it is missing
(PCOMMON:config/http_config.go).
"""

from typing import Any

from components.render.objects import given
from components.render.region import metrics_store
from components.render.region.monitors import Audience, alert
from components.render.region.stores import store_certificates
from components.specs.base import Address
from components.specs.region.metrics_sink import MetricsSinkSpec
from components.specs.struct import Struct

CHART = "kube-prometheus-stack"
_LOGIN = "metrics-store"
"""Secret in the cluster with user name, password and the certificate of the CA."""
_USERNAME, _PASSWORD, _AUTHORITY = "username", "password", "ca"
SINK = "metrics-sink"
"""Name of the sink of a tenant in the configuration and metrics of Prometheus, and of its volume."""
_SINK_TOKEN = "token"  # noqa: S105 - the key of a Secret
_SINK_FOLDER = f"/etc/{SINK}"
_SINK_SHARDS = 10
"""Limit of the memory of the queue: each shard has up to 12,000 samples. The default is 50 shards
(PROMETHEUS:config/config.go DefaultQueueConfig)."""


class MetricsWriter(Struct):
    """Writer of one cluster."""

    address: Address
    """Address of the store."""
    agent: bool
    """Whether the cluster has only an agent; otherwise Prometheus of the tenant writes to the store as well."""
    shards: int = 1
    """Number of agents, each for a part of the targets."""
    sink: MetricsSinkSpec | None = None
    """Sink of the tenant; None without one."""


def release_values(writer: MetricsWriter | None, cluster: str) -> dict[str, Any]:
    """Return the values below ``prometheus`` without ``prometheusSpec``; empty without a store."""
    if writer is None:
        return {}
    secret = {"extraSecret": {"name": _LOGIN, "data": {_USERNAME: cluster}}}
    return {**({"agentMode": True} if writer.agent else {}), **secret}


def prometheus_values(writer: MetricsWriter | None) -> dict[str, Any]:
    """Return the values below ``prometheus.prometheusSpec``; empty without a store."""
    if writer is None:
        return {}
    login = {key: {"name": _LOGIN, "key": key} for key in (_USERNAME, _PASSWORD)}
    verified = {"ca": {"secret": {"name": _LOGIN, "key": _AUTHORITY}}}
    url = f"https://{writer.address}:{metrics_store.PORT}{metrics_store.WRITE_PATH}"
    return {
        "remoteWrite": [{"url": url, "basicAuth": login, "tlsConfig": verified}],
        # These labels contain the name of the pod, and each new name would be a new series.
        "prometheusExternalLabelNameClear": True,
        "replicaExternalLabelNameClear": True,
        **({"shards": writer.shards} if writer.agent else {}),
        **(_sink_values(writer.sink) if writer.sink else {}),
    }


def sink_alerts(writer: MetricsWriter | None) -> tuple[dict[str, Any], ...]:
    """Return the alert about the sink of a tenant, for the rules of its cluster; empty without a sink."""
    if writer is None or writer.sink is None:
        return ()
    # A counter of samples that were sent would not tell a sink that is down from an agent without selected metrics.
    retried, failed = (
        f'rate(prometheus_remote_storage_samples_{result}_total{{remote_name="{SINK}"}}[10m])'
        for result in ("retried", "failed")
    )
    return (
        alert(
            "MetricsSinkFails",
            "warning",
            f"sum({retried}) + sum({failed}) > 0",
            "The sink of the tenant rejects metrics of the cluster, or is not reachable; the region's store has them.",
            audience=Audience.TENANT,
        ),
    )


def _sink_values(sink: MetricsSinkSpec) -> dict[str, Any]:
    """Return the second target of Prometheus, and the volume with its token."""
    names = "|".join(name.replace("*", ".*") for name in sink.metrics)
    selected = [{"action": "keep", "sourceLabels": ["__name__"], "regex": names}] if names else None
    login = {"credentialsFile": f"{_SINK_FOLDER}/{_SINK_TOKEN}"} if sink.secret else None
    target = {
        "name": SINK,
        "url": sink.endpoint,
        **given(authorization=login, writeRelabelConfigs=selected),
        "queueConfig": {"maxShards": _SINK_SHARDS},
    }
    # Unlike remoteWrite, these values are not templates of the chart.
    values: dict[str, Any] = {"additionalRemoteWrite": [target]}
    if sink.secret:
        items = [{"key": _SINK_TOKEN, "path": _SINK_TOKEN}]
        secret = {"secretName": sink.secret, "optional": True, "items": items}
        values["volumes"] = [{"name": SINK, "secret": secret}]
        values["volumeMounts"] = [{"name": SINK, "mountPath": _SINK_FOLDER, "readOnly": True}]
    return values


def without(writer: MetricsWriter | None) -> dict[str, Any]:
    """Return the values below a part of the chart that an agent does not use: Alertmanager, Grafana."""
    return {"enabled": False} if writer and writer.agent else {}


def rules(writer: MetricsWriter | None) -> dict[str, Any]:
    """Return the values that omit the rules of the chart, which an agent does not evaluate; empty without an agent."""
    return {"defaultRules": {"create": False}} if writer and writer.agent else {}


def delivered(writer: MetricsWriter | None, chart: str, cluster: str) -> tuple[dict[str, str], ...]:
    """Return the sources of password and CA among the values of a release; empty without a store."""
    if writer is None or chart != CHART:
        return ()
    data = "prometheus.extraSecret.data"
    secret = {"kind": "Secret", "name": metrics_store.user_secret(cluster)}
    return (
        {**secret, "valuesKey": _PASSWORD, "targetPath": f"{data}.{_PASSWORD}"},
        store_certificates.delivered(f"{data}.{_AUTHORITY}"),
    )
