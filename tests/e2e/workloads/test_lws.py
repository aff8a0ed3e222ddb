"""Groups of an endpoint by LeaderWorkerSet's real controller: StatefulSets, exclusive racks, and failing webhooks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from components.inputs.cluster_namespaces import of_cluster as namespaces
from components.inputs.slice_inputs import pod_priorities
from components.inputs.workloads import serving
from components.lookups.pools import clusters
from components.render import labels as keys
from components.render.workloads.serving import BASE, INDEX_LABEL, SET_LABEL
from components.specs.struct import replace
from components.specs.workloads.serving import ServingSpec
from jacquard.lab.toolchain import binaries
from jacquard.machine.errors import ToolchainError
from jacquard.providers.kube import ApiError, ObjectRef
from tests.support.data.environment_data import reference
from tests.support.data.small_region import changed
from tests.support.workloads.lws_api_server import LwsCluster
from tests.support.workloads.serving_example import completed

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

SPACE, POOL, SIZE = "inference", "nvl72", 4
ENDPOINT: dict[str, Any] = {
    "name": "chat",
    "namespace": SPACE,
    "pool": POOL,
    "groups": 3,
    "nodes": SIZE,
    "within": "rack",
    "exposure": "load-balancer",
    "bucket": "weights",
}
RACKS = 2
"""Number of racks with nodes: one group has none."""
SETS = ("apps/v1", "StatefulSet")


class Endpoint:
    """The endpoint at a running controller."""

    def __init__(self, lws: LwsCluster, base: dict[str, Any], service: dict[str, Any]) -> None:
        self.lws, self.base, self.service = lws, base, service

    def group(self, index: int) -> list[dict[str, Any]]:
        """Return the pods of a group, by name."""
        labels = {SET_LABEL: "chat", "leaderworkerset.sigs.k8s.io/group-index": str(index)}
        return self.lws.pods(SPACE, labels)

    def workers(self, index: int) -> dict[str, Any] | None:
        """Return the StatefulSet of the workers of a group; None before it exists."""
        found: dict[str, Any] | None = self.lws.api.get(ObjectRef(*SETS, f"chat-{index}", SPACE))
        return found


def creates(lws: LwsCluster, body: dict[str, Any]) -> str:
    """Return the API server's reason for rejecting the creation of an object; empty if it is created."""
    try:
        lws.api.create(body, field_manager="test")
    except ApiError as error:
        return str(error)
    return ""


