"""Simulated data stores: the chart kamaji-etcd, cert-manager, Kamaji and DPF's cluster manager.

No etcd runs. A release creates a DataStore, and the certificates once their issuer exists. Kamaji reports a DataStore
as ready if all referenced keys exist. A DPUCluster waits for the DataStore whose name DPF hard-codes.
"""

from collections.abc import Iterator

from jacquard.lab.rehearsal.operators.certificates import KEYS
from jacquard.lab.rehearsal.operators.releases.installed import installed
from jacquard.lab.rehearsal.operators.view import Object, View, conditions, deleting, reported, simulated_secret
from jacquard.providers.kube.objects import dig

KAMAJI = "kamaji.clastix.io/v1alpha1"
ISSUER = "cert-manager.io/v1"
DPF = "provisioning.dpu.nvidia.com/v1alpha1"
CHART = "kamaji-etcd"
OF_DPUS = "default"
_PORT = 2379


def reconcile(view: View) -> None:
    """Update the etcd clusters of releases, all data stores and all DPU clusters."""
    for release in installed(view, CHART):
        _install(view, release)
    for store in view.all(KAMAJI, "DataStore"):
        if not deleting(store):
            lacking = "; ".join(_lacking(view, store))
            patch = conditions(store, DataStoreIsValid=_condition("DataStoreIsValid", "SecretNotFound", lacking))
            if patch:
                observed = {"ready": not lacking, "observedGeneration": store["metadata"].get("generation")}
                view.status(store, {**observed, **patch})
    of_dpus = view.find(KAMAJI, "DataStore", OF_DPUS)
    problem = (
        "" if dig(of_dpus, "status", "ready") else f"DataStore '{OF_DPUS}' {'is not ready' if of_dpus else 'not found'}"
    )
    for cluster in view.all(DPF, "DPUCluster"):
        if not deleting(cluster) and not reported(cluster, "Ready"):
            patch = conditions(cluster, Created=_condition("Created", "ClusterNotReady", problem))
            if patch:
                view.status(cluster, {**({} if dig(cluster, "status", "phase") else {"phase": "Pending"}), **patch})


def _condition(met: str, unmet: str, lacking: str) -> tuple[str, str, str]:
    return ("False", unmet, lacking) if lacking else ("True", met, "")


def _install(view: View, release: Object) -> None:
    spec = release["spec"]
    values, namespace = spec["values"], spec["targetNamespace"]
    name, certificates = values["fullnameOverride"], values["certManager"]
    authority, client = certificates["ca"]["nameOverride"], certificates["clientCert"]["nameOverride"]
    existing = view.find("v1", "Secret", authority, namespace)
    if existing is None and certificates["ca"]["create"]:
        issuer = certificates["issuerRef"]
        if view.find(ISSUER, issuer["kind"], issuer["name"], namespace):
            view.create(simulated_secret(authority, namespace, KEYS))
    if existing is not None and not view.find("v1", "Secret", client, namespace):
        view.create(simulated_secret(client, namespace, KEYS))
    if values["datastore"]["enabled"] and not view.find(KAMAJI, "DataStore", values["datastore"]["name"]):
        view.create(_data_store(values["datastore"]["name"], name, namespace, values["replicas"], (authority, client)))


def _data_store(name: str, etcd: str, namespace: str, members: int, secrets: tuple[str, str]) -> Object:
    def pair(certificate: str, key: str, secret: str) -> Object:
        place = {"name": secret, "namespace": namespace}
        return {
            certificate: {"secretReference": {**place, "keyPath": "tls.crt"}},
            key: {"secretReference": {**place, "keyPath": "tls.key"}},
        }

    authority, client = secrets
    return {
        "apiVersion": KAMAJI,
        "kind": "DataStore",
        "metadata": {"name": name},
        "spec": {
            "driver": "etcd",
            "endpoints": [f"{etcd}-{member}.{etcd}.{namespace}.svc.cluster.local:{_PORT}" for member in range(members)],
            "tlsConfig": {
                "certificateAuthority": pair("certificate", "privateKey", authority),
                "clientCertificate": pair("certificate", "privateKey", client),
            },
        },
    }


def _lacking(view: View, store: Object) -> Iterator[str]:
    """Yield a message for each missing Secret or key of a data store."""
    for pair in (dig(store, "spec", "tlsConfig") or {}).values():
        for content in pair.values():
            reference = content.get("secretReference") or {}
            secret = view.find("v1", "Secret", reference.get("name"), reference.get("namespace"))
            if secret is None:
                yield f"Secret '{reference.get('name')}' not found"
            elif not dig(secret, "data", reference.get("keyPath", "")):
                yield f"Secret '{reference.get('name')}' has no key '{reference.get('keyPath')}'"
