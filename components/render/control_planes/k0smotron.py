"""Control planes by k0smotron: k0s in pods of the management cluster, with an etcd per cluster or a named data store.

Nodes of such a cluster are k0s nodes: their bootstrap template has a different kind, and the image must contain k0s.

- A dedicated data store is an etcd that k0smotron creates. The replicas of the control plane determine the number of
  its members, independent of ``members``.
- A data store of ``region.yaml`` is external and accessed through kine. Its Secret, in the cluster's namespace,
  contains the URL of the data source; its endpoints are not used. Upstream measured write errors of 9-45 % on SQL
  behind kine, so this option is only for labs.
- The controllers of k0smotron are installed only as providers of Cluster API (``cluster_api``).
- k0smotron supports neither a separate store for events nor a number of konnectivity agents, since an agent runs on
  every node. ``check`` rejects both settings.
"""

import json
from typing import Any

from components.render import labels as keys
from components.render.add_ons.cni import POD_PREFIX_PER_NODE_IPV6
from components.render.control_planes import k0smotron_certificates
from components.render.control_planes.api_server import Files, feature_gates, files, flags
from components.render.control_planes.control_plane import API_PORT, READY, ControlPlane, DataStore, spread
from components.render.control_planes.etcd_alerts import etcd_alerts
from components.render.control_planes.etcd_client import Etcd
from components.render.control_planes.etcd_defragmentation import RULE
from components.render.control_planes.etcd_upkeep import render_saved
from components.render.control_planes.sizing import Component, client_rate, resources
from components.render.manifest import Manifest, Rendered
from components.render.memory_limits import of_management
from components.render.objects import given, manifest
from components.render.pools.node_templates import kubelet_settings, worker_profile
from components.render.providers import Provider
from components.render.region import objectives
from components.render.region.budgets import quorum_budget, serving_budget
from components.render.region.monitors import INTERVAL, metrics_service, rules, service_monitor
from components.specs.control_planes.data_stores import DataStoreSpec
from components.specs.network.vpc_allocation import VpcAllocation

PROVIDERS = tuple(
    Provider(
        role=role,
        name="k0sproject-k0smotron",
        namespace="k0smotron",
        release="k0smotron",
        # It keeps the Machines and the Secrets of all clusters (K0SM:cmd/main.go, newCacheOptions).
        resources=of_management(),
    )
    for role in ("bootstrap", "control-plane")
)
_IMAGE = "k0sproject/k0s"
"""Repository of k0s; k0smotron adds the version as the tag."""
_KONNECTIVITY_PORT = 8132
_FLAGS = ("--disable-components=metrics-server",)
"""Flags of k0s. Its metrics-server and the add-on have the same APIService. Flux takes ownership of existing
objects, and both would overwrite it (K0S:pkg/component/controller/metricserver.go)."""
RECORDS = r'''{k8s.container.name="controller"} _msg:~" component=kube-[a-z-]+ stream=std(out|err)$"'''
"""k0s writes the lines of its processes into the log of its container in the form of logfmt, with the process at the
end (K0S:pkg/supervisor/supervisor.go). The processes ``kube-*`` are API server, controller manager and scheduler; k0s,
konnectivity and kine may log addresses and logins of the region."""
_COMPONENT = "app.kubernetes.io/component"
_SERVERS = "cluster.x-k8s.io/control-plane"
_K0S_RELEASE = "k0s.0"
"""Build of k0s for a Kubernetes version. A hyphen precedes the build, since image tags cannot contain a plus sign."""
_METRICS_PORT = 8090
"""Port of the sidecar that exposes the metrics of API server, controller manager, scheduler and etcd."""
"""Worker profile of nodes that select no profile. Its values override the defaults of k0s."""


def render(control_plane: ControlPlane) -> tuple[tuple[Rendered, ...], Manifest]:
    """Return monitoring, disruption budgets, backup and certificates, and the control plane itself."""
    name, labels = control_plane.spec.name, control_plane.labels
    store = control_plane.data_store
    made = None if isinstance(store, DataStoreSpec) else store
    etcd = f"{name}-etcd"
    alerts = etcd_alerts(name, (name, etcd), made, control_plane.thresholds) if made else ()
    servers, replicas = {**_pods(name), _SERVERS: "true"}, control_plane.spec.control_plane.replicas
    prerequisites = (
        metrics_service(name, labels, servers, {"metrics": _METRICS_PORT}),
        service_monitor(name, labels, [_endpoint(name, labels[keys.TENANT])]),
        rules(name, labels, objectives.of_tenant(labels, control_plane.slos), control_plane.thresholds, etcd=alerts),
        *serving_budget(f"{name}-control-plane", servers, replicas, namespace=name, labels=labels),
        *(quorum_budget(etcd, _members(name), replicas, namespace=name, labels=labels) if made else ()),
        *(render_saved(etcd, name, labels, _etcd(name), made, folder=name, nodes=control_plane.nodes) if made else ()),
        *((k0smotron_certificates.render(name, labels),) if made else ()),
    )
    return prerequisites, _control_plane(control_plane)


