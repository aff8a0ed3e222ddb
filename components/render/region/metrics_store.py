"""Store of the metrics of all clusters of a region: VictoriaMetrics in the management cluster.

The operator (VMO, 0.74) creates the pods. Each sample is on two storage pods on different hosts, so that the store
survives a host. Clusters reach only the proxy, VMAuth, at the address that every VPC reaches. The operator generates a
password for each cluster in a Secret (VMO:internal/controller/operator/factory/vmauth/vmusers_config.go genPassword),
and the credential decides the labels:

- *Writes.* The proxy appends the labels of the cluster as ``extra_label``. They override labels of the samples: they
  come last, and the last of several labels with one name is stored (VM:lib/storage/metric_name.go sortTags). The proxy
  drops arguments of the client with the name of an argument in the configuration (VM:app/vmauth/target_url.go
  mergeURLs).
- *Reads.* ``extra_label`` restricts queries to the series of the tenant. ``extra_filters[]`` would not: a client can
  add ``extra_filters``, and vmselect combines both with "or" (VM:app/vmselect/searchutil/searchutil.go
  GetExtraTagFilters).

The validating webhook and the operator reject unknown fields (VMO:api/operator/v1beta1, UnmarshalSpecStrict).
"""

from collections.abc import Mapping
from typing import Any

from components.render import labels as keys
from components.render.control_planes.control_plane import ADDRESS_POOL, spread
from components.render.manifest import Manifest, ManifestSet, Rendered
from components.render.objects import SERVICES_PRIORITY, given, manifest
from components.render.region.alert_routes import REPLICAS as ALERTMANAGERS
from components.render.region.logs import accounts
from components.render.region.metrics_size import SCRAPE_SECONDS, insert_cpu_millis, storage_requests
from components.render.region.operators import CERT_MANAGER, Operator
from components.render.region.operators import NAMESPACE as OPERATORS
from components.render.region.stores import store_certificates
from components.specs.region.observability import REPLICATION_FACTOR, MetricsStoreSpec
from components.specs.region.region import RegionSpec

CHART = "victoria-metrics-operator"
NAMESPACE = "metrics"
PORT = 8427
"""Port of the proxy, with TLS. Filters of all VPCs permit it: another port would change the configuration of HBN, which
restarts on each DPU."""
API = "operator.victoriametrics.com/v1beta1"
SERVICE = "store"
"""Service of the proxy."""
NAME_INSIDE = f"{SERVICE}.{NAMESPACE}.svc"
"""DNS name of the proxy inside the management cluster."""
MONITORING = "monitoring"
"""Namespace of Prometheus and Alertmanager, which pods of the store may reach only from the same namespace."""
_NAME = "metrics"
_INTERNAL_PORT = 8426
"""Port of the proxy for its own metrics, which name all clusters; tenants do not reach it."""
_ACCOUNT = 0
"""Account of VictoriaMetrics: all tenants share one, because rules and dashboards of the operators read all series."""
_SECRETS = "/etc/vm/secrets"
"""Folder of the Secrets in ``secrets`` (VMO:api/operator/v1beta1/common.go SecretsDir)."""
_REPLICAS = 2
_INSERT = f"http://vminsert-{_NAME}.{NAMESPACE}.svc:8480/insert/{_ACCOUNT}/prometheus"
_SELECT = f"http://vmselect-{_NAME}.{NAMESPACE}.svc:8481/select/{_ACCOUNT}/prometheus"
WRITE_URL = f"{_INSERT}/api/v1/write"
"""Remote write inside the management cluster."""
READ_URL = _SELECT
"""Queries of all metrics inside the management cluster."""
WRITE_PATH = "/api/v1/write"
_READ_PATHS = ("/api/v1/query", "/api/v1/query_range", "/api/v1/series", "/api/v1/labels", "/api/v1/label/[^/]+/values")
"""Requests for series. Metadata of metrics and the status of the store are not restricted by labels."""
_ALERTMANAGERS = tuple(
    f"http://alertmanager-kube-prometheus-stack-alertmanager-{index}.alertmanager-operated.{MONITORING}.svc:9093"
    for index in range(ALERTMANAGERS)
)
"""Each replica of Alertmanager; replicas exchange only notifications and silences."""


