"""IronCore: BMCs create servers, machines claim them, servers become nodes and are released."""

from __future__ import annotations

import base64
import logging
from typing import Any

import pytest

from jacquard.lab.rehearsal.operators.hosts import ironcore, nodes
from tests.support.objects.claimed_servers import (
    CLAIMED,
    IGNITION,
    IMAGE,
    bmc,
    capi,
    claim,
    config,
    login,
    machine,
    secret,
    server,
)


def test_a_bmc_that_accepts_the_operator_creates_its_server(objects: Any) -> None:
    view = objects(login(), bmc("a1", "Pending", sku="h100"))
    ironcore.reconcile(view)
    answer = view.get("BMC", "a1")["status"]
    assert [answer[key] for key in ("ip", "powerState", "state")] == ["10.1.0.1", "On", "Enabled"]

    ironcore.reconcile(view)

    [found] = view.all(ironcore.API, "Server")
    assert found["metadata"]["name"] == "a1-system-0"
    assert found["metadata"]["labels"] == {"sku": "h100"}
    assert found["metadata"]["ownerReferences"][0]["name"] == "a1"
    assert found["spec"] == {"systemUUID": "3fcaf08e-7880-54bd-b976-0e7514ae324b", "bmcRef": {"name": "a1"}}


def test_a_server_gets_new_labels_and_keeps_old_ones(objects: Any) -> None:
    view = objects(login(), bmc("a1", pool="train"), server("a1-system-0"))

    ironcore.reconcile(view)

    assert view.get("Server", "a1-system-0")["metadata"]["labels"] == {"sku": "h100", "pool": "train"}


def test_a_machine_with_bootstrap_data_creates_a_claim(objects: Any) -> None:
    view = objects(machine(), secret(), *capi())

    ironcore.reconcile(view)
    ironcore.reconcile(view)

    made = view.get("ServerClaim", "m1", "acme")
    assert made["spec"] == claim()["spec"]
    assert made["metadata"]["ownerReferences"][0]["kind"] == "IroncoreMetalMachine"
    assert view.get("Secret", "ignition-m1", "acme")["data"] == {"ignition": IGNITION}
    assert view.get("IroncoreMetalMachine", "m1", "acme")["metadata"]["finalizers"] == [
        "infrastructure.cluster.x-k8s.io/ironcoremetalmachine"
    ]


@pytest.mark.parametrize(
    "others",
    [[secret(), *capi(data=None)], [*capi()], [secret(), *capi(provisioned=False)]],
    ids=["no bootstrap data", "its secret is missing", "cluster not ready"],
)
def test_a_machine_waits(objects: Any, others: Any) -> None:
    view = objects(machine(), server("s1"), *others)

    ironcore.reconcile(view)
    ironcore.reconcile(view)

    assert list(view.all(ironcore.API, "ServerClaim")) == []


@pytest.mark.parametrize("value", [base64.b64encode(b"#cloud-config").decode(), "", "%"])
def test_a_machine_rejects_invalid_ignition(objects: Any, caplog: pytest.LogCaptureFixture, value: str) -> None:
    view = objects(machine(), secret(value), *capi())

    with caplog.at_level(logging.WARNING):
        ironcore.reconcile(view)
        ironcore.reconcile(view)

    assert list(view.all(ironcore.API, "ServerClaim")) == []
    assert caplog.messages == ["IroncoreMetalMachine acme/m1: its bootstrap data is not Ignition"]


def test_a_claim_boots_its_server_only_once_that_is_reserved(objects: Any) -> None:
    view = objects(claim(), server("s1"))
    ironcore.reconcile(view)
    found, wish = view.get("Server", "s1"), view.get("ServerClaim", "m1", "acme")
    assert found["spec"]["serverClaimRef"] == {"namespace": "acme", "name": "m1"}
    assert wish["status"] == {"phase": "Unbound"}

    ironcore.reconcile(view)
    ironcore.reconcile(view)
    assert wish["spec"]["serverRef"] == {"name": "s1"}
    assert (wish["metadata"]["finalizers"], wish["status"]) == (
        [CLAIMED],
        {"phase": "Unbound"},
    )
    assert list(view.all(ironcore.API, "ServerBootConfiguration")) == []

    found["status"]["state"] = "Reserved"
    ironcore.reconcile(view)
    [boot] = view.all(ironcore.API, "ServerBootConfiguration")
    assert boot["spec"] == {
        "serverRef": {"name": "s1"},
        "image": IMAGE,
        "ignitionSecretRef": {"name": "ignition-m1"},
    }
    assert found["spec"]["bootConfigurationRef"] == {"namespace": "acme", "name": "m1"}
    assert (found["spec"]["power"], wish["status"]["phase"]) == ("On", "Bound")


@pytest.mark.parametrize(
    "taken",
    [
        server("s1", state="Discovery"),
        server("s1", power="On"),
        server("s1", serverClaimRef={"namespace": "globex", "name": "m1"}),
        server("s1", unclaimable=True),
        server("s1", serverMaintenanceRef={"namespace": "x", "name": "y"}),
        server("s1", taints=[{"key": "broken"}]),
        {**server("s1"), "metadata": {"name": "s1", "labels": {"sku": "h200"}}},
    ],
    ids=["not available", "still on", "claimed", "unclaimable", "in maintenance", "tainted", "another label"],
)
def test_a_claim_leaves_a_server_that_is_not_free(objects: Any, taken: Any) -> None:
    view = objects(claim(), taken)
    before = dict(view.get("Server", "s1")["spec"])

    ironcore.reconcile(view)

    assert view.get("Server", "s1")["spec"] == before


