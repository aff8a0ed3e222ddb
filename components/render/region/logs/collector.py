"""Collector of logs on each node of a cluster: values of the chart opentelemetry-collector.

One DaemonSet collects all records of a cluster (OTELC:charts/opentelemetry-collector/templates/_config.tpl):

- *Pods*: the files of all containers (preset ``logsCollection``), with positions on the disk of the node.
- *Journal*: kubelet, containerd, kernel. The image has no ``journalctl``, so that the receiver runs that of the node in
  its file system (OTELCC:receiver/journaldreceiver/README.md ``root_path``).
- *Events*: one of the pods is elected to watch them (preset ``kubernetesObjects``).

- *Audit events*, only in the management cluster: those of all API servers (`audit`).

The configuration replaces that of the chart (``alternateConfig``), which opens ports for traces and metrics on each
node. The operator of the store generates the password; Flux reads it into a value, of which the chart makes a Secret.
Flux also reads the certificate of the CA of the store (`store_certificates`) into the configuration. Collectors read a
CA only at their start (OTELCOL:config/configtls/configtls.go loadCACertPool); the chart restarts them if their
configuration changes (OTELC:charts/opentelemetry-collector/templates/daemonset.yaml, checksum).
"""

from collections.abc import Mapping
from typing import Any

from components.render.add_ons.pod_priorities import AGENT
from components.render.objects import given
from components.render.pod_placement import EVERY_NODE
from components.render.region.logs import audit
from components.render.region.logs.accounts import AUDIT, WRITE_PATH
from components.render.region.stores import store_certificates
from components.specs.region.log_sink import LogRecords, LogSinkSpec
from components.specs.struct import Struct

CHART = "opentelemetry-collector"
AGENTS = "-agent"
"""Suffix of the DaemonSet (OTELC:charts/opentelemetry-collector/templates/daemonset.yaml)."""
PASSWORD_PATH, AUTHORITY_PATH = "global.storePassword", "global.storeAuthority"
"""Values with password and CA. The schema of the chart permits any value below ``global``."""
_IMAGE = "ghcr.io/open-telemetry/opentelemetry-collector-releases/opentelemetry-collector-k8s"
_BINARY = "otelcol-k8s"
"""Distribution with the receivers of Kubernetes and of the journal."""
SECRET, PASSWORD_KEY, _VARIABLE = "logs-store", "password", "STORE_PASSWORD"
"""Secret in the cluster with the password and, for the program that reads from the store, the certificate of the CA."""
_HOST, _JOURNALCTL = "/host", "/usr/bin/journalctl"
_POSITIONS = "file_storage"
"""Extension with positions in logs and unsent records (preset ``logsCollection`` with ``storeCheckpoints``)."""
_STORE, _AUDIT, SINK = "otlphttp/store", "otlphttp/audit", "otlphttp/sink"
_RECEIVERS: Mapping[LogRecords, str] = {
    LogRecords.CONTAINERS: "filelog",
    LogRecords.JOURNAL: "journald",
    LogRecords.EVENTS: "k8sobjects",
}
"""Receiver of each kind of records. The presets of the chart define those of containers and events."""
_LOGIN = "basicauth/store"
_CLUSTER = "resource/cluster"
"""Processor that adds the cluster, which the proxy adds for the store."""
_METRICS_PORT = 8888
_PORTS = ("jaeger-compact", "jaeger-grpc", "jaeger-thrift", "otlp", "otlp-http", "zipkin")
"""Ports of the chart, which are ports of each node by default."""
_OTHER_OBJECTS = ("apiExtensions", "autoscaling", "core", "networking", "policy", "rbac", "storage")
_REQUESTS = {"cpu": "50m", "memory": "128Mi"}
_MEMORY = "512Mi"
"""Memory limit. The collector rejects records above 80 % of it, and reads them again from their files."""