def operators(region: RegionSpec) -> tuple[Operator, ...]:
    """Return the operator of the store of ``region``; empty without a store."""
    if store_of(region) is None:
        return ()
    values = {
        # Prometheus evaluates the rules and reads the monitors of prometheus-operator itself.
        "operator": {"disable_prometheus_converter": True},
        # By default each upgrade generates another certificate, while the API server rejects objects without a webhook.
        "admissionWebhooks": {"certManager": {"enabled": True}},
        "priorityClassName": SERVICES_PRIORITY,
        "podSecurityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
    }
    return (Operator(chart=CHART, namespace=NAMESPACE, values=values, depends_on=(CERT_MANAGER,)),)


def store_of(region: RegionSpec) -> MetricsStoreSpec | None:
    """Return the store of ``region``; None without one."""
    return region.observability.store if region.observability else None


def remote_write(region: RegionSpec) -> dict[str, Any]:
    """Return the values with which Prometheus of the management cluster writes to the store; empty without a store.

    The replicas write the same series, of which the store keeps one sample per interval.
    """
    if store_of(region) is None:
        return {}
    return {
        "remoteWrite": [{"url": WRITE_URL}],
        "replicaExternalLabelNameClear": True,
        "prometheusExternalLabelNameClear": True,
    }


def render(region: RegionSpec, clusters: Mapping[str, str], records: str) -> tuple[Rendered, ...]:
    """Return the store, its proxy and the evaluation of rules, with a user for each of ``clusters``.

    Args:
        region: the region; without a store there are no objects.
        clusters: tenant of each cluster, by cluster.
        records: filter for the logs of control planes that tenants may read.
    """
    store = store_of(region)
    if store is None:
        return ()
    hosts = region.control_planes.hosts
    logs = region.log_store is not None
    readable = records if logs else None
    users = {cluster: user(region.region, tenant, cluster, records=readable) for cluster, tenant in clusters.items()}
    # Releases of the management cluster that write through the proxy are those of collectors.
    releases: dict[str, dict[str, str]] = {OPERATORS: {}} if logs else {}
    releases |= {cluster: _owner(tenant, cluster) for cluster, tenant in clusters.items()}
    return (
        store_certificates.render(NAMESPACE, NAME_INSIDE, str(store.address), releases),
        _cluster(store, hosts),
        _proxy(store, hosts),
        _rules(region.region, hosts),
        *((ManifestSet(name="metrics-users", namespace=NAMESPACE, members=users),) if users else ()),
    )


def user(region: str, tenant: str, cluster: str, *, records: str | None = None) -> Manifest:
    """Return the user with which ``cluster`` writes its metrics and its tenant reads its own, in its namespace.

    ``records``: filter for the logs of control planes; None if the user writes and reads no logs.
    """
    labels = (f"region={region}", f"tenant={tenant}", f"cluster={cluster}")
    written = _target("vminsert", (WRITE_PATH,), f"/insert/{_ACCOUNT}/prometheus", labels)
    read = _target("vmselect", _READ_PATHS, f"/select/{_ACCOUNT}/prometheus", (f"tenant={tenant}",))
    further = accounts.targets(region, tenant, cluster, NAMESPACE, records) if records else ()
    spec = {"username": cluster, "generatePassword": True, "targetRefs": [written, read, *further]}
    return manifest(API, "VMUser", user_name(cluster), namespace=cluster, labels=_owner(tenant, cluster), spec=spec)


def user_name(cluster: str) -> str:
    """Return the name of the user of ``cluster``."""
    return f"{cluster}-metrics"


def user_secret(cluster: str) -> str:
    """Return the name of the Secret with the password of `user`, which the operator creates next to the user."""
    return f"vmuser-{user_name(cluster)}"


def _target(component: str, paths: tuple[str, ...], suffix: str, labels: tuple[str, ...]) -> dict[str, Any]:
    return {
        "crd": {"kind": f"VMCluster/{component}", "name": _NAME, "namespace": NAMESPACE},
        "paths": list(paths),
        "target_path_suffix": suffix,
        "query_args": [{"name": "extra_label", "values": list(labels)}],
    }


def _owner(tenant: str, cluster: str) -> dict[str, str]:
    return {keys.TENANT: tenant, keys.CLUSTER: cluster}


