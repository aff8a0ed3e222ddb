"""Writer of the metrics of a cluster to the store of the region: values of kube-prometheus-stack.

The operator of the store generates the password of the cluster into a Secret next to the cluster's releases, and
cert-manager the certificate of the CA of the store into another one (`store_certificates`). Flux reads both, and the
chart creates a Secret in the cluster (``prometheus.extraSecret``), so that neither the data nor Pulumi's state contain
the password. Prometheus reads the certificate of the CA again for each request (PCOMMON:config/http_config.go
tlsRoundTripper.RoundTrip).

In a cluster that does not list the add-on, Prometheus is an agent: it stores no metrics, and evaluates no rules
(PHC:charts/kube-prometheus-stack/values.yaml agentMode). The store evaluates the rules of the platform instead. While
an agent cannot write, it keeps samples for two hours.
"""

from dataclasses import dataclass
from typing import Any

from components.render.region import metrics_store, store_certificates
from components.specs.base import Address

CHART = "kube-prometheus-stack"
_LOGIN = "metrics-store"
"""Secret in the cluster with user name, password and the certificate of the CA."""
_USERNAME, _PASSWORD, _AUTHORITY = "username", "password", "ca"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsWriter:
    """Writer of one cluster."""

    address: Address
    """Address of the store."""
    agent: bool
    """Whether the cluster has only an agent; otherwise Prometheus of the tenant writes to the store as well."""
    shards: int = 1
    """Number of agents, each for a part of the targets."""


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
    }


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
