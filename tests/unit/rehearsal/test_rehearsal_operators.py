"""Joins for control planes, DPUs and load balancers."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from rehearsal.operators import control_planes, dpus, load_balancers

CAPI = "cluster.x-k8s.io/v1beta2"
DPF = "provisioning.dpu.nvidia.com/v1alpha1"


def obj(api_version: str, kind: str, name: str, spec: Any = None, **more: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": more.pop("namespace", "ns"), **more.pop("metadata", {})}
    made = {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec or {}, **more}
    if not metadata["namespace"]:
        del metadata["namespace"]
    return made


def control_plane(**status: Any) -> dict[str, Any]:
    spec = {"version": "v1.35.2", "replicas": 3, "dataStoreName": "shared-a", "network": {"serviceAddress": "10.3.0.1"}}
    owners = {"ownerReferences": [{"kind": "Cluster", "name": "acme"}]}
    more = {"status": status} if status else {}
    return obj(control_planes.API, "KamajiControlPlane", "acme", spec, namespace="acme", metadata=owners, **more)


def store(*, ready: bool = True) -> dict[str, Any]:
    return obj(control_planes.KAMAJI, "DataStore", "shared-a", namespace="", status={"ready": ready})


def address(view: Any) -> tuple[str, str]:
    conditions = view.get("KamajiControlPlane", "acme", "acme")["status"]["conditions"]
    [found] = [entry for entry in conditions if entry["type"] == "TenantControlPlaneAddressReady"]
    return found["status"], found["message"]


@pytest.mark.parametrize(
    ("there", "why"),
    [([], "DataStore 'shared-a' not found"), ([store(ready=False)], "DataStore 'shared-a' is not ready")],
)
def test_a_control_plane_waits_for_its_data_store(objects: Any, there: Any, why: str) -> None:
    view = objects(control_plane(), *there)

    control_planes.reconcile(view, lambda _: "kubeconfig")

    [condition] = view.get("KamajiControlPlane", "acme", "acme")["status"]["conditions"]
    assert (condition["type"], condition["status"], condition["message"]) == ("TenantControlPlaneCreated", "False", why)
    assert view.find(control_planes.KAMAJI, "TenantControlPlane", "acme", "acme") is None


def test_a_control_plane_is_up_when_its_api_server_answers(objects: Any) -> None:
    view = objects(control_plane(), store())
    control_planes.reconcile(view, lambda _: None)
    tenant = view.get("TenantControlPlane", "acme", "acme")
    assert tenant["spec"]["networkProfile"] == {"address": "10.3.0.1", "port": 6443}
    assert tenant["spec"]["dataStore"] == "shared-a"

    control_planes.reconcile(view, lambda _: None)
    assert address(view) == ("False", "the control plane is not ready")
    tenant["status"] = {"kubernetesResources": {"version": {"status": "Ready", "version": "v1.35.2"}}}
    control_planes.reconcile(view, lambda _: None)
    assert address(view) == ("False", "the API server does not answer")
    control_planes.reconcile(view, lambda _: "kubeconfig")
    assert address(view) == ("True", "")


def test_the_kubeconfig_is_published_and_follows_the_api_server(objects: Any) -> None:
    view = objects(control_plane(initialization={"controlPlaneInitialized": True}), store())

    for kubeconfig in ("port 1", "port 2"):
        control_planes.reconcile(view, lambda _, text=kubeconfig: text)

        secret = view.get("Secret", "acme-kubeconfig", "acme")
        assert base64.b64decode(secret["data"]["value"]).decode() == kubeconfig
    assert secret["type"] == "cluster.x-k8s.io/secret"
    assert secret["metadata"]["labels"] == {"cluster.x-k8s.io/cluster-name": "acme"}


@pytest.mark.parametrize("initialized", [False, True])
def test_bootstrap_data_waits_for_the_control_plane(objects: Any, *, initialized: bool) -> None:
    started = {"infrastructureProvisioned": True, "controlPlaneInitialized": initialized}
    cluster = obj(CAPI, "Cluster", "acme", status={"initialization": started})
    metadata = {
        "labels": {"cluster.x-k8s.io/cluster-name": "acme"},
        "ownerReferences": [{"kind": "Machine", "name": "m1"}],
    }
    view = objects(cluster, obj("bootstrap.cluster.x-k8s.io/v1beta2", "KubeadmConfig", "m1", metadata=metadata))

    control_planes.reconcile(view, lambda _: None)

    status = view.get("KubeadmConfig", "m1", "ns")["status"]
    assert status.get("dataSecretName") == ("m1" if initialized else None)
    assert (view.find("v1", "Secret", "m1", "ns") is not None) is initialized


def test_a_dpu_deployment_makes_a_dpu_for_each_selected_device(objects: Any) -> None:
    template = {
        "bfb": "bfb",
        "flavor": "hbn",
        "dpuSets": [{"nameSuffix": "a", "nodeSelector": {"matchLabels": {"r": "1"}}}],
    }
    met = {"conditions": [{"type": "PrerequisitesReady", "status": "True"}]}
    devices = [obj(DPF, "DPUDevice", f"d{number}", {"serialNumber": f"MT{number}"}) for number in (1, 2)]
    nodes = [
        obj(DPF, "DPUNode", f"n{number}", {"dpus": [{"name": f"d{number}"}]}, metadata={"labels": {"r": str(number)}})
        for number in (1, 2)
    ]
    deployment = obj(dpus.SERVICES, "DPUDeployment", "dep", {"dpus": template}, status=met)
    view = objects(deployment, *devices, *nodes, obj(DPF, "DPUCluster", "dpu-cluster"))

    dpus.reconcile(view)
    dpus.reconcile(view)

    [dpu] = view.all(DPF, "DPU")
    assert dpu["metadata"]["name"] == "n1-d1"
    assert (dpu["spec"]["serialNumber"], dpu["spec"]["dpuFlavor"], dpu["spec"]["bfb"]) == ("MT1", "hbn", "bfb")
    assert view.get("DPUSet", "dep-a", "ns")["status"]["dpuStatistics"] == {"Initializing": 1}


def service(name: str, **annotations: str) -> dict[str, Any]:
    return obj("v1", "Service", name, {"type": "LoadBalancer"}, metadata={"annotations": annotations})


def given(view: Any, name: str) -> list[str]:
    ingress = view.get("Service", name, "ns").get("status", {}).get("loadBalancer", {}).get("ingress", [])
    return [entry["ip"] for entry in ingress]


def test_load_balancers_get_the_address_they_ask_for_or_the_next_free_one(objects: Any) -> None:
    pool = obj("metallb.io/v1beta1", "IPAddressPool", "public", {"addresses": ["10.0.0.8/31", "10.0.1.1-10.0.1.2"]})
    asked = service("asked", **{"metallb.io/loadBalancerIPs": "10.0.1.2"})
    outside = service("outside", **{"metallb.io/loadBalancerIPs": "10.9.9.9"})
    view = objects(asked, service("first"), service("second"), service("third"), service("fourth"), outside, pool)

    load_balancers.reconcile(view)

    assert {name: given(view, name) for name in ("asked", "first", "second", "third", "fourth", "outside")} == {
        "asked": ["10.0.1.2"],
        "first": ["10.0.0.8"],
        "second": ["10.0.0.9"],
        "third": ["10.0.1.1"],
        "fourth": [],
        "outside": [],
    }


def test_a_pool_that_does_not_assign_by_itself_serves_only_those_who_name_it(objects: Any) -> None:
    pool = obj("metallb.io/v1beta1", "IPAddressPool", "held", {"addresses": ["10.0.0.8/32"], "autoAssign": False})
    view = objects(service("any"), service("named", **{"metallb.io/address-pool": "held"}), pool)

    load_balancers.reconcile(view)

    assert (given(view, "any"), given(view, "named")) == ([], ["10.0.0.8"])
