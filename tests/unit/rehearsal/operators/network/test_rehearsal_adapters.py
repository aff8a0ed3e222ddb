"""Resources of simulated network device plug-ins are those documented for tenants."""

from __future__ import annotations

import json
from typing import Any

import pytest

from components.inputs.manifests import everything
from components.render.manifest import objects as flat
from components.reports.offerings import offerings
from components.specs.hosts.instance_types import PortUse, RdmaSpec
from components.specs.reading.loader import load_environment
from jacquard.lab.rehearsal.operators.hosts import agents
from jacquard.lab.rehearsal.operators.network import adapters
from jacquard.machine import paths
from tests.support.network.on_infiniband import on_infiniband


@pytest.mark.parametrize(("use", "count"), [(PortUse.WHOLE, "8"), (PortUse.SHARED, "110")])
def test_nodes_offer_ports_as_offerings_say(objects: Any, use: PortUse, count: str) -> None:
    region = on_infiniband(load_environment("laptop", paths.ROOT / "environments"), RdmaSpec(ports=use))
    [resource] = offerings(region).rdma
    rendered = list(flat(everything(region)))
    [policy] = [item.body for item in rendered if item.kind == "NicNodePolicy"]
    [release] = [
        item.body | {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
        for item in rendered
        if item.kind == "HelmRelease" and item.name == "network-operator"
    ]
    owners = [{"kind": "DaemonSet", "name": agents.AGENTS["network-operator"].name}]
    place = {"namespace": release["spec"]["targetNamespace"], "ownerReferences": owners}
    labels = {"n1": policy["spec"]["nodeSelector"], "n2": {}}
    view = objects(
        policy,
        *(
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node, "labels": found}, "status": {}}
            for node, found in labels.items()
        ),
        *(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": f"plugin-{node}", **place},
                "spec": {"nodeName": node},
                "status": {"phase": "Running"},
            }
            for node in labels
        ),
    )

    agents.reconcile(objects(release), resource.cluster, view)

    assert view.get("Node", "n1")["status"]["allocatable"] == {resource.resource: count}
    assert view.get("Node", "n2")["status"] == {}


WHOLE, FUNCTIONS = "nvidia.com/infiniband_port", "nvidia.com/infiniband"
SPACE = "network-operator"
CHOSEN = {"type": "gpus"}


def place(name: str, space: str = "") -> dict[str, str]:
    return {"name": name, **({"namespace": space} if space else {})}


def whole(**selectors: list[str]) -> dict[str, Any]:
    """Return the policy that assigns whole ports."""
    listed = [{"resourceName": "infiniband_port", "resourcePrefix": "nvidia.com", "selectors": selectors}]
    plugin = {"config": json.dumps({"resourceList": listed})}
    spec = {"nodeSelector": CHOSEN, "sriovDevicePlugin": plugin}
    return {"apiVersion": "mellanox.com/v1alpha1", "kind": "NicNodePolicy", "metadata": place("whole"), "spec": spec}


def cut() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the objects that assign two virtual functions of each port."""
    api, selector = "sriovnetwork.openshift.io/v1", {"vendor": "15b3", "deviceID": "1021"}
    spec = {"nodeSelector": CHOSEN, "nicSelector": selector, "numVfs": 2, "resourceName": "infiniband"}
    return (
        {"apiVersion": api, "kind": "SriovOperatorConfig", "metadata": place("default", SPACE), "spec": {}},
        {"apiVersion": api, "kind": "SriovNetworkNodePolicy", "metadata": place("cut", SPACE), "spec": spec},
    )


def offered(view: Any) -> dict[str, str]:
    """Return the resources of the node after its device plug-ins have read the policies."""
    adapters.offer(view, view.get("Node", "n1"), {}, {"spec": {"targetNamespace": SPACE}})
    return dict(view.get("Node", "n1")["status"]["allocatable"])


@pytest.fixture
def node(objects: Any) -> Any:
    """Return a cluster with one node with GPUs."""
    metadata = {**place("n1"), "labels": CHOSEN}
    status = {"allocatable": {"nvidia.com/gpu": "8", "cpu": "4"}}
    return objects({"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status})


@pytest.mark.parametrize(
    ("selectors", "count"),
    [
        ({"vendors": ["15b3"], "devices": ["1021"]}, "8"),
        ({"vendors": ["15b3"], "devices": ["101b", "1021"]}, "8"),
        ({}, "8"),
        ({"vendors": ["15b3"], "devices": ["101b"]}, None),
        ({"vendors": ["8086"]}, None),
    ],
)
def test_ports_of_the_adapter_that_a_policy_selects_are_offered(
    node: Any, selectors: dict[str, list[str]], count: str | None
) -> None:
    node.create(whole(**selectors))

    assert offered(node).get(WHOLE) == count


def test_a_port_with_functions_is_not_assigned_whole_and_nodes_report_removed_resources(node: Any) -> None:
    node.create(whole())
    before = offered(node)
    for one in cut():
        node.create(one)
    with_functions = offered(node)
    for one in cut():
        node.delete(one)

    rest = {"nvidia.com/gpu": "8", "cpu": "4"}
    assert before == {WHOLE: "8", **rest}
    assert with_functions == {WHOLE: "0", FUNCTIONS: "16", **rest}
    assert offered(node) == {WHOLE: "8", FUNCTIONS: "0", **rest}
