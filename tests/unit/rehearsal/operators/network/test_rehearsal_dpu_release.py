"""The program that releases DPUs, with simulated DPF and Metal3: from a new host to another image."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

from components.programs.dpu_actor import Region
from components.programs.dpu_decision import AWAY, READY, decide
from jacquard.lab.rehearsal.operators.hosts import bare_metal
from jacquard.lab.rehearsal.operators.network import dpu_flashes, dpus
from tests.support.objects.live_objects import obj

METAL3, CAPI = "metal3.io/v1alpha1", "cluster.x-k8s.io/v1beta2"
SETTINGS = {"namespace": "ns", "hosts": ["train"], "clusters": ["train"], "deployments": {"acme": "acme"}}
PLURALS = {
    "dpudeployments": "DPUDeployment",
    "dpus": "DPU",
    "dpunodes": "DPUNode",
    "dpunodemaintenances": "DPUNodeMaintenance",
    "baremetalhosts": "BareMetalHost",
    "machines": "Machine",
    "machinedeployments": "MachineDeployment",
}
STAGES = {"Initializing": "Node Effect", "OS Installing": "Rebooting", "DPU Cluster Config": "Ready"}
"""Effects of the local region's stages on a phase."""


class Api:
    """API server requests of the program, on the objects of a view."""

    def __init__(self, view: Any) -> None:
        self._view = view

    def items(self, version: str, plural: str, namespace: str) -> Iterator[dict[str, Any]]:
        found = self._view.all(version, PLURALS[plural])
        return (item for item in found if item["metadata"]["namespace"] == namespace)

    def note(self, _version: str, _plural: str, body: dict[str, Any], notes: dict[str, str | None]) -> None:
        self._view.patch(body, {"metadata": {"annotations": notes}})

    def delete(self, _version: str, _plural: str, body: dict[str, Any]) -> None:
        self._view.delete(body)


class Rehearsed:
    """One host of a cluster, its DPU and its DPUDeployment."""

    def __init__(self, view: Any) -> None:
        self.view = view
        self.under_feet: list[str] = []

    @property
    def host(self) -> dict[str, Any]:
        return dict(self.view.get("BareMetalHost", "h1", "train"))

    def noted(self, key: str) -> bool:
        return key in (self.host["metadata"].get("annotations") or {})

    def go_on(self, rounds: int = 40) -> None:
        """Run all controllers in turn, and record events of the host while it has a machine."""
        for _ in range(rounds):
            for join in (dpus.reconcile, dpu_flashes.reconcile, bare_metal.switch_power):
                join(self.view)
            for dpu in self.view.all(dpus.API, "DPU"):
                self._stage(dpu)
            region = Region(Api(self.view), SETTINGS)  # type: ignore[arg-type]  # over a view
            for verb, one in decide(region.hosts(), 1, 1):
                region.take(verb, one, dt.datetime(2026, 11, 23, tzinfo=dt.UTC))
            if self.host["spec"].get("consumerRef"):
                self.under_feet += [] if self.host["status"]["poweredOn"] else ["power"]
                self.under_feet += [] if list(self.view.all(dpus.API, "DPU")) else ["network"]
                self._give_back()

    def _stage(self, dpu: dict[str, Any]) -> None:
        phase = (dpu.get("status") or {}).get("phase", "Initializing")
        status: dict[str, Any] = {"phase": STAGES.get(phase, phase)}
        if status["phase"] == "Ready":
            status["operationalConditions"] = [{"type": "OperationalReady", "status": "True"}]
        self.view.status(dpu, status)

    def _give_back(self) -> None:
        """Act as Cluster API and its provider after the deletion of the machine."""
        if self.view.find(CAPI, "Machine", "m1", "train") is None:
            self.view.patch(self.host, {"spec": {"consumerRef": None}})
            self.view.status(self.host, {"provisioning": {"state": "available"}})


def region(objects: Any) -> Rehearsed:
    sets = [{"nameSuffix": "hosts", "dpuNodeSelector": {"matchLabels": {"jacquard.dev/vpc": "acme"}}}]
    ordered = {"bfb": "old", "flavor": "f", "nodeEffect": {"hold": True}, "dpuSets": sets}
    met = {"conditions": [{"type": "PrerequisitesReady", "status": "True"}]}
    labels = {"jacquard.dev/vpc": "acme"}
    reboot = {"dpus": [{"name": "d1"}], "nodeRebootMethod": {"external": {}}}
    status = {"provisioning": {"state": "available"}, "poweredOn": True}
    return Rehearsed(
        objects(
            obj(dpus.SERVICES, "DPUDeployment", "acme", {"dpus": ordered}, status=met),
            obj(dpus.API, "DPUCluster", "dpus"),
            obj(dpus.API, "DPUDevice", "d1", {"serialNumber": "MT1"}),
            obj(dpus.API, "DPUNode", "h1", reboot, metadata={"labels": labels}),
            obj(METAL3, "BareMetalHost", "h1", {"online": True}, "train", status=status),
        )
    )


def with_machine(found: Rehearsed, **spec: Any) -> None:
    """Claim the host for a machine of a group of one."""
    counted = dict.fromkeys(("replicas", "readyReplicas", "availableReplicas", "upToDateReplicas"), 1)
    labels = {"cluster.x-k8s.io/deployment-name": "pool"}
    found.view.create(
        obj(CAPI, "Machine", "m1", {"infrastructureRef": {"name": "m1"}}, "train", metadata={"labels": labels})
    )
    found.view.create(
        obj(
            CAPI,
            "MachineDeployment",
            "pool",
            {"replicas": 1, **spec},
            "train",
            metadata={"generation": 1},
            status={"observedGeneration": 1, **counted},
        )
    )
    found.view.patch(found.host, {"spec": {"consumerRef": {"kind": "Metal3Machine", "name": "m1"}}})
    found.view.status(found.host, {"provisioning": {"state": "provisioned"}})


def test_a_new_host_is_uncordoned_after_hold_flash_and_power_cycle_of_its_dpu(objects: Any) -> None:
    found = region(objects)
    found.go_on(3)
    assert not found.noted(READY)

    found.go_on()

    assert found.noted(READY)
    assert found.view.get("DPU", "h1-d1", "ns")["spec"]["bfb"] == "old"
    assert found.view.find(dpus.API, "DPUNodeMaintenance", "h1-hold", "ns") is None


def test_another_image_reaches_a_used_host_after_its_machine_went(objects: Any) -> None:
    found = region(objects)
    found.go_on()
    with_machine(found)

    found.view.get("DPUDeployment", "acme", "ns")["spec"]["dpus"]["bfb"] = "new"
    found.go_on()

    assert found.view.find(CAPI, "Machine", "m1", "train") is None
    assert found.view.get("DPU", "h1-d1", "ns")["spec"]["bfb"] == "new"
    assert (found.noted(READY), found.noted(AWAY), found.under_feet) == (True, False, [])


def test_another_image_waits_while_the_group_is_paused(objects: Any) -> None:
    found = region(objects)
    found.go_on()
    with_machine(found, paused=True)

    found.view.get("DPUDeployment", "acme", "ns")["spec"]["dpus"]["bfb"] = "new"
    found.go_on()

    assert found.view.get("DPU", "h1-d1", "ns")["spec"]["bfb"] == "old"
    assert (found.noted(READY), found.under_feet) == (True, [])
