"""Priority levels of requests in a tenant cluster, and the lengths of their queues."""

from __future__ import annotations

from typing import Any

import pytest

from components.inputs.manifests import everything
from components.render.control_planes.request_priority import RequestPriorityInput
from components.render.manifest import Manifest
from tests.support.data.environment_data import REFERENCES, reference

SYSTEM = "kube-system"


def accounts(schema: Manifest) -> set[tuple[str, str]]:
    [rule] = schema.body["spec"]["rules"]
    users = (one["user"]["name"].split(":") for one in rule["subjects"] if one["kind"] == "User")
    groups = (one["group"]["name"].split(":") for one in rule["subjects"] if one["kind"] == "Group")
    return {*((namespace, name) for *_, namespace, name in users), *((namespace, "*") for *_, namespace in groups)}


def waiting(nodes: int) -> Any:
    [level, _] = RequestPriorityInput(name="a", cluster="a", nodes=nodes, installed=()).render()
    return level.body["spec"]["limited"]["limitResponse"]["queuing"]["queueLengthLimit"]


@pytest.mark.parametrize("name", REFERENCES)
def test_all_that_is_installed_in_a_cluster_has_the_level_of_the_platform(name: str) -> None:
    rendered = list(everything(reference(name)))
    installed: dict[str, set[tuple[str, str]]] = {}
    for item in rendered:
        if item.kind == "HelmRelease" and "kubeConfig" in item.body["spec"]:
            cluster = item.body["spec"]["kubeConfig"]["secretRef"]["name"].removesuffix("-kubeconfig")
            place = item.body["spec"]["targetNamespace"]
            # Accounts of kube-system are named individually, since Kubernetes' controllers have accounts there.
            installed.setdefault(cluster, set()).add((place, "*" if place != SYSTEM else item.name))
    levels = {item.cluster: accounts(item) for item in rendered if item.kind == "FlowSchema"}
    agents = {"cilium": "cilium", "kube-ovn": "kube-ovn-cni"}

    assert installed
    assert [
        (cluster, one)
        for cluster, wanted in installed.items()
        for one in wanted
        if (one[0], agents.get(one[1], one[1])) not in levels[cluster]
    ] == []
    assert all((SYSTEM, "*") not in named for named in levels.values())


@pytest.mark.parametrize(("nodes", "requests"), [(1, 50), (300, 50), (301, 51), (6000, 1000)])
def test_a_request_of_an_agent_of_each_node_has_room_to_wait(nodes: int, requests: int) -> None:
    assert waiting(nodes) == requests
    assert 6 * waiting(nodes) >= nodes
