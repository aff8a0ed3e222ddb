"""Simulated volumes: claims, imports of images, and disks of one node."""

from __future__ import annotations

from typing import Any

import pytest

from jacquard.lab.rehearsal.images import PUBLIC
from jacquard.lab.rehearsal.operators.view import reported
from jacquard.lab.rehearsal.operators.vms import importers, virtual_machines, volumes
from tests.support.objects.live_objects import obj
from tests.support.vms.vm_parts import KUBEVIRT, node, storage_class

IMPORTER = obj(volumes.CDI, "CDI", "cdi", namespace="", status={"phase": "Deployed"})
WANTED = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "10Gi"}}}


def claim(**spec: Any) -> dict[str, Any]:
    whole = {"resources": {"requests": {"storage": "1Gi"}}, "accessModes": ["ReadWriteMany"], **spec}
    return obj("v1", "PersistentVolumeClaim", "data", whole, metadata={"uid": "u1"}, status={"phase": "Pending"})


def test_a_claim_gets_a_volume_only_from_a_class_that_exists(objects: Any) -> None:
    view = objects(claim(storageClassName="vast"))
    volumes.reconcile(view)
    assert list(view.all("v1", "PersistentVolume")) == []

    view.create(storage_class())
    volumes.reconcile(view)

    [volume] = view.all("v1", "PersistentVolume")
    assert volume["spec"]["csi"] == {"driver": "csi.vastdata.com", "volumeHandle": "pvc-u1"}
    assert (volume["spec"]["claimRef"]["name"], volume["spec"]["claimRef"]["uid"]) == ("data", "u1")


@pytest.mark.parametrize(("mode", "made"), [("ReadWriteMany", 0), ("ReadWriteOnce", 1)])
def test_a_volume_on_disks_of_a_node_is_not_for_many(objects: Any, mode: str, made: int) -> None:
    local = {**storage_class("local"), "provisioner": "topolvm.io"}
    view = objects(claim(storageClassName="local", accessModes=[mode]), local)

    volumes.reconcile(view)

    assert len(list(view.all("v1", "PersistentVolume"))) == made


def test_a_released_volume_is_deleted_only_with_the_policy_of_its_class(objects: Any) -> None:
    made = {"annotations": {"pv.kubernetes.io/provisioned-by": "x"}}
    released = {
        policy: obj(
            "v1",
            "PersistentVolume",
            policy.lower(),
            {"persistentVolumeReclaimPolicy": policy},
            namespace="",
            metadata=dict(made),
            status={"phase": "Released"},
        )
        for policy in ("Delete", "Retain")
    }
    view = objects(*released.values())

    volumes.reconcile(view)

    assert [volume["metadata"]["name"] for volume in view.all("v1", "PersistentVolume")] == ["retain"]


def test_an_import_waits_for_its_class_and_then_for_its_claim(objects: Any) -> None:
    spec = {"storage": {**WANTED, "storageClassName": "vast"}}
    view = objects(obj(volumes.CDI, "DataVolume", "image", spec), IMPORTER)
    volumes.reconcile(view)
    status = view.get("DataVolume", "image", "ns")["status"]
    assert (status["phase"], status["conditions"][0]["message"]) == ("Pending", "StorageClass 'vast' not found")

    view.create(storage_class())
    volumes.reconcile(view)
    assert view.get("PersistentVolumeClaim", "image", "ns")["spec"]["storageClassName"] == "vast"
    assert view.get("DataVolume", "image", "ns")["status"]["phase"] == "Pending"
    view.get("PersistentVolumeClaim", "image", "ns")["status"] = {"phase": "Bound"}
    volumes.reconcile(view)

    assert view.get("DataVolume", "image", "ns")["status"]["phase"] == "ImportScheduled"


VM_POOL = {"pool": "vms"}
LOCAL = {**storage_class("local"), "provisioner": "topolvm.io", "volumeBindingMode": "WaitForFirstConsumer"}
ONLY_VMS = {"key": "only", "value": "vms", "effect": "NoExecute"}
TOLERATED = [{"key": "only", "operator": "Equal", "value": "vms", "effect": "NoExecute"}]


def scheduled_import(objects: Any, *more: dict[str, Any], **workload: Any) -> Any:
    """Return a view with a blank disk whose claim is bound to a disk of node n1, and CDI with a placement."""
    spec = {"source": {"blank": {}}, "storage": {"storageClassName": "local"}}
    data = obj(volumes.CDI, "DataVolume", "data", spec, status={"phase": "ImportScheduled"})
    bound = claim(storageClassName="local")
    bound["metadata"]["annotations"] = {"volume.kubernetes.io/selected-node": "n1"}
    bound["status"] = {"phase": "Bound"}
    return objects(data, bound, LOCAL, {**IMPORTER, "spec": {"workload": workload}}, *more)


