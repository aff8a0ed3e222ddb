"""Simulated control planes, DPUs and load balancers."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from jacquard.lab.rehearsal.operators import control_planes
from jacquard.lab.rehearsal.operators.network import dpus, load_balancers
from jacquard.lab.toolchain import binaries
from tests.support.objects.live_objects import obj

CAPI = "cluster.x-k8s.io/v1beta2"
DPF = "provisioning.dpu.nvidia.com/v1alpha1"


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


def test_the_service_of_a_control_plane_has_its_declared_annotations_and_address(
    objects: Any,
) -> None:
    asked = {"metallb.io/address-pool": "vips", "metallb.io/loadBalancerIPs": "10.3.0.1"}
    plane = control_plane()
    plane["spec"]["network"]["serviceAnnotations"] = asked
    pool = obj("metallb.io/v1beta1", "IPAddressPool", "vips", {"addresses": ["10.3.0.0/24"], "autoAssign": False})
    view = objects(plane, store(), pool)

    for _ in range(2):
        control_planes.reconcile(view, lambda _: None)
        load_balancers.reconcile(view)
    service = view.get("Service", "acme", "acme")
    assert service["metadata"]["annotations"] == asked
    assert service["status"]["loadBalancer"]["ingress"] == [{"ip": "10.3.0.1", "ipMode": "VIP"}]

    named = {**asked, "external-dns.alpha.kubernetes.io/hostname": "acme.api.here.example"}
    view.get("KamajiControlPlane", "acme", "acme")["spec"]["network"]["serviceAnnotations"] = named
    control_planes.reconcile(view, lambda _: None)
    assert view.get("Service", "acme", "acme")["metadata"]["annotations"] == named


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


def test_control_plane_pods_require_their_service_account(objects: Any) -> None:
    waiting = control_plane()
    waiting["spec"]["deployment"] = {"serviceAccountName": "control-plane"}
    up = {"kubernetesResources": {"version": {"status": "Ready", "version": "v1.35.2"}}}
    view = objects(waiting, store())
    control_planes.reconcile(view, lambda _: "kubeconfig")
    view.get("TenantControlPlane", "acme", "acme")["status"] = up

    control_planes.reconcile(view, lambda _: "kubeconfig")
    assert "status" not in view.get("KamajiControlPlane", "acme", "acme")

    view.apply(obj("v1", "ServiceAccount", "control-plane", namespace="acme"))
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


def dpu_region(**dpus_of_a: Any) -> list[dict[str, Any]]:
    """Return two nodes with a DPU each in racks 1 and 2, and a deployment for each rack."""
    met = {"conditions": [{"type": "PrerequisitesReady", "status": "True"}]}

    def deployment(rack: str, **more: Any) -> dict[str, Any]:
        sets = [{"nameSuffix": "hosts", "dpuNodeSelector": {"matchLabels": {"rack": rack}}, **more.pop("sets", {})}]
        ordered = {"bfb": f"bfb-{rack}", "flavor": f"flavor-{rack}", "dpuSets": sets, **more}
        return obj(dpus.SERVICES, "DPUDeployment", f"rack-{rack}", {"dpus": ordered}, status=met)

    devices = [obj(DPF, "DPUDevice", f"d{number}", {"serialNumber": f"MT{number}"}) for number in (1, 2)]
    nodes = [
        obj(
            DPF, "DPUNode", f"n{number}", {"dpus": [{"name": f"d{number}"}]}, metadata={"labels": {"rack": f"{number}"}}
        )
        for number in (1, 2)
    ]
    clusters = [obj(DPF, "DPUCluster", name, metadata={"labels": {"at": name}}) for name in ("first", "second")]
    return [deployment("1", **dpus_of_a), deployment("2"), *devices, *nodes, *clusters]


def rounds(view: Any, count: int = 3) -> dict[str, dict[str, Any]]:
    for _ in range(count):
        dpus.reconcile(view)
    return {dpu["metadata"]["name"]: dpu for dpu in view.all(DPF, "DPU")}


def test_a_dpu_is_created_for_each_selected_device_of_its_deployment(objects: Any) -> None:
    view = objects(
        *dpu_region(secureBoot=True, nodeEffect={"hold": True}, sets={"dpuClusterSelector": {"at": "second"}})
    )

    made = rounds(view)

    assert made["n1-d1"]["metadata"]["labels"] == {
        "provisioning.dpu.nvidia.com/dpuset-name": "rack-1-hosts",
        "provisioning.dpu.nvidia.com/dpuset-namespace": "ns",
        "svc.dpu.nvidia.com/owned-by-dpudeployment": "ns_rack-1",
    }
    assert made["n1-d1"]["spec"] == {
        "bfb": "bfb-1",
        "dpuFlavor": "flavor-1",
        "nodeEffect": {"hold": True},
        "secureBoot": True,
        "dpuNodeName": "n1",
        "dpuDeviceName": "d1",
        "serialNumber": "MT1",
        "cluster": {"name": "second", "namespace": "ns"},
    }
    assert made["n2-d2"]["spec"]["cluster"]["name"] == "first"
    assert view.get("DPUSet", "rack-1-hosts", "ns")["status"]["dpuStatistics"] == {"Initializing": 1}


def test_a_dpu_keeps_its_flash_inputs_until_it_is_deleted(objects: Any) -> None:
    view = objects(*dpu_region())
    rounds(view)
    view.get("DPUDeployment", "rack-1", "ns")["spec"]["dpus"] |= {"bfb": "newer", "flavor": "newer"}

    kept = rounds(view)["n1-d1"]
    view.delete(kept)
    anew = rounds(view)["n1-d1"]

    assert [(one["spec"]["bfb"], one["spec"]["dpuFlavor"]) for one in (kept, anew)] == [
        ("bfb-1", "flavor-1"),
        ("newer", "newer"),
    ]


def test_a_dpu_selected_by_another_deployment_is_recreated_for_it(objects: Any) -> None:
    view = objects(*dpu_region())
    before = rounds(view)["n1-d1"]
    view.get("DPUNode", "n1", "ns")["metadata"]["labels"]["rack"] = "2"

    after = rounds(view)["n1-d1"]

    assert before["metadata"]["uid"] != after["metadata"]["uid"]
    assert (before["spec"]["bfb"], after["spec"]["bfb"]) == ("bfb-1", "bfb-2")
    assert after["metadata"]["labels"]["svc.dpu.nvidia.com/owned-by-dpudeployment"] == "ns_rack-2"


def service(name: str, **annotations: str) -> dict[str, Any]:
    return obj("v1", "Service", name, {"type": "LoadBalancer"}, metadata={"annotations": annotations})


def given(view: Any, name: str) -> list[str]:
    ingress = view.get("Service", name, "ns").get("status", {}).get("loadBalancer", {}).get("ingress", [])
    return [entry["ip"] for entry in ingress]


def test_load_balancers_get_the_requested_address_or_the_next_free_one(objects: Any) -> None:
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


def test_a_cluster_with_metallbs_own_controller_is_left_to_it(objects: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binaries, "path", Path)
    spec = {"template": {"spec": {"containers": [{"image": "metallb/controller"}]}}}
    pool = obj("metallb.io/v1beta1", "IPAddressPool", "public", {"addresses": ["10.0.0.8/32"]})
    view = objects(service("first"), pool, obj("apps/v1", "Deployment", "controller", spec))

    load_balancers.reconcile(view)
    assert given(view, "first") == []

    load_balancers.give(view)  # As in the management cluster, where it does not run
    assert given(view, "first") == ["10.0.0.8"]


def test_a_pool_without_automatic_assignment_serves_only_explicit_requests(objects: Any) -> None:
    pool = obj("metallb.io/v1beta1", "IPAddressPool", "held", {"addresses": ["10.0.0.8/32"], "autoAssign": False})
    view = objects(service("any"), service("named", **{"metallb.io/address-pool": "held"}), pool)

    load_balancers.reconcile(view)

    assert (given(view, "any"), given(view, "named")) == ([], ["10.0.0.8"])
