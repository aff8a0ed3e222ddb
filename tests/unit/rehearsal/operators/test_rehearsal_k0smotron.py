"""Simulation of control planes and workers with k0smotron: joins and status."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from components.render.control_planes import k0smotron_certificates
from jacquard.lab.rehearsal.operators import certificates, control_planes
from jacquard.lab.rehearsal.operators.hosts.nodes import K0S_WORKER, KUBEADM

LABEL = {"cluster.x-k8s.io/cluster-name": "acme"}


def control_plane(**status: Any) -> dict[str, Any]:
    version, kind = control_planes.K0SMOTRON
    owners = [{"kind": "Cluster", "name": "acme"}]
    metadata = {"name": "acme", "namespace": "acme", "ownerReferences": owners}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": {}, "status": status}


def conditions(view: Any) -> list[tuple[str, str, str]]:
    found = view.get("K0smotronControlPlane", "acme", "acme")["status"].get("conditions", [])
    return [(entry["type"], entry["status"], entry["message"]) for entry in found]


def test_a_control_plane_publishes_nothing_before_its_pods_run(objects: Any) -> None:
    view = objects(control_plane())

    control_planes.reconcile(view, lambda _: "kubeconfig")

    assert conditions(view) == [("Available", "False", "")]
    assert [item["metadata"]["name"] for item in view.all("v1", "Secret")] == ["acme-etcd"]


def test_the_certificates_of_an_etcd_are_issued_once_the_control_plane_has_created_its_ca(objects: Any) -> None:
    rendered = [dict(item.body) for item in k0smotron_certificates.render("acme", {}).members.values()]
    view = objects(control_plane(), *rendered)
    certificates.reconcile(view)
    missing = "Secret 'acme-etcd' of Issuer 'acme-etcd' not found"
    assert ready(view) == {("False", missing)}

    control_planes.reconcile(view, lambda _: None)
    certificates.reconcile(view)

    assert ready(view) == {("True", "")}
    names = {item["metadata"]["name"] for item in view.all("v1", "Secret")}
    assert names == {"acme-etcd", "acme-etcd-server", "acme-etcd-peer", "acme-apiserver-etcd-client"}


def ready(view: Any) -> set[tuple[str, str]]:
    """Return the statuses and messages of the condition Ready of all Certificates."""
    found = [item["status"]["conditions"][0] for item in view.all(certificates.API, "Certificate")]
    return {(entry["status"], entry["message"]) for entry in found}


def test_a_control_plane_is_available_while_its_api_server_answers(objects: Any) -> None:
    view = objects(control_plane(readyReplicas=1))
    control_planes.reconcile(view, lambda _: None)
    assert conditions(view) == [("Available", "False", "the API server does not answer")]
    assert "initialization" not in view.get("K0smotronControlPlane", "acme", "acme")["status"]

    control_planes.reconcile(view, lambda _: "kubeconfig")
    assert conditions(view) == [("Available", "True", "")]
    assert view.get("K0smotronControlPlane", "acme", "acme")["status"]["initialization"] == {
        "controlPlaneInitialized": True
    }
    secret = view.get("Secret", "acme-kubeconfig", "acme")
    assert base64.b64decode(secret["data"]["value"]) == b"kubeconfig"
    assert secret["metadata"]["labels"] == LABEL

    control_planes.reconcile(view, lambda _: None)
    assert conditions(view) == [("Available", "False", "the API server does not answer")]


@pytest.mark.parametrize(
    ("kind", "spec", "form"),
    [
        (K0S_WORKER, {"provisioner": {"type": "ignition"}}, "ignition"),
        (K0S_WORKER, {"provisioner": {"type": "cloud-config"}}, "cloud-config"),
        (K0S_WORKER, {}, "cloud-config"),
        (KUBEADM, {"format": "ignition"}, "ignition"),
        (KUBEADM, {}, "cloud-config"),
    ],
)
def test_bootstrap_data_has_the_requested_format(objects: Any, kind: tuple[str, str], spec: Any, form: str) -> None:
    started = {"infrastructureProvisioned": True, "controlPlaneInitialized": True}
    cluster = {
        "apiVersion": "cluster.x-k8s.io/v1beta2",
        "kind": "Cluster",
        "metadata": {"name": "acme", "namespace": "acme"},
        "status": {"initialization": started},
    }
    metadata = {
        "name": "m1",
        "namespace": "acme",
        "labels": LABEL,
        "ownerReferences": [{"kind": "Machine", "name": "m1"}],
    }
    view = objects(cluster, {"apiVersion": kind[0], "kind": kind[1], "metadata": metadata, "spec": spec})

    control_planes.reconcile(view, lambda _: None)

    data = {key: base64.b64decode(value).decode() for key, value in view.get("Secret", "m1", "acme")["data"].items()}
    assert data["format"] == form
    if form == "ignition":
        assert json.loads(data["value"]) == {"ignition": {"version": "3.4.0"}}
    else:
        assert "#cloud-config" in data["value"]
    status = view.get(kind[1], "m1", "acme")["status"]
    assert (status["dataSecretName"], status["initialization"]) == ("m1", {"dataSecretCreated": True})
    # Limited by the published schema: k0smotron's kind has no field for it.
    assert ("observedGeneration" in status) is (kind == KUBEADM)