def _cluster(store: MetricsStoreSpec, hosts: int | None) -> Manifest:
    requests = storage_requests(store)
    # Samples of one interval are one: both replicas of Prometheus of the management cluster write each series.
    deduplicated = {"dedup.minScrapeInterval": f"{SCRAPE_SECONDS}s"}
    inserting, selecting = (insert_cpu_millis(store, _REPLICAS), 1024), (1000, 2048)
    storage = {
        "volumeClaimTemplate": {
            "spec": {
                "storageClassName": store.storage_class,
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": store.size}},
            }
        }
    }
    spec = {
        "retentionPeriod": f"{store.retention_days}d",
        "replicationFactor": REPLICATION_FACTOR,
        "useStrictSecurity": True,
        "vminsert": _pods("vminsert", _REPLICAS, hosts, inserting),
        "vmselect": {**_pods("vmselect", _REPLICAS, hosts, selecting), "extraArgs": deduplicated},
        "vmstorage": {
            **_pods("vmstorage", store.storage_pods, hosts, (requests.cpu_millis, requests.memory_mebibytes)),
            "extraArgs": deduplicated,
            "storage": storage,
        },
    }
    return manifest(API, "VMCluster", _NAME, namespace=NAMESPACE, spec=spec)


def _proxy(store: MetricsStoreSpec, hosts: int | None) -> Manifest:
    annotations = {"metallb.io/address-pool": ADDRESS_POOL, "metallb.io/loadBalancerIPs": str(store.address)}
    # Both ports have TLS: each flag applies to the first address of each (VM:lib/httpserver/httpserver.go serve). With
    # TLS the operator creates no probes of its own but a connection at the start (VMO:internal/controller/operator/
    # factory/build/container.go Probe). Kubelets do not verify certificates.
    probe = {"httpGet": {"path": "/health", "port": _INTERNAL_PORT, "scheme": "HTTPS"}}
    folder = f"{_SECRETS}/{store_certificates.SERVER_SECRET}"
    spec = {
        **_pods("vmauth", _REPLICAS, hosts, (insert_cpu_millis(store, _REPLICAS), 256)),
        "useStrictSecurity": True,
        "port": str(PORT),
        "internalListenPort": str(_INTERNAL_PORT),
        "secrets": [store_certificates.SERVER_SECRET],
        "extraArgs": {"tls": "true", "tlsCertFile": f"{folder}/tls.crt", "tlsKeyFile": f"{folder}/tls.key"},
        "livenessProbe": probe,
        "readinessProbe": probe,
        "selectAllByDefault": True,
        "serviceSpec": {
            "metadata": {"name": SERVICE, "annotations": annotations},
            "spec": {"type": "LoadBalancer", "ports": [{"name": "http", "port": PORT, "targetPort": PORT}]},
        },
    }
    return manifest(API, "VMAuth", _NAME, namespace=NAMESPACE, spec=spec)


def _rules(region: str, hosts: int | None) -> Manifest:
    """Return the evaluation of rules over the series of all clusters, next to Alertmanager."""
    spec = {
        **_pods("vmalert", _REPLICAS, hosts, (500, 512)),
        "useStrictSecurity": True,
        "selectAllByDefault": True,
        "externalLabels": {"region": region},
        "datasource": {"url": _SELECT},
        "notifiers": [{"url": url} for url in _ALERTMANAGERS],
        "remoteWrite": {"url": _INSERT},
        "remoteRead": {"url": _SELECT},
    }
    return manifest(API, "VMAlert", _NAME, namespace=MONITORING, spec=spec)


def _pods(name: str, replicas: int, hosts: int | None, requests: tuple[int, int]) -> dict[str, Any]:
    return pods(name, _NAME, replicas, hosts, requests)


def pods(name: str, instance: str, replicas: int, hosts: int | None, requests: tuple[int, int]) -> dict[str, Any]:
    """Return the fields of pods: number, spread over hosts, and requests in thousandths of a CPU and MiB.

    The operator's default limits are for small stores (VMO:internal/config/config.go); there are none instead.
    """
    cpu, memory = requests
    labels = {"app.kubernetes.io/name": name, "app.kubernetes.io/instance": instance}
    return {
        "replicaCount": replicas,
        "priorityClassName": SERVICES_PRIORITY,
        "topologySpreadConstraints": spread(labels, replicas, hosts),
        "podDisruptionBudget": {"maxUnavailable": 1},
        "useDefaultResources": False,
        **given(resources={"requests": {"cpu": f"{cpu}m", "memory": f"{memory}Mi"}}),
    }
