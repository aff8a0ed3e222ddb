"""Control planes by Kamaji: pods of the management cluster, with a shared or dedicated etcd.

Kamaji only checks the endpoint of the infrastructure cluster and never patches it. The address is allocated before any
object is created, and all objects contain the allocated address.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from components.render import labels as keys
from components.render.control_planes import kamaji_etcd
from components.render.control_planes.api_server import Files, feature_gates, files, flags
from components.render.control_planes.control_plane import API_PORT, MANAGEMENT_DOMAIN, READY, ControlPlane, spread
from components.render.control_planes.etcd_alerts import etcd_alerts
from components.render.control_planes.etcd_upkeep import MadeEtcd
from components.render.control_planes.probes import INHERITED, PROBES
from components.render.control_planes.sizing import Component, client_rate, resources
from components.render.manifest import Manifest, Readiness
from components.render.memory_limits import OF_MANAGEMENT, of_management
from components.render.objects import given, manifest
from components.render.providers import Provider
from components.render.region import objectives
from components.render.region.budgets import serving_budget
from components.render.region.monitors import INTERVAL, metrics_service, relabelled, rules, service_monitor
from components.render.region.operators import CERT_MANAGER, Operator
from components.specs.control_planes.data_stores import DPU_STORE, DataStoreSpec
from components.specs.region.region import ControlPlanesSpec

CHART = "kamaji"
NAMESPACE = "kamaji-system"
ONE_FAMILY_UNTIL = "v0.20.0"
"""Last release of Kamaji's provider that uses only the first range for pods and Services of a Cluster
(clastix/cluster-api-control-plane-provider-kamaji:controllers/kamajicontrolplane_controller_tcp.go, #381)."""
CLUSTERS_PER_WORKER = 10
"""Number of control planes per worker. Workers limit the duration of simultaneous changes, such as an upgrade of
Kamaji. Upstream's default is one worker in total."""
RENEWAL = "720h"
"""Remaining lifetime at which Kamaji renews certificates of one year, instead of 24 hours: an outage of Kamaji of one
day does not end a control plane, and pods that read the kubeconfig weekly get the new certificate in time
(KAM:cmd/manager/cmd.go certificate-expiration-deadline, KAM:controllers/certificate_lifecycle_controller.go)."""
_BASE_MEMORY, _MEMORY_PER_CLUSTER = 100, 6
"""Memory in MiB: base (the chart's default for few control planes), and upstream's measurement per control plane."""
_BASE_CPU, _CPU_PER_CLUSTER = 200, 12
"""CPU in millicores: base (the chart's default for few control planes), and upstream's measurement per control
plane."""
_DNS_INDEX = 10
"""Index of the cluster's DNS address in the Service range, by kubeadm's convention."""
_STORE_SECONDS = 600
_KONNECTIVITY_PORT = 8132
"""Upstream's default port of the konnectivity server, required if any field of the server is set."""
_REVISION = "pod-template-hash"
_METRICS_PORTS = {"apiserver": API_PORT, "kube-controller-manager": 10257, "kube-scheduler": 10259}
RECORDS = '{k8s.container.name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler")}'
"""Each process is a container (KAMAJI:internal/builders/controlplane/deployment.go); others are kine and konnectivity,
which may log addresses and logins of the region."""
_EVENTS = "/events"
_ACCOUNT = "control-plane"
"""ServiceAccount of API server pods. The pods need no token, since each has a kubeconfig for the tenant's API.
Kamaji's default is the account ``default``, whose token is mounted in every pod."""


def operator(control_planes: ControlPlanesSpec) -> Operator:
    """Return Kamaji. Its default data store is the store for DPUs if it exists, otherwise the first shared store."""
    stores = [store.name for store in control_planes.data_stores]
    default = DPU_STORE if DPU_STORE in stores else next(iter(stores), None)
    memory = _BASE_MEMORY + _MEMORY_PER_CLUSTER * control_planes.max_clusters
    size = {"cpu": f"{_BASE_CPU + _CPU_PER_CLUSTER * control_planes.max_clusters}m", "memory": f"{memory}Mi"}
    return Operator(
        chart=CHART,
        namespace=NAMESPACE,
        values={
            **given(defaultDatastoreName=default),
            "kamaji-etcd": {"deploy": False},
            "extraArgs": [
                f"--max-concurrent-tcp-reconciles={workers(control_planes)}",
                f"--certificate-expiration-deadline={RENEWAL}",
            ],
            # Kamaji keeps all Secrets, ConfigMaps and Jobs (KAM:controllers/tenantcontrolplane_controller.go).
            "resources": {"requests": size, "limits": {**size, "memory": f"{memory + OF_MANAGEMENT}Mi"}},
        },
        depends_on=(CERT_MANAGER,),
    )


def providers(control_planes: ControlPlanesSpec) -> tuple[Provider, ...]:
    """Return the Cluster API providers for control planes by Kamaji and for nodes that join with kubeadm."""
    return (
        Provider(role="bootstrap", name="kubeadm", namespace="capi-kubeadm-bootstrap-system", release="core"),
        Provider(
            role="control-plane",
            name="kamaji",
            namespace=NAMESPACE,
            release="kamaji",
            workers=workers(control_planes),
            container="controller",
            # It keeps all Secrets, among them the bootstrap data of each Machine
            # (KCPP:controllers/kamajicontrolplane_controller.go, SetupWithManager).
            resources=of_management(),
        ),
    )


def workers(control_planes: ControlPlanesSpec) -> int:
    """Return the number of control planes that Kamaji and its Cluster API provider each reconcile in parallel."""
    return math.ceil(control_planes.max_clusters / CLUSTERS_PER_WORKER)


def data_store(store: DataStoreSpec) -> Manifest:
    """Return a data store with an external etcd."""

    def secret(key: str) -> dict[str, object]:
        return {"secretReference": {"name": store.secret, "namespace": NAMESPACE, "keyPath": key}}

    return manifest(
        "kamaji.clastix.io/v1alpha1",
        "DataStore",
        store.name,
        readiness=Readiness(conditions=("jsonpath={.status.ready}=true",), timeout_seconds=_STORE_SECONDS),
        protect=True,
        spec={
            "driver": "etcd",
            "endpoints": list(store.endpoints),
            "tlsConfig": {
                "certificateAuthority": {"certificate": secret("ca.crt"), "privateKey": secret("ca.key")},
                "clientCertificate": {"certificate": secret("tls.crt"), "privateKey": secret("tls.key")},
            },
        },
    )


def render(control_plane: ControlPlane) -> tuple[tuple[Manifest, ...], Manifest]:
    """Return the dedicated etcd if the cluster has one and the monitoring, and the control plane."""
    store, account = control_plane.data_store, _account(control_plane)
    if isinstance(store, DataStoreSpec):
        return (*_monitors(control_plane), account), _control_plane(control_plane, store.name)
    prerequisites = (*kamaji_etcd.render(control_plane, store), *_monitors(control_plane, store), account)
    return prerequisites, _control_plane(control_plane, kamaji_etcd.main_store(control_plane))


def _account(control_plane: ControlPlane) -> Manifest:
    name, labels = control_plane.spec.name, control_plane.labels
    return manifest("v1", "ServiceAccount", _ACCOUNT, namespace=name, labels=labels, automountServiceAccountToken=False)


def _control_plane(control_plane: ControlPlane, store: str) -> Manifest:
    cluster = control_plane.spec
    name, version, replicas = cluster.name, control_plane.version, cluster.control_plane.replicas
    arguments = _arguments(feature_gates(cluster) | client_rate(control_plane.nodes))
    return manifest(
        "controlplane.cluster.x-k8s.io/v1alpha2",
        "KamajiControlPlane",
        name,
        namespace=name,
        labels=control_plane.labels,
        protect=control_plane.protected,
        # The control plane stays available during an upgrade: only the version shows that the new version serves.
        readiness=Readiness(
            conditions=(*READY.conditions, f"jsonpath={{.status.version}}={version}"),
            timeout_seconds=READY.timeout_seconds,
        ),
        spec={
            "version": version,
            **given(registry=control_plane.registry),
            "replicas": replicas,
            "dataStoreName": store,
            **given(dataStoreOverrides=list(_overrides(control_plane))),
            "addons": {
                # With this add-on, the provider takes the address from here and ignores the field of the network.
                "coreDNS": {"dnsServiceIPs": [str(control_plane.network.services[_DNS_INDEX])]},
                "kubeProxy": {},
                "konnectivity": _konnectivity(control_plane),
            },
            "network": _network(control_plane),
            "deployment": {
                **given(podAdditionalMetadata=_restored(control_plane)),
                "serviceAccountName": _ACCOUNT,
                "topologySpreadConstraints": spread(_pods(name), replicas, control_plane.hosts, _REVISION),
                "probes": PROBES,
                **given(extraVolumes=[{"name": item.volume, **item.source} for item in files(control_plane)]),
            },
            "apiServer": {
                **given(
                    extraArgs=_arguments(flags(control_plane)),
                    extraVolumeMounts=list(map(_mount, files(control_plane))),
                ),
                "resources": resources(control_plane.nodes, Component.API_SERVER),
                "probes": INHERITED,
            },
            "controllerManager": {
                **given(extraArgs=arguments),
                "resources": resources(control_plane.nodes, Component.CONTROLLER_MANAGER),
                "probes": INHERITED,
            },
            "scheduler": {
                **given(extraArgs=arguments),
                "resources": resources(control_plane.nodes, Component.SCHEDULER),
                "probes": INHERITED,
            },
        },
    )


def _network(control_plane: ControlPlane) -> dict[str, Any]:
    service = f"{control_plane.spec.name}.{control_plane.spec.name}"
    address, *others = control_plane.names
    return {
        "serviceType": "LoadBalancer",
        "serviceAddress": str(control_plane.vip),
        "serviceAnnotations": control_plane.address_request,
        "certSANs": [address, f"{service}.svc", f"{service}.{MANAGEMENT_DOMAIN}", *others],
    }


def _konnectivity(control_plane: ControlPlane) -> dict[str, Any]:
    """Return server and agents. Agents start before the CNI: they use the host network and tolerate all taints."""
    count = control_plane.spec.control_plane.konnectivity_agents
    number = {"mode": "DaemonSet"} if count is None else {"mode": "Deployment", "replicas": count}
    return {
        "server": {"port": _KONNECTIVITY_PORT, "resources": resources(control_plane.nodes, Component.KONNECTIVITY)},
        "agent": {**number, "hostNetwork": True, "tolerations": [{"operator": "Exists"}]},
    }


def _overrides(control_plane: ControlPlane) -> Iterator[dict[str, str]]:
    if control_plane.events_apart:
        yield {"resource": _EVENTS, "dataStore": kamaji_etcd.events_store(control_plane)}


def _restored(control_plane: ControlPlane) -> dict[str, Any]:
    """Return the annotation that restarts API servers once after a restore, whose caches have lost objects."""
    return given(annotations=given(**{keys.RESTORED_TO: control_plane.restored_to}))


def _arguments(options: dict[str, str]) -> list[str]:
    return [f"--{name}={value}" for name, value in options.items()]


def _mount(item: Files) -> dict[str, Any]:
    return {"name": item.volume, "mountPath": item.folder, **given(readOnly=item.read_only or None)}


def _pods(name: str) -> dict[str, str]:
    return {"kamaji.clastix.io/name": name}


def budget(name: str, replicas: int, *, namespace: str, labels: Mapping[str, str]) -> tuple[Manifest, ...]:
    """Return the disruption budget of the API servers of control plane ``name``."""
    return serving_budget(f"{name}-control-plane", _pods(name), replicas, namespace=namespace, labels=labels)


def _monitors(control_plane: ControlPlane, etcd: MadeEtcd | None = None) -> tuple[Manifest, ...]:
    name, labels, limits = control_plane.spec.name, control_plane.labels, control_plane.thresholds
    main = kamaji_etcd.main_store(control_plane)
    alerts = etcd_alerts(name, (name, main), etcd, limits) if etcd else ()
    return (
        metrics_service(name, labels, _pods(name), _METRICS_PORTS),
        service_monitor(name, labels, [_endpoint(name, job, labels[keys.TENANT]) for job in _METRICS_PORTS]),
        rules(name, labels, objectives.of_tenant(labels, control_plane.slos), limits, etcd=alerts),
        *budget(name, control_plane.spec.control_plane.replicas, namespace=name, labels=labels),
    )


def _endpoint(cluster: str, job: str, tenant: str) -> dict[str, Any]:
    client = f"{cluster}-api-server-kubelet-client-certificate"
    authority = {"ca": {"secret": {"name": f"{cluster}-ca", "key": "ca.crt"}}, "serverName": f"{cluster}.{cluster}.svc"}
    return {
        "port": job,
        "scheme": "https",
        "interval": INTERVAL,
        "relabelings": relabelled(cluster, job, tenant),
        "tlsConfig": {
            # Only the API server has a certificate of the cluster's CA; other components have self-signed certificates.
            **(authority if job == "apiserver" else {"insecureSkipVerify": True}),
            "cert": {"secret": {"name": client, "key": "apiserver-kubelet-client.crt"}},
            "keySecret": {"name": client, "key": "apiserver-kubelet-client.key"},
        },
    }
