"""Simulated virtual machines and fleets: their objects, their nodes and the drivers of their volumes."""

from __future__ import annotations

from typing import Any

import pytest

from jacquard.lab.rehearsal.operators.vms import virtual_machines, vm_fleets, volumes
from tests.support.objects.live_objects import obj
from tests.support.vms.vm_parts import KUBEVIRT, storage_class


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
def test_a_vm_is_only_scheduled_to_nodes_with_a_handler(
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


def test_a_vm_is_only_scheduled_to_a_schedulable_node(objects: Any) -> None:
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


def test_a_vm_only_starts_on_nodes_with_the_drivers_of_its_volumes(objects: Any) -> None:
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


def test_vms_and_disks_wait_for_the_operators(objects: Any) -> None:
    starting = {**KUBEVIRT, "status": {"phase": "Deploying"}}
    spec = {"storage": {"storageClassName": "vast", "resources": {"requests": {"storage": "1Gi"}}}}
    view = objects(vm(), SIZE, ROOT, starting, obj(volumes.CDI, "DataVolume", "image", spec), storage_class())

    virtual_machines.reconcile(view)
    volumes.reconcile(view)

    assert list(view.all(virtual_machines.API, "VirtualMachineInstance")) == []
    assert list(view.all("v1", "PersistentVolumeClaim")) == []


def fleet(replicas: int, generation: int = 1, run: str = "Always") -> dict[str, Any]:
    """Return a fleet whose machines have one volume each."""
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


def test_machines_of_a_fleet_have_separate_numbers_and_volumes(objects: Any) -> None:
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
