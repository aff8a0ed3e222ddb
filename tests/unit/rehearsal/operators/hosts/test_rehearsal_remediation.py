"""Metal3 reboots the host of an unhealthy machine, retries after a timeout, and stops; kubelets follow the power."""

from __future__ import annotations

from typing import Any

import pytest

from jacquard.lab.rehearsal.operators.hosts import bare_metal, claims, reboots, remediation
from jacquard.lab.rehearsal.operators.hosts.bare_metal import POWER_CYCLE
from jacquard.lab.rehearsal.operators.hosts.remediation import FINALIZER, REMEDIATION, UNHEALTHY
from tests.support.objects.live_objects import obj

PLACE = "acme"
LABEL = {"cluster.x-k8s.io/cluster-name": PLACE}
KUBELET = {"kwok.x-k8s.io/node": "fake"}
READY = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "kubelet is posting ready status"}
LOST = {"type": "GpuLost", "status": "True", "reason": "GpuFellOffTheBus", "message": "Xid 79"}
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
ASKED = f"{POWER_CYCLE}/metal3-remediation-r1"


class Region:
    """A management cluster with one booted host, and the tenant's cluster with its node."""

    def __init__(self, objects: Any, *, online: bool = True, **strategy: Any) -> None:
        consumer = {"kind": "Metal3Machine", "name": "m1", "namespace": PLACE}
        spec = {"online": online, "consumerRef": consumer, "image": {"url": "https://x/gpu-1.raw"}}
        status = {"poweredOn": True, "provisioning": {"state": "provisioned"}}
        machine = {
            "clusterName": PLACE,
            "infrastructureRef": {"kind": "Metal3Machine", "name": "m1"},
            "bootstrap": {},
        }
        self.view = objects(
            obj(*bare_metal.HOST, "h1", spec, PLACE, status=status, metadata={"uid": "u1"}),
            obj(*claims.MACHINE, "m1", machine, PLACE, status={"nodeRef": {"name": "h1"}}),
            obj(
                claims.API,
                "Metal3Machine",
                "m1",
                {"providerID": "metal3://acme/h1/m1"},
                PLACE,
                metadata={
                    "labels": LABEL,
                    "annotations": {"metal3.io/BareMetalHost": f"{PLACE}/h1"},
                    "ownerReferences": [{"kind": "Machine", "name": "m1"}],
                },
            ),
            obj(
                *REMEDIATION,
                "m1",
                {"strategy": {"type": "Reboot", "retryLimit": 1, "timeoutSeconds": 600, **strategy}},
                PLACE,
                metadata={"uid": "r1", "ownerReferences": [{"kind": "Machine", "name": "m1"}]},
            ),
        )
        self.cluster = objects(
            obj(
                "v1",
                "Node",
                "h1",
                {"providerID": "metal3://acme/h1/m1", "taints": []},
                "",
                status={"conditions": [READY, LOST], "nodeInfo": {"bootID": "first"}},
                metadata={"annotations": KUBELET},
            )
        )
        self.kubelets = reboots.Reboots()
        self.trail: list[tuple[Any, ...]] = []

    def rounds(self, count: int) -> None:
        for _ in range(count):
            bare_metal.switch_power(self.view)
            remediation.reconcile(self.view, self.hosted)
            self.kubelets.reconcile(self.view, self.hosted)
            seen = (self.phase, self.host["status"]["poweredOn"], self.ready)
            if seen not in self.trail[-1:]:
                self.trail.append(seen)

    def hosted(self, name: str) -> Any:
        return self.cluster if name == PLACE else None

    @property
    def host(self) -> Any:
        return self.view.get("BareMetalHost", "h1", PLACE)

    @property
    def node(self) -> Any:
        return self.cluster.get("Node", "h1")

    @property
    def repair(self) -> Any:
        return self.view.get("Metal3Remediation", "m1", PLACE)

    @property
    def phase(self) -> Any:
        return self.repair.get("status", {}).get("phase")

    @property
    def ready(self) -> str:
        [ready] = [entry for entry in self.node["status"]["conditions"] if entry["type"] == "Ready"]
        return str(ready["status"])

    def wait_out(self) -> None:
        """Let the timeout of the last attempt elapse."""
        self.repair["status"]["lastRemediated"] = "2026-01-01T00:00:00Z"

    def answer(self) -> None:
        """Execute the stage of a kubelet that is running again."""
        self.node["status"]["conditions"] = [READY, LOST]


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reboots, "BOOT_SECONDS", 0.0)


def test_a_host_is_off_and_on_once_and_its_node_is_out_of_service_in_between(objects: Any) -> None:
    region = Region(objects)
    taints = []
    for _ in range(14):
        region.rounds(1)
        taints.append([taint["key"] for taint in region.node["spec"]["taints"]])

    assert region.trail == [
        ("Running", True, "True"),
        ("Running", False, "True"),
        ("Waiting", False, "Unknown"),
        ("Waiting", True, "Unknown"),
    ]
    assert ([OUT_OF_SERVICE] in taints, taints[0], taints[-1]) == (True, [], [])
    assert FINALIZER not in region.repair["metadata"]["finalizers"]
    assert region.host["metadata"]["annotations"] == {}
    assert region.node["metadata"]["annotations"] == KUBELET
    assert region.node["status"]["nodeInfo"]["bootID"] != "first"
    [event] = region.cluster.all("v1", "Event")
    assert (event["reason"], event["metadata"]["namespace"]) == ("Rebooted", "default")
    assert "retryCount" not in region.repair["status"]


