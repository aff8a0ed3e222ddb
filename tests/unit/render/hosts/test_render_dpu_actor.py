"""The program that releases the maintenance hold of DPUs, with objects as API servers return them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

import pytest

from components.programs.dpu_actor import OUT_OF_SERVICE, REBOOT, Region, node_name, stuck, whole
from components.programs.dpu_decision import AWAY, CYCLED, READY, Verb, decide
from components.render.hosts.inventory import names_of
from components.specs.environment import Environment
from tests.support.objects.live_objects import obj

DPF, METAL3, CAPI = "provisioning.dpu.nvidia.com/v1alpha1", "metal3.io/v1alpha1", "cluster.x-k8s.io/v1beta2"
HOLD = "provisioning.dpu.nvidia.com/wait-for-external-nodeeffect"
SETTINGS = {
    "namespace": "dpf",
    "hosts": ["train", "inventory"],
    "clusters": ["train"],
    "deployments": {"acme": "acme", "globex": "globex", "unassigned": None},
}
NOW = dt.datetime(2026, 11, 23, 6, 0, tzinfo=dt.UTC)
KINDS = {
    "dpudeployments": "DPUDeployment",
    "dpus": "DPU",
    "dpunodes": "DPUNode",
    "dpunodemaintenances": "DPUNodeMaintenance",
    "baremetalhosts": "BareMetalHost",
    "machines": "Machine",
    "machinedeployments": "MachineDeployment",
}


class Server:
    """API server requests of the program, on a list of objects."""

    def __init__(self, *objects: dict[str, Any]) -> None:
        self.objects = list(objects)
        self.deleted: list[str] = []

    def items(self, version: str, plural: str, namespace: str) -> Iterator[dict[str, Any]]:
        for item in self.objects:
            if (item["apiVersion"], item["kind"], item["metadata"]["namespace"]) == (version, KINDS[plural], namespace):
                yield item

    def note(self, version: str, plural: str, body: dict[str, Any], notes: dict[str, str | None]) -> None:
        assert (body["apiVersion"], body["kind"]) == (version, KINDS[plural])
        held = body["metadata"].setdefault("annotations", {})
        for key, value in notes.items():
            held.pop(key, None)
            if value is not None:
                held[key] = value

    def delete(self, version: str, plural: str, body: dict[str, Any]) -> None:
        assert (body["apiVersion"], body["kind"]) == (version, KINDS[plural])
        self.deleted.append(f"{body['kind']} {body['metadata']['name']}")


def deployment(name: str = "acme", bfb: str = "old") -> dict[str, Any]:
    spec = {"dpus": {"bfb": bfb, "flavor": "f"}}
    return obj("svc.dpu.nvidia.com/v1alpha1", "DPUDeployment", name, spec, namespace="dpf")


def dpu(deployment: str = "acme", phase: str = "Ready", operational: str = "True") -> dict[str, Any]:
    labels = {"svc.dpu.nvidia.com/owned-by-dpudeployment": f"dpf_{deployment}"}
    status = {"phase": phase, "operationalConditions": [{"type": "OperationalReady", "status": operational}]}
    spec = {"dpuNodeName": "h1", "bfb": "old", "dpuFlavor": "f"}
    return obj(DPF, "DPU", "h1-dpu", spec, namespace="dpf", metadata={"labels": labels}, status=status)


def node(vpc: str | None = "acme", **notes: str) -> dict[str, Any]:
    labels = {} if vpc is None else {"jacquard.dev/vpc": vpc}
    return obj(DPF, "DPUNode", "h1", namespace="dpf", metadata={"labels": labels, "annotations": notes})


def host(*, namespace: str = "train", consumer: bool = False, state: str = "available", **notes: str) -> dict[str, Any]:
    spec = {"consumerRef": {"name": "m1"}} if consumer else {}
    status = {"provisioning": {"state": "provisioned" if consumer else state}, "poweredOn": True}
    return obj(METAL3, "BareMetalHost", "h1", spec, namespace, metadata={"annotations": notes}, status=status)


def machine() -> dict[str, Any]:
    labels = {"cluster.x-k8s.io/deployment-name": "pool"}
    return obj(CAPI, "Machine", "m1", {"infrastructureRef": {"name": "m1"}}, "train", metadata={"labels": labels})


def group(**changes: Any) -> dict[str, Any]:
    counted = dict.fromkeys(("replicas", "readyReplicas", "availableReplicas", "upToDateReplicas"), 2)
    status = {"observedGeneration": 3, **counted, **changes.pop("status", {})}
    spec = {"replicas": 2, **changes}
    return obj(CAPI, "MachineDeployment", "pool", spec, "train", metadata={"generation": 3}, status=status)


def run(server: Server) -> list[Verb]:
    region = Region(server, SETTINGS)  # type: ignore[arg-type]  # over a list
    steps = decide(region.hosts(), 5, 5)
    for verb, one in steps:
        region.take(verb, one, NOW)
    return [verb for verb, _ in steps]


def notes(server: Server, kind: str) -> dict[str, str]:
    [found] = [item for item in server.objects if item["kind"] == kind]
    return dict(found["metadata"].get("annotations") or {})


def test_a_new_host_is_opened_once_its_dpu_is_ready_in_its_vpc() -> None:
    server = Server(deployment(), node(), host())
    assert run(server) == []

    hold = obj(DPF, "DPUNodeMaintenance", "h1-hold", {"dpuNodeName": "h1"}, "dpf", metadata={"annotations": {}})
    server.objects += [dpu(phase="Node Effect"), hold]
    assert run(server) == []
    hold["metadata"]["annotations"][HOLD] = "true"
    assert run(server) == [Verb.RELEASE]
    assert notes(server, "DPUNodeMaintenance") == {HOLD: "false"}
    assert run(server) == []

    server.objects[1]["metadata"]["annotations"][REBOOT] = "true"
    assert run(server) == [Verb.CYCLE]
    assert notes(server, "BareMetalHost") == {"reboot.metal3.io": '{"mode":"hard","force":true}', CYCLED: "true"}
    bare = server.objects[2]
    assert run(server) == []
    del bare["metadata"]["annotations"]["reboot.metal3.io"]
    bare["status"]["poweredOn"] = False
    assert run(server) == []
    bare["status"]["poweredOn"] = True
    assert run(server) == [Verb.DONE]
    assert (notes(server, "BareMetalHost"), notes(server, "DPUNode")) == ({}, {})

    server.objects[3]["status"]["phase"] = "Ready"
    assert run(server) == [Verb.MARK]
    assert notes(server, "BareMetalHost") == {READY: "acme"}
    assert run(server) == []


def test_a_used_host_is_drained_and_its_dpu_recreated_by_its_deployment() -> None:
    server = Server(deployment(bfb="new"), dpu(), node(), host(consumer=True, **{READY: "acme"}), machine(), group())

    assert run(server) == [Verb.TAKE]
    assert notes(server, "BareMetalHost") == {AWAY: "2026-11-23T06:00:00+00:00"}
    assert run(server) == [Verb.EMPTY]
    assert server.deleted == ["Machine m1"]

    bare = server.objects[3]
    bare["spec"], bare["status"]["provisioning"] = {}, {"state": "deprovisioning"}
    assert run(server) == []
    bare["status"]["provisioning"] = {"state": "available"}
    assert run(server) == [Verb.DELETE]
    assert server.deleted[1:] == ["DPU h1-dpu"]


@pytest.mark.parametrize(
    "held",
    [
        group(paused=True),
        group(replicas=3),
        group(status={"readyReplicas": 1}),
        group(status={"availableReplicas": 1}),
        group(status={"upToDateReplicas": 1}),
        group(status={"replicas": 3}),
        group(status={"observedGeneration": 2}),
        None,
    ],
)
def test_a_machine_is_kept_while_its_group_is_incomplete_or_a_hold_exists(held: dict[str, Any] | None) -> None:
    assert whole(group())
    assert not whole(held)
    there = [deployment(bfb="new"), dpu(), node(), host(consumer=True, **{READY: "acme"}), machine()]

    assert run(Server(*there, *([held] if held else []))) == []


@pytest.mark.parametrize(
    ("found", "where"),
    [
        (dpu("globex"), node("acme")),
        (dpu("unassigned"), node("acme")),
        (dpu("acme"), node(None)),
        (dpu("unknown"), node(None)),
        (dpu(operational="False"), node()),
        (dpu(phase="OS Installing"), node()),
    ],
)
def test_a_host_stays_cordoned_while_its_dpu_is_not_ready_in_its_vpc(found: Any, where: Any) -> None:
    names = ("acme", "globex", "unassigned")
    server = Server(*map(deployment, names), found, where, host())

    assert run(server) == []


def test_a_free_host_is_opened_like_any_other() -> None:
    server = Server(deployment("unassigned"), dpu("unassigned"), node(None), host(namespace="inventory"))

    assert run(server) == [Verb.MARK]


@pytest.mark.parametrize(("hours", "late"), [(3, []), (5, ["h1"])])
def test_a_host_unavailable_for_too_long_is_reported(hours: int, late: list[str]) -> None:
    since = (NOW - dt.timedelta(hours=hours)).isoformat(timespec="seconds")

    assert stuck([host(**{AWAY: since}), host()], NOW, 240) == late


def test_hosts_under_manual_work_are_skipped() -> None:
    out = host(**{OUT_OF_SERVICE: "", AWAY: (NOW - dt.timedelta(days=2)).isoformat()})

    assert run(Server(deployment(), dpu(), node(**{REBOOT: "true"}), out)) == []
    assert stuck([out], NOW, 240) == []


def test_a_host_finds_its_dpunode_by_its_inventory_name(laptop: Environment) -> None:
    for name in ("a01-u01", "x" * 48, "x" * 49, f"{'x' * 38}-{'y' * 20}"):
        renamed = laptop.hosts[0].model_copy(update={"host": name})
        assert node_name(name) == names_of(renamed)[2]
