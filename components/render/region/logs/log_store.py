"""Store of the logs of all clusters of a region: VictoriaLogs in the management cluster.

The operator of the store of metrics (VMO, 0.74) creates the pods. Each log is on one storage pod: VictoriaLogs does not
replicate logs (VL:docs/victorialogs/cluster.md Replication). While a storage pod is down, new logs are on the others,
and queries return the logs of the others instead of an error (VL:app/vlselect/logsql/logsql.go
allowPartialResponseFlag). Clusters reach the store through the proxy of the store of metrics, with the same credential
(`accounts`).
"""

from typing import Any

from components.render.manifest import Manifest
from components.render.objects import manifest
from components.render.region import metrics_store
from components.render.region.logs import accounts, audit, collector, log_monitors
from components.render.region.logs.collector import LogsWriter
from components.render.region.metrics_store import NAMESPACE, pods
from components.render.region.operators import Operator
from components.specs.add_ons.add_ons import Capability
from components.specs.base import bytes_of
from components.specs.region.log_sink import LogSinkSpec
from components.specs.region.logs import LogStoreSpec
from components.specs.region.region import RegionSpec

API = "operator.victoriametrics.com/v1"
QUERY_PORT = 9471
"""Port of queries inside the management cluster (VMO:internal/config/config.go VLClusterDefault)."""
READ_URL = f"http://vlselect-{accounts.NAME}.{NAMESPACE}.svc:{QUERY_PORT}"
"""Queries inside the management cluster, of the account in the headers."""
FULL_PERCENT = 90
"""Use of a volume above which the oldest days are deleted before the end of their retention: a store that is full
would reject new logs."""
COLLECTORS = "logs"
"""Namespace of the collectors of the management cluster, and of their user."""
_USER = "management-logs"
_REPLICAS = 2
_INSERT, _SELECT, _STORAGE = (500, 512), (1000, 2048), (1000, 2048)
"""Requests of each pod, in thousandths of a CPU and MiB; estimated, because upstream states no figures."""


def stored(region: RegionSpec) -> frozenset[Capability]:
    """Return the capabilities whose add-ons write to a store of ``region``, and which all clusters get."""
    stores = {Capability.MONITORING: metrics_store.store_of(region), Capability.LOGS: region.log_store}
    return frozenset(capability for capability, store in stores.items() if store is not None)


def writer(
    region: RegionSpec, cluster: str, sink: LogSinkSpec | None = None, image: str | None = None
) -> LogsWriter | None:
    """Return the writer of the logs of ``cluster``, with the sink of its tenant; None without a store.

    ``image`` is that of Python, with which a program sends records of the store to the sink.
    """
    metrics = metrics_store.store_of(region)
    if metrics is None or region.log_store is None:
        return None
    url = f"https://{metrics.address}:{metrics_store.PORT}"
    secret = metrics_store.user_secret(cluster)
    return LogsWriter(url=url, username=cluster, password_secret=secret, sink=sink, image=image)


def operators(region: RegionSpec) -> tuple[Operator, ...]:
    """Return the collectors of the management cluster; empty without a store.

    They write through the proxy, because other pods of the management cluster do not reach the pods of the store.
    """
    if region.log_store is None:
        return ()
    url = f"https://{metrics_store.NAME_INSIDE}:{metrics_store.PORT}"
    management = LogsWriter(url=url, username=_USER, password_secret=f"vmuser-{_USER}", same_cluster=True)
    values = {**collector.values(management), **collector.monitored()}
    release = Operator(
        chart=collector.CHART,
        namespace=COLLECTORS,
        values=values,
        values_from=collector.delivered(management, collector.CHART),
        depends_on=(metrics_store.CHART, "kube-prometheus-stack"),
        awaited=False,
    )
    return (release,)


def render(region: RegionSpec) -> tuple[Manifest, ...]:
    """Return the store, the audit policy, monitors and alerts; empty if the region has no store."""
    store = region.log_store
    if store is None:
        return ()
    spec = {
        "username": _USER,
        "generatePassword": True,
        "targetRefs": list(accounts.operators_targets(region.region, NAMESPACE)),
    }
    user = manifest(metrics_store.API, "VMUser", _USER, namespace=COLLECTORS, spec=spec)
    daemon_set = f"{collector.CHART}{collector.AGENTS}"
    monitors = log_monitors.render(store, COLLECTORS, daemon_set, region.thresholds)
    return (_cluster(store, region.control_planes.hosts), user, audit.policy(COLLECTORS), *monitors)


def _cluster(store: LogStoreSpec, hosts: int | None) -> Manifest:
    claim = {
        "storageClassName": store.storage_class,
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": store.size}},
    }
    storage: dict[str, Any] = {
        "retentionPeriod": f"{store.retention_days}d",
        "retentionMaxDiskSpaceUsageBytes": str(bytes_of(store.size) * FULL_PERCENT // 100),
        "storage": {"volumeClaimTemplate": {"spec": claim}},
    }
    spec = {
        "useStrictSecurity": True,
        "vlinsert": {
            **pods("vlinsert", accounts.NAME, _REPLICAS, hosts, _INSERT),
            "extraArgs": {"select.disable": "true"},
        },
        "vlselect": {
            **pods("vlselect", accounts.NAME, _REPLICAS, hosts, _SELECT),
            "extraArgs": {"insert.disable": "true", "search.allowPartialResponse": "true"},
        },
        "vlstorage": {**pods("vlstorage", accounts.NAME, store.storage_pods, hosts, _STORAGE), **storage},
    }
    return manifest(API, "VLCluster", accounts.NAME, namespace=NAMESPACE, spec=spec)