def test_the_power_stays_off_while_a_pod_of_the_node_terminates(objects: Any) -> None:
    region = Region(objects)
    region.cluster.create(
        obj("v1", "Pod", "job", {"nodeName": "h1"}, metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    )
    region.rounds(12)
    assert (region.phase, region.host["status"]["poweredOn"]) == ("Running", False)

    region.cluster.delete(region.cluster.get("Pod", "job", "ns"))
    region.rounds(8)

    assert (region.phase, region.host["status"]["poweredOn"]) == ("Waiting", True)


def test_a_node_that_stays_unhealthy_is_rebooted_again_and_then_its_host_is_marked(objects: Any) -> None:
    region = Region(objects)
    region.rounds(14)
    region.answer()
    region.wait_out()
    region.rounds(14)
    assert (region.phase, region.repair["status"]["retryCount"]) == ("Waiting", 1)

    region.answer()
    region.wait_out()
    region.rounds(4)

    machine = region.view.get("Machine", "m1", PLACE)
    [condition] = machine["status"]["deprecated"]["v1beta1"]["conditions"]
    assert (region.phase, region.host["status"]["poweredOn"]) == ("Deleting machine", True)
    assert region.host["metadata"]["annotations"] == UNHEALTHY
    assert (condition["type"], condition["status"], condition["reason"]) == (
        "OwnerRemediated",
        "False",
        "WaitingForRemediation",
    )
    assert "conditions" not in machine["status"], "upstream sets the deprecated condition only"


def test_a_host_that_is_off_on_purpose_is_not_repaired(objects: Any) -> None:
    region = Region(objects, online=False)

    region.rounds(3)

    assert region.phase == "Failed"
    assert ASKED not in region.host["metadata"].get("annotations", {})


def test_nothing_is_done_with_another_strategy(objects: Any) -> None:
    region = Region(objects, type="Other")

    region.rounds(3)

    assert region.phase is None


def test_a_request_of_an_admin_reboots_a_host_exactly_once(objects: Any) -> None:
    region = Region(objects)
    region.view.delete(region.view.get("Metal3Remediation", "m1", PLACE))
    region.view.edit("BareMetalHost", "h1", PLACE, {"metadata": {"annotations": {POWER_CYCLE: ""}}})
    seen = []
    for _ in range(10):
        bare_metal.switch_power(region.view)
        region.kubelets.reconcile(region.view, region.hosted)
        seen.append(region.host["status"]["poweredOn"])

    assert seen == [False, False, *[True] * 8]
    assert POWER_CYCLE not in region.host["metadata"]["annotations"]
    assert region.node["metadata"]["annotations"] == KUBELET
    assert [event["reason"] for event in region.cluster.all("v1", "Event")] == ["Rebooted"]


def test_a_kubelet_starts_after_the_time_of_a_boot(objects: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reboots, "BOOT_SECONDS", 3600.0)
    region = Region(objects)

    region.rounds(20)

    assert (region.host["status"]["poweredOn"], region.ready) == (True, "Unknown")
    assert "kwok.x-k8s.io/node" not in region.node["metadata"]["annotations"]


def test_a_kubelet_starts_with_its_cluster_and_nodes_are_ignored_until_the_next_reboot(
    objects: Any,
) -> None:
    region = Region(objects)
    region.view.delete(region.view.get("Metal3Remediation", "m1", PLACE))
    stopped = {"metadata": {"annotations": {"kwok.x-k8s.io/node": None}}}
    region.cluster.edit("Node", "h1", "", stopped)
    for _ in range(2):
        region.kubelets.reconcile(region.view, lambda _: None)
    for _ in range(4):
        region.kubelets.reconcile(region.view, region.hosted)
    assert region.node["metadata"]["annotations"] == KUBELET

    region.cluster.edit("Node", "h1", "", stopped)
    for _ in range(4):
        region.kubelets.reconcile(region.view, region.hosted)

    assert "kwok.x-k8s.io/node" not in region.node["metadata"]["annotations"]


@pytest.mark.parametrize(
    ("notes", "online", "state", "on"),
    [
        ({ASKED: '{"mode":"hard"}'}, True, "provisioned", [False] * 3),
        ({ASKED: '{"mode":"hard"}'}, True, "available", [True] * 3),
        ({f"{POWER_CYCLE}d": ""}, True, "provisioned", [True] * 3),
        ({}, False, "provisioned", [False] * 3),
    ],
)
def test_a_request_with_a_name_keeps_the_power_off(
    objects: Any, notes: Any, state: str, on: Any, *, online: bool
) -> None:
    status = {"poweredOn": True, "provisioning": {"state": state}}
    view, seen = (
        objects(obj(*bare_metal.HOST, "h1", {"online": online}, status=status, metadata={"annotations": notes})),
        [],
    )
    for _ in on:
        bare_metal.switch_power(view)
        seen.append(view.get("BareMetalHost", "h1", "ns")["status"]["poweredOn"])

    assert seen == on
    assert view.get("BareMetalHost", "h1", "ns")["metadata"]["annotations"] == notes
