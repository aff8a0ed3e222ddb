"""Objects of IronCore and Cluster API, from a BMC to the machine that claims its server."""

from __future__ import annotations

import base64
from typing import Any

from jacquard.lab.rehearsal.operators.hosts import ironcore

CAPI = "cluster.x-k8s.io/v1beta2"
LABEL = {"cluster.x-k8s.io/cluster-name": "acme"}
IMAGE = "images.example/gpu-2026.1@sha256:abc"
IGNITION = base64.b64encode(b'{"ignition": {"version": "3.4.0"}}').decode()
CLAIMED = "metal.ironcore.dev/serverclaim"
LOGIN = {"username": "x", "password": "y"}
SKU = {"matchLabels": {"sku": "h100"}}


def bmc(name: str, state: str = "Enabled", **labels: str) -> dict[str, Any]:
    return {
        "apiVersion": ironcore.API,
        "kind": "BMC",
        "metadata": {"name": name, "uid": f"uid-{name}", "labels": labels},
        "spec": {"access": {"ip": "10.1.0.1"}, "bmcSecretRef": {"name": "bmc-a01"}},
        "status": {"state": state},
    }


def login() -> dict[str, Any]:
    return {"apiVersion": ironcore.API, "kind": "BMCSecret", "metadata": {"name": "bmc-a01"}, "stringData": LOGIN}


def server(name: str, state: str = "Available", power: str = "Off", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": ironcore.API,
        "kind": "Server",
        "metadata": {"name": name, "labels": {"sku": "h100"}},
        "spec": {"systemUUID": f"system-{name}", **spec},
        "status": {"state": state, "powerState": power},
    }


def machine(**metadata: Any) -> dict[str, Any]:
    owners = [{"kind": "Machine", "name": "m1"}]
    return {
        "apiVersion": ironcore.PROVIDER,
        "kind": "IroncoreMetalMachine",
        "metadata": {"name": "m1", "namespace": "acme", "labels": LABEL, "ownerReferences": owners, **metadata},
        "spec": {"image": IMAGE, "serverSelector": SKU},
    }


def claim(**more: Any) -> dict[str, Any]:
    spec = {"power": "On", "image": IMAGE, "ignitionSecretRef": {"name": "ignition-m1"}, "serverSelector": SKU}
    return {
        "apiVersion": ironcore.API,
        "kind": "ServerClaim",
        "metadata": {"name": "m1", "namespace": "acme", "uid": "uid-claim"},
        "spec": spec,
        **more,
    }


def capi(kind: str = "K0sWorkerConfig", *, data: str | None = "m1", provisioned: bool = True) -> list[dict[str, Any]]:
    cluster = {"apiVersion": CAPI, "kind": "Cluster", "metadata": {"name": "acme", "namespace": "acme"}, "spec": {}}
    cluster["status"] = {"initialization": {"infrastructureProvisioned": provisioned}}
    bootstrap = {"dataSecretName": data, "configRef": {"kind": kind, "name": "c1"}}
    spec = {"clusterName": "acme", "bootstrap": bootstrap, "version": "v1.35.2"}
    return [
        cluster,
        {"apiVersion": CAPI, "kind": "Machine", "metadata": {"name": "m1", "namespace": "acme"}, "spec": spec},
    ]


def secret(value: str = IGNITION) -> dict[str, Any]:
    place = {"name": "m1", "namespace": "acme", "uid": "uid-secret"}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": place, "data": {"value": value}}


def config(kind: tuple[str, str], **spec: Any) -> dict[str, Any]:
    return {"apiVersion": kind[0], "kind": kind[1], "metadata": {"name": "c1", "namespace": "acme"}, "spec": spec}
