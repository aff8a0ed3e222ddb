"""Machines claim and release hosts; hosts become nodes."""

from __future__ import annotations

from typing import Any

import pytest

from components.render.region import cluster_api
from jacquard.lab.rehearsal.operators.hosts import claims, nodes
from tests.support.data.workbench import Workbench

CAPI = "cluster.x-k8s.io/v1beta2"
LABEL = {"cluster.x-k8s.io/cluster-name": "acme"}
CLAIMED = {
    "consumerRef": {"kind": "Metal3Machine", "name": "m1", "namespace": "acme"},
    "image": {"url": "https://x/gpu-1.raw"},
    "online": True,
}


def host(name: str, state: str = "available", labels: Any = None, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "metal3.io/v1alpha1",
        "kind": "BareMetalHost",
        "metadata": {"name": name, "namespace": "acme", "uid": f"uid-{name}", "labels": labels or {"sku": "h100"}},
        "spec": spec,
        "status": {"provisioning": {"state": state}, "errorMessage": ""},
    }


def machine(**metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": claims.API,
        "kind": "Metal3Machine",
        "metadata": {
            "name": "m1",
            "namespace": "acme",
            "labels": LABEL,
            "ownerReferences": [{"kind": "Machine", "name": "m1"}],
            **metadata,
        },
        "spec": {
            "image": {"url": "https://x/gpu-1.raw", "checksum": "c", "checksumType": "sha256", "diskFormat": "raw"},
            "hostSelector": {"matchLabels": {"sku": "h100"}},
        },
    }


def capi(*, data: str | None = "m1", provisioned: bool = True, **spec: Any) -> list[dict[str, Any]]:
    cluster = {"apiVersion": CAPI, "kind": "Cluster", "metadata": {"name": "acme", "namespace": "acme"}, "spec": {}}
    cluster["status"] = {"initialization": {"infrastructureProvisioned": provisioned}}
    bootstrap = {"dataSecretName": data, "configRef": {"name": "m1"}}
    body = {"clusterName": "acme", "bootstrap": bootstrap, "version": "v1.35.2", **spec}
    return [
        cluster,
        {"apiVersion": CAPI, "kind": "Machine", "metadata": {"name": "m1", "namespace": "acme"}, "spec": body},
    ]


def kubeadm(labels: str = "metal3.io/uuid={{ ds.meta_data.uuid }}") -> dict[str, Any]:
    arguments = [{"name": "node-labels", "value": labels}]
    return {
        "apiVersion": nodes.KUBEADM[0],
        "kind": nodes.KUBEADM[1],
        "metadata": {"name": "m1", "namespace": "acme"},
        "spec": {"joinConfiguration": {"nodeRegistration": {"kubeletExtraArgs": arguments}}},
    }


def booted(**hardware: Any) -> list[dict[str, Any]]:
    joined, bare = machine(), host("h1", "provisioned", **CLAIMED)
    joined["spec"]["providerID"] = "metal3://acme/h1/m1"
    bare["status"]["hardware"] = hardware
    return [joined, bare]


def claimed(view: Any, name: str = "h1") -> bool:
    return "consumerRef" in view.get("BareMetalHost", name, "acme")["spec"]


@pytest.mark.parametrize(
    ("selector", "matches"),
    [
        ({}, True),
        ({"matchLabels": {"sku": "h100"}}, True),
        ({"matchLabels": {"sku": "h200"}}, False),
        ({"matchExpressions": [{"key": "rack", "operator": "in", "values": ["a01"]}]}, True),
        ({"matchExpressions": [{"key": "rack", "operator": "In", "values": ["a02"]}]}, False),
        ({"matchExpressions": [{"key": "rack", "operator": "notin", "values": ["a02"]}]}, True),
        ({"matchExpressions": [{"key": "gone", "operator": "exists", "values": []}]}, False),
        ({"matchExpressions": [{"key": "gone", "operator": "DoesNotExist"}]}, True),
        ({"matchExpressions": [{"key": "rack", "operator": "=", "values": ["a01"]}]}, True),
    ],
)
def test_a_selector_matches_labels(selector: Any, *, matches: bool) -> None:
    assert claims.selects(selector, {"sku": "h100", "rack": "a01"}) is matches


