"""Simulated nodes have the rendered address of their host in their VPC, or do not become ready."""

from __future__ import annotations

from typing import Any

import pytest

from components.inputs.manifests import everything
from components.render.manifest import Manifest
from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from jacquard.lab.rehearsal.operators.hosts import claims, nodes
from jacquard.lab.rehearsal.operators.hosts.bare_metal import HOST
from jacquard.machine import paths
from tests.support.objects.live_objects import obj

CLUSTER = "research"
PORT = {"nics": [{"name": "enp1s0f0np0"}]}
OF_MACHINE = {"labels": {claims.CLUSTER_LABEL: CLUSTER}, "ownerReferences": [{"kind": "Machine", "name": "m1"}]}


@pytest.fixture(scope="module")
def lab() -> Environment:
    """Return environment lab, whose region allocates addresses."""
    return load_environment("lab", paths.ROOT / "environments")


def region(lab: Environment) -> list[dict[str, Any]]:
    """Return the rendered objects of pool ``h100``, with one of its machines, and a matching host."""
    rendered = {item.kind: item.body for item in everything(lab) if isinstance(item, Manifest) and "-h100" in item.name}
    machine, bootstrap = (
        rendered[kind]["spec"]["template"]["spec"] for kind in ("Metal3MachineTemplate", "KubeadmConfigTemplate")
    )
    labels = machine["hostSelector"]["matchLabels"]
    wanted = {"clusterName": CLUSTER, "bootstrap": {"dataSecretName": "m1", "configRef": {"name": "m1"}}}
    there = {"initialization": {"infrastructureProvisioned": True}}
    return [
        rendered["IPPool"],
        rendered["Metal3DataTemplate"],
        obj(*claims.CLUSTER, CLUSTER, namespace=CLUSTER, status=there),
        obj(*claims.MACHINE, "m1", wanted, CLUSTER),
        obj(claims.API, "Metal3Machine", "m1", machine, CLUSTER, metadata=OF_MACHINE),
        obj(*nodes.KUBEADM, "m1", bootstrap, CLUSTER),
        obj(
            *HOST,
            "a01-u02",
            {},
            CLUSTER,
            metadata={"labels": labels, "uid": "u2"},
            status={"provisioning": {"state": "available"}, "hardware": PORT},
        ),
    ]


def joined(objects: Any, view: Any) -> Any:
    """Return the tenant's cluster after the machine's host, if it got one, runs its image."""
    cluster = objects()
    for _ in range(2):
        claims.reconcile(view)
    host = view.get("BareMetalHost", "a01-u02", CLUSTER)
    if "image" in host["spec"]:
        host["status"]["provisioning"]["state"] = "provisioned"
    for _ in range(2):
        claims.reconcile(view)
        nodes.reconcile(view, lambda _: cluster)
    return cluster


def test_a_node_registers_with_the_address_of_its_host_in_its_vpc(objects: Any, lab: Environment) -> None:
    cluster = joined(objects, objects(*region(lab)))

    [address] = [
        one["address"] for one in cluster.get("Node", "a01-u02")["status"]["addresses"] if one["type"] == "InternalIP"
    ]
    assert address == str(lab.allocations.addresses["a01-u02"])
    assert lab.allocations.addresses["a01-u02"] in lab.allocations.vpcs[CLUSTER].hosts


def test_a_host_without_an_address_gets_no_image(objects: Any, lab: Environment) -> None:
    view = objects(*region(lab))
    view.get("IPPool", "research-h100", CLUSTER)["spec"]["preAllocations"].pop("a01-u02-research-h100")

    assert list(joined(objects, view).all("v1", "Node")) == []
    assert "image" not in view.get("BareMetalHost", "a01-u02", CLUSTER)["spec"]


def test_a_kubelet_without_an_address_does_not_register(objects: Any, lab: Environment) -> None:
    view = objects(*region(lab))
    [name] = [one["metadata"]["name"] for one in view.all(claims.API, "Metal3DataTemplate")]
    template = view.get("Metal3DataTemplate", name, CLUSTER)
    template["spec"]["metaData"]["ipAddressesFromPool"][0]["key"] = "another"

    assert list(joined(objects, view).all("v1", "Node")) == []
    assert "image" in view.get("BareMetalHost", "a01-u02", CLUSTER)["spec"]