def _control_plane(control_plane: ControlPlane) -> Manifest:
    cluster, vip = control_plane.spec, str(control_plane.vip)
    name, replicas = cluster.name, cluster.control_plane.replicas
    # The konnectivity server is a child process of k0s and uses the remaining resources of the machine.
    components = (Component.API_SERVER, Component.CONTROLLER_MANAGER, Component.SCHEDULER)
    return manifest(
        "controlplane.cluster.x-k8s.io/v1beta2",
        "K0smotronControlPlane",
        name,
        namespace=name,
        labels=control_plane.labels,
        protect=control_plane.protected,
        readiness=READY,
        spec={
            "version": f"{control_plane.version}-{_K0S_RELEASE}",
            **given(image=control_plane.registry and f"{control_plane.registry}/{_IMAGE}"),
            "replicas": replicas,
            "externalAddress": vip,
            "service": {"type": "LoadBalancer", "apiPort": API_PORT, "konnectivityPort": _KONNECTIVITY_PORT},
            # k0smotron has no field for the address and annotations of the Service, so the Service is patched.
            "patches": [_annotated("Service", control_plane.address_request)],
            "storage": _storage(control_plane),
            "controlPlaneFlags": list(_FLAGS),
            "k0sConfig": _k0s(control_plane),
            **given(mounts=[_mount(item) for item in files(control_plane)]),
            "resources": resources(control_plane.nodes, *components),
            "monitoring": {"enabled": True},
            # The constraints also apply to the pods of etcd; the component label separates both sets of pods.
            "topologySpreadConstraints": spread(_pods(name), replicas, control_plane.hosts, _COMPONENT),
        },
    )


def _pods(name: str) -> dict[str, str]:
    return {"app": "k0smotron", "cluster": name}


def _members(name: str) -> dict[str, str]:
    return {**_pods(name), "component": "etcd"}


def _annotated(kind: str, annotations: dict[str, str]) -> dict[str, Any]:
    content = json.dumps({"metadata": {"annotations": annotations}})
    return {"target": {"kind": kind, "component": "control-plane"}, "patch": {"type": "merge", "content": content}}


def _storage(control_plane: ControlPlane) -> dict[str, Any]:
    store: DataStore = control_plane.data_store
    if isinstance(store, DataStoreSpec):
        return {"type": "kine", "kine": {"dataSourceSecretName": store.secret}}
    return {
        "type": "etcd",
        "etcd": {
            "persistence": {"size": store.spec.size, "storageClass": store.spec.storage_class},
            "resources": resources(control_plane.nodes, Component.ETCD),
            "defragJob": {
                "enabled": True,
                "schedule": store.upkeep.defragmentation.schedule,
                "image": store.upkeep.defragmentation.image,
                "rule": RULE,
            },
        },
    }


def _k0s(control_plane: ControlPlane) -> dict[str, Any]:
    cluster, network = control_plane.spec, control_plane.network
    arguments = feature_gates(cluster) | client_rate(control_plane.nodes)
    # No pod prefix supports the default node prefix lengths of both k0s (/117) and Cilium.
    node_prefix = {"node-cidr-mask-size-ipv6": str(POD_PREFIX_PER_NODE_IPV6)} if network.ipv6 else {}
    return {
        "apiVersion": "k0s.k0sproject.io/v1beta1",
        "kind": "ClusterConfig",
        "metadata": {"name": "k0s"},
        "spec": {
            "api": {
                "sans": control_plane.names,
                # k0s issues its certificates when it starts, and does not renew them while it runs.
                "ca": {"certificatesExpireAfter": k0smotron_certificates.DURATION},
                **given(extraArgs=flags(control_plane)),
            },
            **given(controllerManager=given(extraArgs=arguments | node_prefix), scheduler=given(extraArgs=arguments)),
            "network": {
                # This value disables k0s' default CNI; Jacquard installs the CNI as an add-on or with the VPC.
                "provider": "custom",
                "podCIDR": str(network.pods),
                "serviceCIDR": str(network.services),
                "clusterDomain": cluster.service_domain,
                **given(dualStack=_dual_stack(network)),
            },
            **given(workerProfiles=_profiles(control_plane)),
            "telemetry": {"enabled": False},
        },
    }


def _dual_stack(network: VpcAllocation) -> dict[str, Any]:
    """Return the IPv6 ranges. Without this section, k0smotron uses both families of the Cluster."""
    if not network.ipv6:
        return {}
    return {
        "enabled": True,
        "IPv6podCIDR": str(network.pods_ipv6),
        "IPv6serviceCIDR": str(network.services_ipv6),
    }


def _profiles(control_plane: ControlPlane) -> list[dict[str, Any]]:
    """Return the worker profiles, one for each kind of node."""
    every = (kubelet_settings(intent.kubelet_configuration, intent.max_pods) for intent in control_plane.intents)
    profiles = {worker_profile(values): values for values in every}
    return [{"name": name, "values": values} for name, values in profiles.items()]


def _mount(item: Files) -> dict[str, Any]:
    return {"path": item.folder, **given(readOnly=item.read_only or None), **item.source}


def _endpoint(cluster: str, tenant: str) -> dict[str, Any]:
    # The sidecar sets other job names; its label "component" is the name of the program.
    job_names = [
        ("kube-apiserver", "apiserver"),
        *((name, name) for name in ("kube-controller-manager", "kube-scheduler", "etcd")),
    ]
    jobs: list[dict[str, Any]] = [
        {
            "action": "replace",
            "sourceLabels": ["component"],
            "regex": component,
            "targetLabel": "job",
            "replacement": job,
        }
        for component, job in job_names
    ]
    owner = [
        {"action": "replace", "targetLabel": label, "replacement": value}
        for label, value in (("cluster", cluster), ("tenant", tenant))
    ]
    return {
        "port": "metrics",
        "interval": INTERVAL,
        "honorLabels": True,
        "metricRelabelings": [*jobs, *owner],
    }


def _etcd(cluster: str) -> Etcd:
    return Etcd(
        endpoint=f"https://kmc-{cluster}-etcd:2379",
        authority=(f"{cluster}-etcd", "tls.crt"),
        client=f"{cluster}-{k0smotron_certificates.CLIENT}",
    )