class LogsWriter(Struct):
    """Writer of the logs of one cluster."""

    url: str
    """Address of the store, such as ``https://10.3.0.249:8427``."""
    username: str
    """User name; also the name of the cluster."""
    password_secret: str
    """Secret with the password, next to the release."""
    sink: LogSinkSpec | None = None
    """Sink of the tenant, which also gets records."""
    image: str | None = None
    """Image of Python, with which a program sends records of the store to the sink; None without one."""
    same_cluster: bool = False
    """Whether the Secret is also next to the pods of the collector, as in the management cluster."""

    @property
    def forwarded(self) -> tuple[LogRecords, ...]:
        """Return the records that a program reads from the store and sends to the sink."""
        chosen = self.sink.records if self.sink and self.image else ()
        return tuple(item for item in chosen if item not in _RECEIVERS)


def values(writer: LogsWriter) -> dict[str, Any]:
    """Return the values of the chart."""
    login = {"name": writer.password_secret if writer.same_cluster else SECRET, "key": PASSWORD_KEY}
    return {
        "mode": "daemonset",
        "image": {"repository": _IMAGE},
        "command": {"name": _BINARY},
        "presets": {
            "logsCollection": {"enabled": True, "storeCheckpoints": True},
            "kubernetesObjects": {
                "enabled": True,
                **{kind: {"enabled": False} for kind in _OTHER_OBJECTS},
                "events": {"enabled": True},
            },
        },
        "alternateConfig": _configuration(writer),
        "ports": {**{port: {"enabled": False} for port in _PORTS}, "metrics": {"enabled": True}},
        **({} if writer.same_cluster else {"extraManifests": [_secret(writer)]}),
        "extraEnvs": [{"name": _VARIABLE, "valueFrom": {"secretKeyRef": login}}, *_sink_login(writer)],
        "extraVolumes": [{"name": "host", "hostPath": {"path": "/"}}],
        "extraVolumeMounts": [
            {"name": "host", "mountPath": _HOST, "readOnly": True, "mountPropagation": "HostToContainer"}
        ],
        "resources": {"requests": _REQUESTS, "limits": {"memory": _MEMORY}},
        "priorityClassName": AGENT,
        "tolerations": EVERY_NODE,
        "rollout": {"strategy": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "10%"}},
    }


def monitored() -> dict[str, Any]:
    """Return the values that enable the monitor of the chart."""
    return {"podMonitor": {"enabled": True}}


def delivered(writer: LogsWriter | None, chart: str) -> tuple[dict[str, str], ...]:
    """Return the sources of password and CA among the values of a release; empty for other charts or without a store.

    In the management cluster, pods read the password themselves.
    """
    if writer is None or chart != CHART:
        return ()
    secret = {"kind": "Secret", "name": writer.password_secret, "valuesKey": PASSWORD_KEY, "targetPath": PASSWORD_PATH}
    exporters = (_STORE, _AUDIT) if writer.same_cluster else (_STORE,)
    return (
        *(() if writer.same_cluster else (secret,)),
        *(store_certificates.delivered(f"alternateConfig.exporters.{name}.tls.ca_pem") for name in exporters),
        *((store_certificates.delivered(AUTHORITY_PATH),) if writer.forwarded else ()),
    )


