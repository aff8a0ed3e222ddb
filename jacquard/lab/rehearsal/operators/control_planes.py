"""Simulated control-plane providers of Kamaji and k0smotron, and bootstrap providers of both."""

import base64
import json
from collections.abc import Callable

from jacquard.lab.rehearsal.operators.hosts.claims import CLUSTER, CLUSTER_LABEL
from jacquard.lab.rehearsal.operators.hosts.nodes import K0S_WORKER, KUBEADM
from jacquard.lab.rehearsal.operators.view import Object, View, conditions, deleting, owned_by, owner, reported
from jacquard.providers.kube.objects import dig

API = "controlplane.cluster.x-k8s.io/v1alpha2"
KAMAJI = "kamaji.clastix.io/v1alpha1"
K0SMOTRON = ("controlplane.cluster.x-k8s.io/v1beta2", "K0smotronControlPlane")
NO_DATABASE = "SecretNotFound"
"""Condition reason that blocks the stage of k0smotron's pods."""
_DATABASE = "K0SMOTRON_KINE_DATASOURCE_URL"
_SECRET_TYPE = "cluster.x-k8s.io/secret"  # noqa: S105 - a type, not a secret
_PORT = 6443
_USER_DATA = {
    "cloud-config": "## template: jinja\n#cloud-config\n# simulated: a real one carries a join token\n",
    "ignition": json.dumps({"ignition": {"version": "3.4.0"}}),
}
"""User data of a node at its first boot, by format."""


def reconcile(view: View, kubeconfig: Callable[[str], str | None]) -> None:
    """Update all hosted control planes, and create the bootstrap data of joining machines.

    Args:
        view: The management cluster.
        kubeconfig: Returns the kubeconfig of a control plane's API server, or None while it does not respond.
    """
    for control_plane in view.all(API, "KamajiControlPlane"):
        if not deleting(control_plane) and owner(control_plane, "Cluster"):
            _kamaji(view, control_plane, kubeconfig(control_plane["metadata"]["name"]))
    for control_plane in view.all(*K0SMOTRON):
        if not deleting(control_plane):
            _k0smotron(view, control_plane, kubeconfig(control_plane["metadata"]["name"]))
    for kind in (KUBEADM, K0S_WORKER):
        for config in view.all(*kind):
            if not deleting(config) and not dig(config, "status", "initialization", "dataSecretCreated"):
                _bootstrap(view, config)


def _k0smotron(view: View, control_plane: Object, kubeconfig: str | None) -> None:
    _authority(view, control_plane)
    if not dig(control_plane, "status", "readyReplicas"):
        # The pods start by themselves, unless the Secret with the address of the database is missing.
        problem = _database_problem(view, control_plane)
        unmet = ("False", NO_DATABASE, problem) if problem else ("False", "NoReadyReplicas", "")
        patch = conditions(control_plane, Available=unmet)
    elif kubeconfig is None:
        unanswered = ("False", "KubeSystemNamespaceNotAccessible", "the API server does not answer")
        patch = conditions(control_plane, Available=unanswered)
    else:
        _publish(view, control_plane, kubeconfig)
        patch = conditions(control_plane, Available=("True", "Available", ""))
        if patch:
            patch["initialization"] = {"controlPlaneInitialized": True}
    if patch:
        view.status(control_plane, patch)


def _authority(view: View, control_plane: Object) -> None:
    """Create the CA of the etcd, which exists before any pod starts (upstream ``ensureCertificates``)."""
    cluster, namespace = owner(control_plane, "Cluster"), control_plane["metadata"]["namespace"]
    if cluster and view.find("v1", "Secret", f"{cluster}-etcd", namespace) is None:
        values = {key: base64.b64encode(b"simulated").decode() for key in ("tls.crt", "tls.key")}
        view.create(_secret(f"{cluster}-etcd", control_plane, cluster, values))


def _database_problem(view: View, control_plane: Object) -> str:
    name = dig(control_plane, "spec", "storage", "kine", "dataSourceSecretName")
    secret = view.find("v1", "Secret", name, control_plane["metadata"]["namespace"]) if name else None
    if name and secret is None:
        return f"Secret '{name}' not found"
    return f"Secret '{name}' has no key '{_DATABASE}'" if name and not dig(secret, "data", _DATABASE) else ""


def _kamaji(view: View, control_plane: Object, kubeconfig: str | None) -> None:
    if dig(control_plane, "status", "initialization", "controlPlaneInitialized") and kubeconfig:
        _publish(view, control_plane, kubeconfig)
    if reported(control_plane, "TenantControlPlaneAddressReady"):
        return
    metadata = control_plane["metadata"]
    store = dig(control_plane, "spec", "dataStoreName")
    data_store = view.find(KAMAJI, "DataStore", store)
    if not dig(data_store, "status", "ready"):
        problem = f"DataStore '{store}' {'is not ready' if data_store else 'not found'}"
        _report(view, control_plane, TenantControlPlaneCreated=("False", "TenantControlPlaneCreationFailed", problem))
        return
    tenant = view.find(KAMAJI, "TenantControlPlane", metadata["name"], metadata["namespace"])
    if tenant is None or dig(tenant, "spec", "kubernetes", "version") != dig(control_plane, "spec", "version"):
        view.apply(_tenant_control_plane(view, control_plane))
        return
    _serve(view, control_plane, tenant)
    account = dig(control_plane, "spec", "deployment", "serviceAccountName")
    if account and not view.find("v1", "ServiceAccount", account, metadata["namespace"]):
        return  # no pod is created; upstream reports the reason only in an event of the ReplicaSet
    created = ("True", "TenantControlPlaneCreated", "")
    version = dig(tenant, "status", "kubernetesResources", "version") or {}
    is_ready = version.get("status") == "Ready" and version.get("version") == dig(control_plane, "spec", "version")
    responds = is_ready and kubeconfig is not None
    problem = "" if responds else "the API server does not answer" if is_ready else "the control plane is not ready"
    address = ("True" if responds else "False", "TenantControlPlaneAddressReady" if responds else "Waiting", problem)
    _report(view, control_plane, TenantControlPlaneCreated=created, TenantControlPlaneAddressReady=address)