def pod(name: str, labels: dict[str, str]) -> dict[str, Any]:
    """Return a pod that the Pod Security standard of the namespace permits."""
    container = {
        "name": "main",
        "image": "example/one",
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    spec = {
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [container],
    }
    metadata = {"name": name, "namespace": SPACE, "labels": labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    try:
        binaries.path("lws-manager")
    except ToolchainError as error:
        pytest.skip(f"NO LEADERWORKERSET: {error}; make test-nightly builds it")
    environment = reference("us-east-04a")
    [found] = [one for one in clusters(environment) if one.cluster.name == "aurelia-train"]
    spec = ServingSpec.model_validate({"priority": "high", "endpoints": [ENDPOINT]})
    # Without InfiniBand, since nodes without a kubelet have no such ports.
    placed = replace(found, cluster=changed(found.cluster, queues=None, serving=spec))
    [given] = serving.of_cluster(environment, placed)
    [served] = given.endpoints
    gpus = {name: count for name, count in served.limits.items() if "gpu" in name}
    given = replace(given, endpoints=(replace(served, limits=gpus, networks=()),))
    objects = {item.kind: dict(item.body) for item in given.render()}
    owners = environment.allocations.hosts
    hosts = [host for host in environment.hosts if owners.get(host.host) == f"aurelia-train/{POOL}"]
    racks = sorted({host.rack for host in hosts})[:RACKS]

    lws = LwsCluster(tmp_path_factory.mktemp("lws"), environment, placed)
    try:
        for inputs in (namespaces, pod_priorities):
            for item in (item for made in inputs(environment, placed) for item in made.render()):
                lws.api.apply(dict(item.body), field_manager="jacquard", force=True)
        lws.add_nodes(POOL, racks)
        for body in objects.values():
            lws.api.apply(body, field_manager="jacquard", force=True)
        base = completed(yaml.safe_load(objects["ConfigMap"]["data"][BASE]))
        yield Endpoint(lws, base, objects["Service"])
    finally:
        lws.stop()


def test_while_the_controller_is_down_only_its_groups_are_rejected(endpoint: Endpoint) -> None:
    lws = endpoint.lws
    lws.until(lambda: "mpod.kb.io" in creates(lws, pod("member", {SET_LABEL: "chat"})), "the webhooks are in force")

    assert creates(lws, pod("other", {"app": "other"})) == ""
    assert "mleaderworkerset.kb.io" in creates(lws, endpoint.base)


def test_leaders_start_first_and_their_workers_are_in_their_rack(endpoint: Endpoint) -> None:
    lws = endpoint.lws
    lws.controller.start()
    lws.until(lambda: creates(lws, endpoint.base) in ("", "exists"), "the controller accepts the documented example")
    lws.until(lambda: len([i for i in range(3) if endpoint.workers(i)]) == RACKS, "two groups have workers")

    leaders = lws.api.get(ObjectRef(*SETS, "chat", SPACE)) or {}
    assert leaders["spec"]["replicas"] == 3
    lws.until(lambda: sum(len(endpoint.group(i)) for i in range(3)) == RACKS * SIZE + 1, "all workers exist")
    placed = [i for i in range(3) if endpoint.workers(i)]
    lws.until(
        lambda: sum(lws.rack(member) is not None for i in placed for member in endpoint.group(i)) == RACKS * SIZE,
        "all pods of two groups have nodes",
    )
    for index in placed:
        racks = {lws.rack(member) for member in endpoint.group(index)}
        workers = endpoint.workers(index) or {}
        assert len(racks) == 1
        selector = workers["spec"]["template"]["spec"]["nodeSelector"]
        assert selector == {keys.NODE_POOL: POOL, keys.RACK: racks.pop()}
        assert (workers["spec"]["replicas"], workers["spec"]["ordinals"]["start"]) == (SIZE - 1, 1)


def test_each_group_has_its_own_rack_and_a_group_without_one_waits(endpoint: Endpoint) -> None:
    lws = endpoint.lws
    racks = {i: {lws.rack(member) for member in endpoint.group(i)} for i in range(3)}
    [waiting] = [i for i in range(3) if not endpoint.workers(i)]

    assert racks.pop(waiting) == {None}
    assert len(set.union(*racks.values())) == RACKS
    [leader] = endpoint.group(waiting)
    lws.until(
        lambda: any(
            item["type"] == "PodScheduled" and "anti-affinity" in item.get("message", "")
            for item in endpoint.group(waiting)[0].get("status", {}).get("conditions", ())
        ),
        f"{leader['metadata']['name']} waits because of other groups",
    )


def test_the_service_selects_the_leaders_and_not_the_headless_service_of_the_group(endpoint: Endpoint) -> None:
    lws = endpoint.lws
    selected = [item["metadata"]["name"] for item in lws.pods(SPACE, endpoint.service["spec"]["selector"])]
    headless = lws.api.get(ObjectRef("v1", "Service", "chat", SPACE)) or {}
    balanced = lws.api.get(ObjectRef("v1", "Service", "endpoint-chat", SPACE)) or {}

    assert selected == ["chat-0", "chat-1", "chat-2"]
    assert (headless["spec"]["clusterIP"], balanced["spec"]["type"]) == ("None", "LoadBalancer")


def test_containers_have_the_variables_of_the_documented_command(endpoint: Endpoint) -> None:
    [index, *_] = [i for i in range(3) if endpoint.workers(i)]
    found = []
    for member in endpoint.group(index):
        [container] = member["spec"]["containers"]
        values = {item["name"]: item.get("value") for item in container["env"]}
        found.append(values)
        assert member["metadata"]["labels"][INDEX_LABEL] == values["LWS_WORKER_INDEX"]

    assert {values["LWS_LEADER_ADDRESS"] for values in found} == {f"chat-{index}.chat.{SPACE}"}
    assert {values["LWS_GROUP_SIZE"] for values in found} == {str(SIZE)}
    assert sorted(values["LWS_WORKER_INDEX"] for values in found) == [str(i) for i in range(SIZE)]
