"""Control planes by k0smotron: k0s in pods of the management cluster, an etcd for each cluster unless it names a store.

Nodes of such a cluster are k0s nodes: their bootstrap template is another kind, and the image must bring k0s.

- A dedicated data store is k0smotron's own etcd. It has as many members as its replicas need, whatever ``members``
  says.
- A store of ``region.yaml`` is somebody else's, reached by kine: its Secret, in the cluster's namespace, holds the data
  source's URL and its endpoints are not used. Upstream measured write errors of 9-45 % on SQL behind kine, so this is
  for labs.
- Its controllers are providers of Cluster API and nothing else (``cluster_api``).
- It has no place for events of their own, and its konnectivity agents run on every node; ``check`` refuses both.
"""

from __future__ import annotations

import json
from typing import Any

from components.render.add_ons.cni import POD_PREFIX_PER_NODE_IPV6
from components.render.control_planes.api_server import Files, feature_gates, files, flags
from components.render.control_planes.control_plane import API_PORT, READY, ControlPlane, DataStore, spread
from components.render.control_planes.etcd_backup import render_backup
from components.render.control_planes.etcd_client import Etcd
from components.render.control_planes.etcd_defragmentation import RULE
from components.render.control_planes.sizing import Component, resources
from components.render.manifest import Manifest
from components.render.objects import given, manifest
from components.render.pools.template_revision_3 import profile, settings
from components.render.pools.template_revisions import CLUSTER_WIDE
from components.render.providers import Provider
from components.render.region.budgets import quorum_budget, serving_budget
from components.render.region.monitors import INTERVAL, metrics_service, rules, service_monitor
from components.specs.control_planes.data_stores import DataStoreSpec
from components.specs.network.vpc_allocation import VpcAllocation

PROVIDERS = tuple(
    Provider(role=role, name="k0sproject-k0smotron", namespace="k0smotron", release="k0smotron")
    for role in ("bootstrap", "control-plane")
)
_KONNECTIVITY_PORT = 8132
_COMPONENT = "app.kubernetes.io/component"
_SERVERS = "cluster.x-k8s.io/control-plane"
_K0S_RELEASE = "k0s.0"
"""Build of k0s for a Kubernetes version; an image tag has no plus sign, so that it follows a hyphen."""
_METRICS_PORT = 8090
"""Port at which the sidecar hands out what it scraped from API server, controller manager, scheduler and etcd."""
_PROFILE = "default"
"""The worker profile that nodes take which name none; values given to it are put over k0s' own."""


def render(control_plane: ControlPlane) -> tuple[Manifest, ...]:
    """Return the control plane, after what watches and saves it."""
    name, labels = control_plane.spec.name, control_plane.labels
    store = control_plane.data_store
    own, backup = (False, None) if isinstance(store, DataStoreSpec) else (True, store.upkeep.backup)
    servers, replicas = {**_pods(name), _SERVERS: "true"}, control_plane.spec.control_plane.replicas
    return (
        metrics_service(name, labels, servers, {"metrics": _METRICS_PORT}),
        service_monitor(name, labels, [_endpoint(name)]),
        rules(name, labels, etcd=own),
        *serving_budget(f"{name}-control-plane", servers, replicas, namespace=name, labels=labels),
        *(quorum_budget(f"{name}-etcd", _members(name), replicas, namespace=name, labels=labels) if own else ()),
        *((render_backup(f"{name}-etcd-backup", name, labels, _etcd(name), backup, folder=name),) if backup else ()),
        _control_plane(control_plane),
    )


def _control_plane(control_plane: ControlPlane) -> Manifest:
    cluster, vip = control_plane.spec, str(control_plane.vip)
    name, replicas = cluster.name, cluster.control_plane.replicas
    # Its konnectivity server is a child of k0s, in what is left of the machine.
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
            "replicas": replicas,
            "externalAddress": vip,
            "service": {"type": "LoadBalancer", "apiPort": API_PORT, "konnectivityPort": _KONNECTIVITY_PORT},
            # The Service has no field for its address or annotations; a patch of what is generated is the only way.
            "patches": [_annotated("Service", control_plane.address_request)],
            "storage": _storage(control_plane),
            "k0sConfig": _k0s(control_plane),
            **given(mounts=[_mount(item) for item in files(cluster)]),
            "resources": resources(control_plane.nodes, *components),
            "monitoring": {"enabled": True},
            # They are those of its etcd too, which each component's label keeps apart.
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
    gates = feature_gates(cluster)
    # k0s' own length, /117, fits into no prefix for pods that Cilium divides alike.
    parts = {"node-cidr-mask-size-ipv6": str(POD_PREFIX_PER_NODE_IPV6)} if network.ipv6 else {}
    return {
        "apiVersion": "k0s.k0sproject.io/v1beta1",
        "kind": "ClusterConfig",
        "metadata": {"name": "k0s"},
        "spec": {
            "api": {"sans": control_plane.names, **given(extraArgs=flags(cluster, control_plane.nodes))},
            **given(controllerManager=given(extraArgs=gates | parts), scheduler=given(extraArgs=gates)),
            "network": {
                # k0s would bring a CNI of its own choice; ours comes as an add-on or with the VPC.
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
    """Return the ranges of IPv6; k0smotron takes both families from the Cluster where nothing is said here."""
    if not network.ipv6:
        return {}
    return {
        "enabled": True,
        "IPv6podCIDR": str(network.pods_ipv6),
        "IPv6serviceCIDR": str(network.services_ipv6),
    }


def _profiles(control_plane: ControlPlane) -> list[dict[str, Any]]:
    """Return the settings of kubelets: those of nodes that name no profile, then one for each kind of node."""
    found = {_PROFILE: dict(control_plane.kubelet)} if control_plane.kubelet else {}
    for intent in control_plane.intents:
        if intent.revision not in CLUSTER_WIDE:
            values = settings(intent.kubelet_configuration, intent.max_pods)
            found[profile(values)] = values
    return [{"name": name, "values": values} for name, values in found.items()]


def _mount(item: Files) -> dict[str, Any]:
    return {"path": item.folder, "readOnly": True, **item.source}


def _endpoint(cluster: str) -> dict[str, Any]:
    # The sidecar calls its jobs otherwise, and its label "component" by the names of the programs.
    renamed = [
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
        for component, job in renamed
    ]
    named = {"action": "replace", "targetLabel": "cluster", "replacement": cluster}
    return {
        "port": "metrics",
        "interval": INTERVAL,
        "honorLabels": True,
        "metricRelabelings": [*jobs, named],
    }


def _etcd(cluster: str) -> Etcd:
    return Etcd(
        endpoint=f"https://kmc-{cluster}-etcd:2379",
        authority=(f"{cluster}-etcd", "tls.crt"),
        client=f"{cluster}-apiserver-etcd-client",
    )
