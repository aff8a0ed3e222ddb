"""Joins for volumes and virtual machines."""

from __future__ import annotations

from typing import Any

import pytest
from live_objects import obj

from jacquard.lab.rehearsal.images import PUBLIC
from jacquard.lab.rehearsal.operators.view import reported
from jacquard.lab.rehearsal.operators.vms import importers, virtual_machines, vm_fleets, volumes

IMPORTER = obj(volumes.CDI, "CDI", "cdi", namespace="", status={"phase": "Deployed"})
WANTED = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "10Gi"}}}
KUBEVIRT = obj(virtual_machines.API, "KubeVirt", "kubevirt", status={"phase": "Deployed"})


def claim(**spec: Any) -> dict[str, Any]:
    whole = {"resources": {"requests": {"storage": "1Gi"}}, "accessModes": ["ReadWriteMany"], **spec}
    return obj("v1", "PersistentVolumeClaim", "data", whole, metadata={"uid": "u1"}, status={"phase": "Pending"})


def storage_class(name: str = "vast", **annotations: str) -> dict[str, Any]:
    made = obj("storage.k8s.io/v1", "StorageClass", name, namespace="", metadata={"annotations": annotations})
    return {**made, "provisioner": "csi.vastdata.com", "reclaimPolicy": "Delete"}


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


def test_a_released_volume_is_deleted_only_when_its_class_says_so(objects: Any) -> None:
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


def node(name: str = "n1", *taints: dict[str, str], **labels: str) -> dict[str, Any]:
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    return obj("v1", "Node", name, {"taints": list(taints)}, namespace="", metadata={"labels": labels}, status=ready)


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
        ({}, ({**ONLY_VMS, "effect": "NoSchedule"},), True),  # the kubelet ignores this effect
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


def test_an_import_without_a_class_takes_the_default_one(objects: Any) -> None:
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


def vm(**spec: Any) -> dict[str, Any]:
    whole = {
        "runStrategy": "Always",
        "instancetype": {"name": "cpu-4"},
        "template": {"metadata": {"labels": {"vm": "login"}}, "spec": {"volumes": [{"dataVolume": {"name": "root"}}]}},
        **spec,
    }
    return obj(virtual_machines.API, "VirtualMachine", "login", whole)


SIZE = obj("instancetype.kubevirt.io/v1beta1", "VirtualMachineClusterInstancetype", "cpu-4", namespace="")
ROOT = obj(volumes.CDI, "DataVolume", "root", status={"phase": "Succeeded"})


def printable(view: Any) -> str:
    return str(view.get("VirtualMachine", "login", "ns")["status"]["printableStatus"])


@pytest.mark.parametrize(
    ("there", "status", "why"),
    [
        ([ROOT], "Stopped", "VirtualMachineClusterInstancetype 'cpu-4' not found"),
        ([SIZE], "ErrorDataVolumeNotFound", "DataVolume 'root' not found"),
        ([SIZE, {**ROOT, "status": {"phase": "Pending"}}], "Provisioning", "a volume is not filled yet"),
    ],
)
def test_a_vm_waits_for_its_parts(objects: Any, there: Any, status: str, why: str) -> None:
    view = objects(vm(), *there, KUBEVIRT)

    virtual_machines.reconcile(view)

    assert printable(view) == status
    assert view.get("VirtualMachine", "login", "ns")["status"]["conditions"][0]["message"] == why
    assert list(view.all(virtual_machines.API, "VirtualMachineInstance")) == []


def test_a_vm_follows_its_instance(objects: Any) -> None:
    view = objects(vm(), SIZE, ROOT, KUBEVIRT)

    virtual_machines.reconcile(view)
    instance = view.get("VirtualMachineInstance", "login", "ns")
    assert (printable(view), instance["metadata"]["labels"]) == ("Starting", {"vm": "login"})
    instance["status"] = {"phase": "Running"}
    virtual_machines.reconcile(view)
    assert (printable(view), view.get("VirtualMachine", "login", "ns")["status"]["ready"]) == ("Running", True)

    view.get("VirtualMachine", "login", "ns")["spec"]["runStrategy"] = "Halted"
    virtual_machines.reconcile(view)
    virtual_machines.reconcile(view)
    assert printable(view) == "Stopped"