def _serve(view: View, control_plane: Object, tenant: Object) -> None:
    """Create or update the Service of a control plane's address, with the annotations of its spec."""
    metadata, network = control_plane["metadata"], dig(control_plane, "spec", "network") or {}
    wanted = network.get("serviceAnnotations") or {}
    service = view.find("v1", "Service", metadata["name"], metadata["namespace"])
    if service is not None and wanted == (service["metadata"].get("annotations") or {}):
        return
    port = dig(tenant, "spec", "networkProfile", "port")
    view.apply(
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {
                "name": metadata["name"],
                "namespace": metadata["namespace"],
                "annotations": wanted,
                "ownerReferences": owned_by(tenant),
            },
            "spec": {
                "type": network.get("serviceType") or "LoadBalancer",
                "ports": [{"name": "kube-apiserver", "port": port, "protocol": "TCP"}],
                "selector": {"kamaji.clastix.io/name": metadata["name"]},
            },
        }
    )


def _report(view: View, control_plane: Object, **changed: tuple[str, str, str]) -> None:
    patch = conditions(control_plane, **changed)
    if not patch:
        return
    required = {"externalManagedControlPlane": True, "ready": False, "version": ""}
    view.status(control_plane, {**({} if dig(control_plane, "status", "version") else required), **patch})


def _tenant_control_plane(view: View, control_plane: Object) -> Object:
    metadata, spec = control_plane["metadata"], control_plane["spec"]
    cluster = view.find(*CLUSTER, owner(control_plane, "Cluster"), metadata["namespace"]) or {}
    infrastructure = dig(cluster, "spec", "infrastructureRef") or {}
    endpoint = view.find(
        "infrastructure.cluster.x-k8s.io/v1beta2",
        infrastructure.get("kind", ""),
        infrastructure.get("name"),
        metadata["namespace"],
    )
    address = dig(spec, "network", "serviceAddress") or dig(endpoint, "spec", "controlPlaneEndpoint", "host") or ""
    port = dig(cluster, "spec", "clusterNetwork", "apiServerPort") or _PORT
    return {
        "apiVersion": KAMAJI,
        "kind": "TenantControlPlane",
        "metadata": {
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "labels": {CLUSTER_LABEL: owner(control_plane, "Cluster")},
            "ownerReferences": owned_by(control_plane),
        },
        "spec": {
            "dataStore": spec["dataStoreName"],
            "kubernetes": {"version": spec["version"], "kubelet": {"cgroupfs": "systemd"}},
            "controlPlane": {
                "deployment": {"replicas": spec.get("replicas", 2)},
                "service": {"serviceType": dig(spec, "network", "serviceType") or "LoadBalancer"},
            },
            "networkProfile": {"address": address, "port": port},
        },
    }


def _publish(view: View, control_plane: Object, kubeconfig: str) -> None:
    """Write ``<cluster>-kubeconfig``; update it if the API server has another port."""
    metadata = control_plane["metadata"]
    cluster = owner(control_plane, "Cluster")
    value = base64.b64encode(kubeconfig.encode()).decode()
    secret = view.find("v1", "Secret", f"{cluster}-kubeconfig", metadata["namespace"])
    if dig(secret, "data", "value") != value:
        view.apply(_secret(f"{cluster}-kubeconfig", control_plane, str(cluster), {"value": value}))


def _bootstrap(view: View, config: Object) -> None:
    metadata = config["metadata"]
    name = (metadata.get("labels") or {}).get(CLUSTER_LABEL)
    cluster = view.find(*CLUSTER, name, metadata["namespace"])
    started = dig(cluster, "status", "initialization") or {}
    if not owner(config, "Machine") or not started.get("infrastructureProvisioned"):
        return
    if not started.get("controlPlaneInitialized"):
        patch = conditions(config, DataSecretAvailable=("False", "NotAvailable", "the control plane is not up"))
        if patch:
            view.status(config, patch)
        return
    data_format = dig(config, "spec", "format") or dig(config, "spec", "provisioner", "type") or "cloud-config"
    texts = {"value": _USER_DATA[data_format], "format": data_format}
    data = {key: base64.b64encode(text.encode()).decode() for key, text in texts.items()}
    view.apply(_secret(metadata["name"], config, str(name), data))
    done = conditions(config, Ready=("True", "Ready", ""), DataSecretAvailable=("True", "Available", ""))
    status = {"dataSecretName": metadata["name"], "initialization": {"dataSecretCreated": True}, **done}
    if config["kind"] == KUBEADM[1]:
        status["observedGeneration"] = metadata.get("generation")
    view.status(config, status)


def _secret(name: str, creator: Object, cluster: str, data: dict[str, str]) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": _SECRET_TYPE,
        "metadata": {
            "name": name,
            "namespace": creator["metadata"]["namespace"],
            "labels": {CLUSTER_LABEL: cluster},
            "ownerReferences": owned_by(creator),
        },
        "data": data,
    }