def _secret(writer: LogsWriter) -> dict[str, Any]:
    """Return the Secret in the cluster, a template of the chart."""
    paths = {PASSWORD_KEY: PASSWORD_PATH}
    if writer.forwarded:
        paths[store_certificates.AUTHORITY_KEY] = AUTHORITY_PATH
    data = {key: f"{{{{ .Values.{path} | b64enc }}}}" for key, path in paths.items()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": SECRET}, "data": data}


def _configuration(writer: LogsWriter) -> dict[str, Any]:
    """Return the configuration of the collector. The presets add receivers to the pipeline of logs."""
    audited = audit.receivers(_HOST, _POSITIONS) if writer.same_cluster else {}
    sink, sent = writer.sink, _sent(writer)
    cluster = [{"key": "k8s.cluster.name", "value": writer.username, "action": "upsert"}]
    return {
        "extensions": {
            "health_check": {"endpoint": "${env:MY_POD_IP}:13133"},
            _LOGIN: {"client_auth": {"username": writer.username, "password": f"${{env:{_VARIABLE}}}"}},
        },
        "receivers": {"journald": _journal(), **audited},
        "processors": {
            "memory_limiter": {"check_interval": "5s", "limit_percentage": 80, "spike_limit_percentage": 25},
            "resource": {
                "attributes": [{"key": "k8s.node.name", "value": "${env:OTEL_K8S_NODE_NAME}", "action": "upsert"}]
            },
            **({_CLUSTER: {"attributes": cluster}} if sent else {}),
            "batch": {},
        },
        "exporters": {
            _STORE: _exporter(f"{writer.url}{WRITE_PATH}"),
            **({_AUDIT: _exporter(f"{writer.url}{AUDIT}{WRITE_PATH}")} if audited else {}),
            **({SINK: _sink_exporter(sink)} if sink and sent else {}),
        },
        "service": {
            "extensions": ["health_check", _LOGIN],
            "pipelines": {
                "logs": _pipeline(["journald"], _STORE),
                **({"logs/audit": _pipeline(list(audited), _AUDIT)} if audited else {}),
                **({"logs/sink": _pipeline(sent, SINK, _CLUSTER)} if sent else {}),
            },
            "telemetry": {"metrics": {"readers": [{"pull": {"exporter": {"prometheus": _own_metrics()}}}]}},
        },
    }


def _exporter(endpoint: str) -> dict[str, Any]:
    return {
        "logs_endpoint": endpoint,
        "auth": {"authenticator": _LOGIN},
        # Records are kept on disk while the store is not available, and are never dropped because of their age.
        "sending_queue": {"storage": _POSITIONS},
        "retry_on_failure": {"max_elapsed_time": "0s"},
    }


def _sink_exporter(sink: LogSinkSpec) -> dict[str, Any]:
    """Return the exporter to the sink of a tenant, which drops records that the sink does not accept in time."""
    headers = {name: f"${{env:{key}}}" for name, key in sink.headers.items()}
    return {"logs_endpoint": sink.endpoint, **given(headers=headers)}


def _sent(writer: LogsWriter) -> list[str]:
    """Return the receivers whose records the collector sends to the sink of the tenant."""
    return [_RECEIVERS[item] for item in writer.sink.records if item in _RECEIVERS] if writer.sink else []


def _sink_login(writer: LogsWriter) -> list[dict[str, Any]]:
    """Return the variables of headers. Collectors also start without the Secret."""
    sink = writer.sink if _sent(writer) else None
    keys = sorted(set(sink.headers.values())) if sink else []
    refs = ({"name": sink.secret, "key": key, "optional": True} for key in keys) if sink else ()
    return [{"name": ref["key"], "valueFrom": {"secretKeyRef": ref}} for ref in refs]


def _pipeline(receivers: list[str], exporter: str, *further: str) -> dict[str, Any]:
    processors = ["memory_limiter", "resource", *further, "batch"]
    return {"receivers": receivers, "processors": processors, "exporters": [exporter]}


def _journal() -> dict[str, Any]:
    return {
        "root_path": _HOST,
        "journalctl_path": _JOURNALCTL,
        "priority": "info",
        "storage": _POSITIONS,
        "retry_on_failure": {"enabled": True, "max_elapsed_time": "0s"},
        # The record is the message instead of all fields of the journal.
        "operators": [
            {"type": "move", "from": "body._SYSTEMD_UNIT", "to": "attributes.unit", "if": "body._SYSTEMD_UNIT != nil"},
            {"type": "move", "from": "body.MESSAGE", "to": "body"},
        ],
    }


def _own_metrics() -> dict[str, Any]:
    """Return the exporter of the collector's own metrics, with stable names."""
    names = dict.fromkeys(("without_scope_info", "without_type_suffix", "without_units"), True)
    return {"host": "${env:MY_POD_IP}", "port": _METRICS_PORT, **names}
