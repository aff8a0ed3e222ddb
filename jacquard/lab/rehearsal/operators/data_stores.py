"""What kamaji-etcd's chart, cert-manager, Kamaji and DPF's cluster manager do about data stores across objects.

No etcd runs. A release makes its DataStore, and its certificates once the issuer it names is there; Kamaji calls a
DataStore ready when it finds the keys it refers to; a cluster of DPUs waits for the DataStore that DPF hard-codes.
"""

from __future__ import annotations

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
    """Move every etcd that a release makes, every data store and every cluster of DPUs one step on."""
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
    why = (
        "" if dig(of_dpus, "status", "ready") else f"DataStore '{OF_DPUS}' {'is not ready' if of_dpus else 'not found'}"
    )
    for cluster in view.all(DPF, "DPUCluster"):
        if not deleting(cluster) and not reported(cluster, "Ready"):
            patch = conditions(cluster, Created=_condition("Created", "ClusterNotReady", why))
            if patch:
                view.status(cluster, {**({} if dig(cluster, "status", "phase") else {"phase": "Pending"}), **patch})


def _condition(met: str, unmet: str, lacking: str) -> tuple[str, str, str]:
    return ("False", unmet, lacking) if lacking else ("True", met, "")


def _install(view: View, release: Object) -> None:
    spec = release["spec"]
    values, namespace = spec["values"], spec["targetNamespace"]
    name, certificates = values["fullnameOverride"], values["certManager"]
    authority, client = certificates["ca"]["nameOverride"], certificates["clientCert"]["nameOverride"]
    made = view.find("v1", "Secret", authority, namespace)
    if made is None and certificates["ca"]["create"]:
        issuer = certificates["issuerRef"]
        if view.find(ISSUER, issuer["kind"], issuer["name"], namespace):
            view.create(simulated_secret(authority, namespace, KEYS))
    if made is not None and not view.find("v1", "Secret", client, namespace):
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
    """Yield in words which Secrets, or keys of them, a data store refers to in vain."""
    for pair in (dig(store, "spec", "tlsConfig") or {}).values():
        for content in pair.values():
            wanted = content.get("secretReference") or {}
            secret = view.find("v1", "Secret", wanted.get("name"), wanted.get("namespace"))
            if secret is None:
                yield f"Secret '{wanted.get('name')}' not found"
            elif not dig(secret, "data", wanted.get("keyPath", "")):
                yield f"Secret '{wanted.get('name')}' has no key '{wanted.get('keyPath')}'"