def test_two_claims_never_share_a_server(objects: Any) -> None:
    second = claim(metadata={"name": "m2", "namespace": "acme"})
    view = objects(claim(), second, server("s1"))

    ironcore.reconcile(view)
    ironcore.reconcile(view)

    assert view.get("Server", "s1")["spec"]["serverClaimRef"]["name"] == "m1"
    assert "serverRef" not in view.get("ServerClaim", "m2", "acme")["spec"]


def test_a_bound_claim_makes_its_machine_ready(objects: Any) -> None:
    view = objects(machine(), secret(), claim(status={"phase": "Bound"}), *capi())
    made = view.get("IroncoreMetalMachine", "m1", "acme")

    for _ in range(2):
        ironcore.reconcile(view)
    assert (made["spec"]["providerID"], "status" in made) == ("metal://acme/m1", False)
    ironcore.reconcile(view)

    assert made["status"] == {"ready": True}


def test_a_deleted_machine_is_removed_immediately_and_its_claim_releases_the_server(objects: Any) -> None:
    reference = {"namespace": "acme", "name": "m1"}
    busy = server("s1", "Reserved", "On", serverClaimRef=reference, bootConfigurationRef=reference)
    held = claim(metadata={**reference, "finalizers": [CLAIMED]}, status={"phase": "Bound"})
    held["spec"]["serverRef"] = {"name": "s1"}
    finalizers = ["infrastructure.cluster.x-k8s.io/ironcoremetalmachine"]
    view = objects(machine(deletionTimestamp="now", finalizers=finalizers), held, busy)
    ironcore.reconcile(view)
    assert view.get("IroncoreMetalMachine", "m1", "acme")["metadata"]["finalizers"] == []

    going = view.get("ServerClaim", "m1", "acme")
    going["metadata"]["deletionTimestamp"] = "now"
    ironcore.reconcile(view)
    assert view.get("Server", "s1")["spec"] == {"systemUUID": "system-s1", "power": "Off"}
    assert going["metadata"]["finalizers"] == [CLAIMED]
    ironcore.reconcile(view)
    assert going["metadata"]["finalizers"] == []


def booted(objects: Any, *others: Any, state: str = "Ready", power: str = "On") -> Any:
    """Return the management cluster with a claimed and booted server."""
    reference = {"namespace": "acme", "name": "m1"}
    running = server("s1", "Reserved", power, serverClaimRef=reference, bootConfigurationRef=reference)
    running["status"] |= {"totalSystemMemory": "2Ti", "processors": [{"architecture": "ARM", "totalThreads": 96}] * 2}
    boot = {
        "apiVersion": ironcore.API,
        "kind": "ServerBootConfiguration",
        "metadata": {"name": "m1", "namespace": "acme"},
    }
    ready = machine()
    ready["spec"]["providerID"] = "metal://acme/m1"
    return objects(running, {**boot, "spec": {"image": IMAGE}, "status": {"state": state}}, ready, *others)


def test_a_booted_server_joins_as_a_worker_of_k0s(objects: Any) -> None:
    arguments = ["--labels=image=gpu,pool=train", "--taints=gpu=yes:NoSchedule,idle:NoExecute"]
    cluster = objects()

    nodes.reconcile(booted(objects, config(nodes.K0S_WORKER, args=arguments), *capi()), {"acme": cluster}.get)

    node = cluster.get("Node", "m1")
    assert node["metadata"]["labels"] == {
        "kubernetes.io/hostname": "m1",
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "arm64",
        "k0smotron.io/machine-name": "m1",
        "image": "gpu",
        "pool": "train",
    }
    assert node["spec"] == {
        "providerID": "metal://acme/m1",
        "taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}, {"key": "idle", "effect": "NoExecute"}],
    }
    info = node["status"]["nodeInfo"]
    assert (info["osImage"], info["kubeletVersion"], info["systemUUID"]) == ("gpu-2026.1", "v1.35.2+k0s", "system-s1")
    assert (node["status"]["capacity"]["cpu"], node["status"]["capacity"]["memory"]) == ("192", "2Ti")


@pytest.mark.parametrize("given", ["metal://acme/$${METAL_HOSTNAME}", None])
def test_a_booted_server_that_joins_by_kubeadm_has_the_provider_id_of_its_kubelet(
    objects: Any, given: str | None
) -> None:
    arguments = [{"name": "node-labels", "value": "pool=train"}]
    arguments += [{"name": "provider-id", "value": given}] if given else []
    registration = {"name": "$${METAL_HOSTNAME}", "kubeletExtraArgs": arguments}
    joining = config(nodes.KUBEADM, joinConfiguration={"nodeRegistration": registration})
    cluster = objects()

    nodes.reconcile(booted(objects, joining, *capi("KubeadmConfig")), lambda _: cluster)

    node = cluster.get("Node", "m1")
    assert node["spec"]["providerID"] == ("metal://acme/m1" if given else "")
    assert node["metadata"]["labels"]["pool"] == "train"
    assert node["status"]["nodeInfo"]["kubeletVersion"] == "v1.35.2"


@pytest.mark.parametrize(("state", "power"), [("Pending", "On"), ("Ready", "Off")])
def test_a_server_joins_nothing_before_it_has_booted(objects: Any, state: str, power: str) -> None:
    cluster = objects()

    nodes.reconcile(booted(objects, config(nodes.K0S_WORKER), *capi(), state=state, power=power), lambda _: cluster)

    assert list(cluster.all("v1", "Node")) == []