@pytest.mark.parametrize(
    ("workload", "taints", "fits"),
    [
        ({}, (), True),
        ({"nodeSelector": VM_POOL}, (), True),
        ({"nodeSelector": {"role": "system"}}, (), False),
        ({"nodeSelector": VM_POOL}, (ONLY_VMS,), False),
        ({"tolerations": TOLERATED}, (ONLY_VMS,), True),
        ({}, ({**ONLY_VMS, "effect": "NoSchedule"},), True),  # The kubelet ignores this effect.
    ],
)
def test_a_local_disk_is_filled_only_by_a_pod_that_fits_its_node(
    objects: Any, workload: Any, taints: Any, *, fits: bool
) -> None:
    view = scheduled_import(objects, node("n1", *taints, **VM_POOL), **workload)
    volumes.reconcile(view)
    pod = view.get("Pod", "importer-data", "ns")
    assert pod["spec"]["nodeName"] == "n1"
    pod["status"] = {"phase": "Running"}

    volumes.reconcile(view)

    phase = view.get("DataVolume", "data", "ns")["status"]["phase"]
    assert phase == ("ImportInProgress" if fits else "ImportScheduled")
    assert (view.get("Pod", "importer-data", "ns")["status"].get("reason") == "NodeAffinity") is not fits


def test_a_pod_of_a_filled_disk_is_deleted(objects: Any) -> None:
    view = scheduled_import(objects, node("n1"))
    volumes.reconcile(view)
    view.get("DataVolume", "data", "ns")["status"] = {"phase": "Succeeded"}

    volumes.reconcile(view)

    assert ("Pod", "ns", "importer-data") not in view.store


def test_a_local_disk_waits_for_the_node_of_its_vm(objects: Any) -> None:
    disk = {
        "source": {"blank": {}},
        "storage": {**WANTED, "accessModes": ["ReadWriteOnce"], "storageClassName": "local"},
    }
    placed = {"nodeSelector": VM_POOL, "volumes": [{"dataVolume": {"name": "root"}}]}
    machine = obj(virtual_machines.API, "VirtualMachine", "login", {"template": {"spec": placed}})
    there = [obj(volumes.CDI, "DataVolume", "root", disk), machine, LOCAL, IMPORTER, KUBEVIRT]
    view = objects(*there, node("n0"), node("n1", **VM_POOL))
    volumes.reconcile(view)
    view.get("PersistentVolumeClaim", "root", "ns")["status"] = {"phase": "Pending"}
    volumes.reconcile(view)
    assert list(view.all("v1", "PersistentVolume")) == []

    virtual_machines.reconcile(view)
    volumes.reconcile(view)

    annotations = view.get("PersistentVolumeClaim", "root", "ns")["metadata"]["annotations"]
    assert annotations == {"volume.kubernetes.io/selected-node": "n1"}
    assert len(list(view.all("v1", "PersistentVolume"))) == 1


def test_an_import_without_a_class_uses_the_default_one(objects: Any) -> None:
    default = {"storageclass.kubernetes.io/is-default-class": "true"}
    spec = {"storage": WANTED}
    view = objects(
        obj(volumes.CDI, "DataVolume", "image", spec), storage_class("nfs"), storage_class("vast", **default), IMPORTER
    )

    volumes.reconcile(view)

    assert view.get("PersistentVolumeClaim", "image", "ns")["spec"]["storageClassName"] == "vast"


def test_a_data_source_is_ready_when_its_image_is_imported(objects: Any) -> None:
    source = obj(volumes.CDI, "DataSource", "ubuntu", {"source": {"pvc": {"name": "image", "namespace": "ns"}}})
    importing = obj(volumes.CDI, "DataVolume", "image", status={"phase": "ImportInProgress"})
    bound = obj("v1", "PersistentVolumeClaim", "image", status={"phase": "Bound"})
    view = objects(source, importing, bound, IMPORTER)

    volumes.reconcile(view)
    assert not reported(view.get("DataSource", "ubuntu", "ns"), "Ready")
    view.get("DataVolume", "image", "ns")["status"]["phase"] = "Succeeded"
    volumes.reconcile(view)

    assert reported(view.get("DataSource", "ubuntu", "ns"), "Ready")


def test_the_image_of_importers_is_served(objects: Any) -> None:
    view = objects(obj("v1", "PersistentVolumeClaim", "data"))
    claim = view.get("PersistentVolumeClaim", "data", "ns")

    importers.runs(view, IMPORTER, claim)

    [container] = view.get("Pod", "importer-data", "ns")["spec"]["containers"]
    assert container["image"] in PUBLIC