@pytest.mark.parametrize(
    ("pool", "taints", "tolerations", "there"),
    [
        ("vms", [], [], True),
        ("train", [], [], False),
        ("vms", [{"key": "vms", "value": "only", "effect": "NoSchedule"}], [], False),
        ("vms", [{"key": "vms", "value": "only", "effect": "NoSchedule"}], [{"key": "vms", "value": "only"}], True),
        ("vms", [{"key": "vms", "value": "only", "effect": "PreferNoSchedule"}], [], True),
    ],
)
def test_a_vm_is_scheduled_only_where_a_handler_is(
    objects: Any, pool: str, taints: Any, tolerations: Any, *, there: bool
) -> None:
    rule = {"key": "node-restriction.kubernetes.io/pool", "operator": "In", "values": ["vms"]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [rule]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    placement = {"nodeSelector": {"kubernetes.io/os": "linux"}, "affinity": affinity, "tolerations": tolerations}
    node = obj("v1", "Node", "n1", {"taints": taints}, namespace="")
    node["metadata"]["labels"] = {rule["key"]: pool, "kubernetes.io/os": "linux"}
    node["status"] = {"conditions": [{"type": "Ready", "status": "True"}]}
    instance = obj(
        virtual_machines.API,
        "VirtualMachineInstance",
        "x",
        {"tolerations": tolerations},
        status={"phase": "Scheduling"},
    )
    view = objects(
        instance,
        node,
        {**KUBEVIRT, "spec": {"workloads": {"nodePlacement": placement}}},
    )

    virtual_machines.reconcile(view)

    assert ("nodeName" in view.get("VirtualMachineInstance", "x", "ns")["status"]) is there


def test_a_vm_is_scheduled_only_to_a_node_that_takes_work(objects: Any) -> None:
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    cordoned = obj("v1", "Node", "n1", {"unschedulable": True}, namespace="", status=ready)
    instance = obj(virtual_machines.API, "VirtualMachineInstance", "x", status={"phase": "Scheduling"})
    view = objects(instance, cordoned, KUBEVIRT)
    virtual_machines.reconcile(view)
    assert "nodeName" not in view.get("VirtualMachineInstance", "x", "ns")["status"]

    view.create(obj("v1", "Node", "n2", namespace="", status=ready))
    virtual_machines.reconcile(view)

    assert view.get("VirtualMachineInstance", "x", "ns")["status"]["nodeName"] == "n2"


def test_a_vm_runs_only_on_the_pool_that_it_names(objects: Any) -> None:
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    node = obj("v1", "Node", "n1", namespace="", metadata={"labels": {"pool": "vms"}}, status=ready)
    for pool, there in (("train", False), ("vms", True)):
        wants = {"nodeSelector": {"pool": pool}}
        instance = obj(virtual_machines.API, "VirtualMachineInstance", "x", wants, status={"phase": "Scheduling"})
        view = objects(instance, node, KUBEVIRT)

        virtual_machines.reconcile(view)

        assert ("nodeName" in view.get("VirtualMachineInstance", "x", "ns")["status"]) is there


def test_a_vm_starts_only_where_the_drivers_of_its_volumes_are_registered(objects: Any) -> None:
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    spec = {"volumes": [{"name": "disk", "dataVolume": {"name": "data"}}]}
    instance = obj(virtual_machines.API, "VirtualMachineInstance", "x", spec, status={"phase": "Scheduling"})
    claim = obj("v1", "PersistentVolumeClaim", "data", {"volumeName": "pvc-1"})
    volume = obj("v1", "PersistentVolume", "pvc-1", {"csi": {"driver": "nfs.csi.k8s.io"}}, namespace="")
    view = objects(instance, claim, volume, obj("v1", "Node", "n1", namespace="", status=ready), KUBEVIRT)
    virtual_machines.reconcile(view)
    assert "nodeName" not in view.get("VirtualMachineInstance", "x", "ns")["status"]

    drivers = {"drivers": [{"name": "nfs.csi.k8s.io", "nodeID": "n1"}]}
    view.create(obj("storage.k8s.io/v1", "CSINode", "n1", drivers, namespace=""))
    virtual_machines.reconcile(view)

    assert view.get("VirtualMachineInstance", "x", "ns")["status"]["nodeName"] == "n1"


def test_nobody_starts_a_vm_or_fills_a_disk_before_the_operators_are_there(objects: Any) -> None:
    starting = {**KUBEVIRT, "status": {"phase": "Deploying"}}
    spec = {"storage": {"storageClassName": "vast", "resources": {"requests": {"storage": "1Gi"}}}}
    view = objects(vm(), SIZE, ROOT, starting, obj(volumes.CDI, "DataVolume", "image", spec), storage_class())

    virtual_machines.reconcile(view)
    volumes.reconcile(view)

    assert list(view.all(virtual_machines.API, "VirtualMachineInstance")) == []
    assert list(view.all("v1", "PersistentVolumeClaim")) == []


def fleet(replicas: int, generation: int = 1, run: str = "Always") -> dict[str, Any]:
    """Return a fleet whose machines have a volume each."""
    template = {
        "metadata": {"labels": {"fleet": "desk"}},
        "spec": {
            "runStrategy": run,
            "dataVolumeTemplates": [{"metadata": {"name": "desk-data"}, "spec": {}}],
            "template": {
                "spec": {
                    "volumes": [
                        {"name": "root", "dataVolume": {"name": "shared"}},
                        {"name": "data", "dataVolume": {"name": "desk-data"}},
                    ]
                }
            },
        },
    }
    spec = {"replicas": replicas, "virtualMachineTemplate": template}
    return obj(vm_fleets.POOLS, "VirtualMachinePool", "desk", spec, metadata={"uid": "p1", "generation": generation})


def machines_of(view: Any) -> dict[str, Any]:
    return {item["metadata"]["name"]: item for item in view.all(virtual_machines.API, "VirtualMachine")}


def test_machines_of_a_fleet_have_numbers_and_volumes_of_their_own(objects: Any) -> None:
    view = objects(fleet(2))

    vm_fleets.reconcile(view)

    found = machines_of(view)
    assert list(found) == ["desk-0", "desk-1"]
    second = found["desk-1"]["spec"]
    assert [template["metadata"]["name"] for template in second["dataVolumeTemplates"]] == ["desk-data-1"]
    assert [volume["dataVolume"]["name"] for volume in second["template"]["spec"]["volumes"]] == [
        "shared",
        "desk-data-1",
    ]
    [pool] = view.all(vm_fleets.POOLS, "VirtualMachinePool")
    assert pool["status"] == {"replicas": 2, "readyReplicas": 0}


def test_a_smaller_fleet_loses_its_highest_numbers_and_the_others_follow_their_template(objects: Any) -> None:
    before, smaller = objects(fleet(3)), objects(fleet(2, generation=2, run="Halted"))
    vm_fleets.reconcile(before)
    stranger = obj(virtual_machines.API, "VirtualMachine", "bastion", {"runStrategy": "Always"})
    for machine in (*machines_of(before).values(), stranger):
        smaller.create(machine)

    vm_fleets.reconcile(smaller)

    found = machines_of(smaller)
    assert {name: machine["spec"]["runStrategy"] for name, machine in found.items()} == {
        "desk-0": "Halted",
        "desk-1": "Halted",
        "bastion": "Always",
    }


def test_the_image_of_importers_is_served(objects: Any) -> None:
    view = objects(obj("v1", "PersistentVolumeClaim", "data"))
    claim = view.get("PersistentVolumeClaim", "data", "ns")

    importers.runs(view, IMPORTER, claim)

    [container] = view.get("Pod", "importer-data", "ns")["spec"]["containers"]
    assert container["image"] in PUBLIC