def test_a_machine_with_bootstrap_data_claims_a_host(objects: Any) -> None:
    view = objects(machine(), host("h1"), *capi())

    claims.reconcile(view)

    found = view.get("BareMetalHost", "h1", "acme")
    assert found["spec"] == {
        "consumerRef": {"apiVersion": claims.API, "kind": "Metal3Machine", "name": "m1", "namespace": "acme"},
        "image": {"url": "https://x/gpu-1.raw", "checksum": "c", "checksumType": "sha256", "format": "raw"},
        "userData": {"name": "m1", "namespace": "acme"},
        "online": True,
    }
    assert found["metadata"]["labels"] == {"sku": "h100", **LABEL}


@pytest.mark.parametrize(
    "others",
    [
        [host("h1"), *capi(data=None)],
        [host("h1"), *capi(provisioned=False)],
        [host("h1", state="inspecting"), *capi()],
        [host("h1", labels={"sku": "h200"}), *capi()],
        [host("h1", consumerRef={"kind": "Metal3Machine", "name": "m2", "namespace": "acme"}), *capi()],
    ],
    ids=["no bootstrap data", "cluster not ready", "host not available", "host does not match", "host is taken"],
)
def test_a_machine_waits(objects: Any, others: Any) -> None:
    view = objects(machine(), *others)
    before = dict(view.get("BareMetalHost", "h1", "acme")["spec"])

    claims.reconcile(view)

    assert view.get("BareMetalHost", "h1", "acme")["spec"] == before


def test_a_machine_without_its_data_template_claims_nothing_and_reports_it(objects: Any) -> None:
    waiting = machine()
    waiting["spec"]["dataTemplate"] = {"name": "gone"}
    view = objects(waiting, host("h1"), *capi())

    claims.reconcile(view)

    assert not claimed(view)
    [condition] = view.get("Metal3Machine", "m1", "acme")["status"]["conditions"]
    assert (condition["type"], condition["status"], condition["message"]) == (
        "AssociateBareMetalHost",
        "False",
        "Metal3DataTemplate 'gone' not found",
    )


def test_two_machines_never_share_a_host(objects: Any) -> None:
    second = machine(name="m2")
    view = objects(machine(), second, host("h1"), *capi())

    claims.reconcile(view)

    assert view.get("BareMetalHost", "h1", "acme")["spec"]["consumerRef"]["name"] == "m1"


def test_a_host_whose_claim_is_rejected_is_not_tried_again_in_the_same_round(objects: Any) -> None:
    """Otherwise a region with M machines and H hosts that wait for their DPUs would send M * H requests each round."""
    second = machine(name="m2", ownerReferences=[{"kind": "Machine", "name": "m1"}])
    view = objects(machine(), second, host("h1"), host("h2"), host("h3"), *capi())
    view.refused = {"h1", "h2"}

    claims.reconcile(view)

    assert view.attempts == ["h1", "h2", "h3"]
    assert view.get("BareMetalHost", "h3", "acme")["spec"]["consumerRef"]["name"] == "m1"
    assert "status" not in view.get("Metal3Machine", "m2", "acme")


def test_a_machine_without_its_data_template_reports_it_after_rejected_claims(objects: Any) -> None:
    second = machine(name="m2")
    second["spec"]["dataTemplate"] = {"name": "gone"}
    view = objects(machine(), second, host("h1"), *capi())
    view.refused = {"h1"}

    claims.reconcile(view)

    [condition] = view.get("Metal3Machine", "m2", "acme")["status"]["conditions"]
    assert condition["message"] == "Metal3DataTemplate 'gone' not found"


def test_a_host_of_the_machines_failure_domain_is_preferred(objects: Any) -> None:
    far = host("h1")
    near = host("h2", labels={"sku": "h100", "infrastructure.cluster.x-k8s.io/failure-domain": "a02"})
    view = objects(machine(), far, near, *capi(failureDomain="a02"))

    claims.reconcile(view)

    assert (claimed(view, "h1"), claimed(view, "h2")) == (False, True)


def test_a_provisioned_host_makes_its_machine_ready(objects: Any) -> None:
    view = objects(machine(), host("h1"), *capi())
    claims.reconcile(view)
    claims.reconcile(view)
    waiting = view.get("Metal3Machine", "m1", "acme")
    assert waiting["metadata"]["annotations"] == {"metal3.io/BareMetalHost": "acme/h1"}
    assert "providerID" not in waiting["spec"]

    view.get("BareMetalHost", "h1", "acme")["status"]["provisioning"]["state"] = "provisioned"
    claims.reconcile(view)
    claims.reconcile(view)

    ready = view.get("Metal3Machine", "m1", "acme")
    assert ready["spec"]["providerID"] == "metal3://acme/h1/m1"
    assert ready["status"]["initialization"] == {"provisioned": True}


def test_a_released_host_keeps_its_power_with_the_rendered_provider_only(objects: Any, laptop: Workbench) -> None:
    environment = laptop.load()
    providers = [item.body for item in cluster_api.render(environment.region, environment.versions.cluster_api)]
    rendered = objects(*providers, machine(deletionTimestamp="now"), host("h1", "provisioned", **CLAIMED))
    published = objects(machine(deletionTimestamp="now"), host("h1", "provisioned", **CLAIMED))

    for view in (rendered, published):
        claims.reconcile(view)

    after = [view.get("BareMetalHost", "h1", "acme")["spec"] for view in (rendered, published)]
    assert [("image" in spec, spec["online"]) for spec in after] == [(False, True), (False, False)]


def test_a_deleted_machine_is_removed_only_when_its_host_is_clean(objects: Any) -> None:
    view = objects(machine(), host("h1"), *capi())
    claims.reconcile(view)
    claims.reconcile(view)
    bare = view.get("BareMetalHost", "h1", "acme")
    going = view.get("Metal3Machine", "m1", "acme")
    bare["status"]["provisioning"]["state"] = "provisioned"
    going["metadata"]["deletionTimestamp"] = "now"

    claims.reconcile(view)
    assert ("image" in bare["spec"], "consumerRef" in bare["spec"]) == (False, True)
    bare["status"]["provisioning"]["state"] = "deprovisioning"
    claims.reconcile(view)
    assert "consumerRef" in bare["spec"]
    bare["status"]["provisioning"]["state"] = "available"
    claims.reconcile(view)
    assert "consumerRef" not in bare["spec"]
    assert bare["metadata"]["labels"] == {"sku": "h100"}
    assert going["metadata"]["finalizers"] == ["metal3machine.infrastructure.cluster.x-k8s.io"]
    claims.reconcile(view)
    assert going["metadata"]["finalizers"] == []


def test_a_provisioned_host_joins_its_cluster_as_a_node(objects: Any) -> None:
    config = kubeadm("metal3.io/uuid={{ ds.meta_data.uuid }},pool=train")
    cluster, joined = objects(), booted(cpu={"count": 64}, ramMebibytes=1024)

    nodes.reconcile(objects(*joined, config, *capi()), lambda name: cluster if name == "acme" else None)

    node = cluster.get("Node", "h1")
    assert node["spec"] == {"providerID": "metal3://acme/h1/m1", "taints": []}
    assert node["metadata"]["labels"] == {
        "kubernetes.io/hostname": "h1",
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "metal3.io/uuid": "uid-h1",
        "pool": "train",
    }
    assert node["metadata"]["annotations"] == {"kwok.x-k8s.io/node": "fake"}
    assert (node["status"]["nodeInfo"]["osImage"], node["status"]["nodeInfo"]["kubeletVersion"]) == ("gpu-1", "v1.35.2")
    assert node["status"]["capacity"]["cpu"] == "64"


@pytest.mark.parametrize(("reported", "architecture"), [("x86_64", "amd64"), ("aarch64", "arm64")])
def test_a_node_has_the_architecture_of_its_host(objects: Any, reported: str, architecture: str) -> None:
    joined = booted(cpu={"arch": reported, "count": 64}, ramMebibytes=1024)
    cluster = objects()

    nodes.reconcile(objects(*joined, kubeadm(), *capi()), lambda _: cluster)

    node = cluster.get("Node", "h1")
    assert node["metadata"]["labels"]["kubernetes.io/arch"] == architecture
    assert node["status"]["nodeInfo"]["architecture"] == architecture


def test_a_node_claims_no_kernel_and_no_runtime_since_its_image_has_none(objects: Any) -> None:
    cluster = objects()

    nodes.reconcile(objects(*booted(), kubeadm(), *capi()), lambda _: cluster)

    reported = cluster.get("Node", "h1")["status"]["nodeInfo"]
    assert [reported[name] for name in ("kernelVersion", "containerRuntimeVersion", "kubeProxyVersion")] == ["", "", ""]


def test_metal3_finds_no_node_without_the_uuid_of_its_host(objects: Any) -> None:
    cluster = objects()

    nodes.reconcile(objects(*booted(), kubeadm("pool=train"), *capi()), lambda _: cluster)

    assert list(cluster.all("v1", "Node")) == []


def test_a_host_whose_cluster_does_not_answer_waits(objects: Any) -> None:
    nodes.reconcile(objects(*booted(), *capi()), lambda _: None)
