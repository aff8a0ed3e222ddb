"""Rails at a real API server, which accepts the updates of simulated components for pools, nodes and pods.

The objects are those rendered for the cluster on rails. No scheduler runs, and no packet is sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from components.inputs.manifests import everything
from components.render.manifest import objects
from components.render.network.rails import resource_of, subnet
from components.specs.base import Network
from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from jacquard.lab.rehearsal import crds
from jacquard.lab.rehearsal.operators.hosts import agents
from jacquard.lab.rehearsal.operators.mirror import Objects
from jacquard.lab.rehearsal.operators.network import adapters
from jacquard.lab.rehearsal.operators.network.address_pools import Blocks
from jacquard.lab.rehearsal.operators.network.attachments import Sandboxes
from jacquard.lab.rehearsal.operators.view import View
from jacquard.lab.rehearsal.region import MANAGEMENT
from jacquard.providers.kube import ApiServer, ObjectRef
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.network.rail_jobs import job, networks_of, own_attachment, pod, refusal

pytestmark = pytest.mark.e2e
CLUSTER, FABRIC, OPERATORS = "wisent-train", "roce-south", "network-operator"
KINDS = {
    "IPPool",
    "NetworkAttachmentDefinition",
    "NicClusterPolicy",
    "SriovNetworkNodePolicy",
    "SriovOperatorConfig",
}
LABELS = {"node-restriction.kubernetes.io/instance-type": "h200-eth-8", "kubernetes.io/os": "linux"}
IMAGE = "rail-2026.11.1"


@pytest.fixture(scope="module")
def environment() -> Environment:
    return load_environment("eu-south-03a", ENVIRONMENTS)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, environment: Environment) -> Iterator[LocalApiServer]:
    """An API server with two nodes on rails and their rendered objects, which represents both clusters."""
    found = LocalApiServer(tmp_path_factory.mktemp("rails") / "server", kinds=("Kustomization",))
    try:
        known = crds.definitions(CLUSTER)
        crds.install(found.api, [crd for crd in known if crd["spec"]["names"]["kind"] in KINDS])
        found.namespace(OPERATORS)
        found.namespace(CLUSTER)
        for one in objects(everything(environment)):
            inside = one.kind in KINDS and one.cluster == CLUSTER
            if inside or (one.kind == "Kustomization" and one.cluster == MANAGEMENT and one.name == "nv-ipam"):
                found.api.apply(one.body, field_manager="test")
        ready = {"conditions": [{"type": "Ready", "status": "True"}]}
        _status(found, ObjectRef("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "nv-ipam", CLUSTER), ready)
        _status(found, ObjectRef("mellanox.com/v1alpha1", "NicClusterPolicy", "nic-cluster-policy"), {"state": "ready"})
        for name in ("a", "b"):
            node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": LABELS}}
            found.api.apply(node, field_manager="test")
            _status(found, ObjectRef.of(node), {"nodeInfo": {"osImage": IMAGE}})
        yield found
    finally:
        found.stop()


def _status(server: LocalApiServer, ref: ObjectRef, status: dict[str, Any]) -> None:
    server.api.patch(ref, {"status": status}, subresource="status", field_manager="test")


class Lists:
    """Objects of a mirror, listed at each read, so that changes of the test are visible immediately."""

    def __init__(self, api: ApiServer) -> None:
        self._api = api

    def objects(self, api_version: str, kind: str) -> Objects:
        listed = self._api.list(api_version, kind)
        return {(one["metadata"].get("namespace", ""), one["metadata"]["name"]): one for one in listed}

    def changed(self, answer: dict[str, Any]) -> None:
        """Do nothing, since no cache could be older than ``answer``."""


class Played:
    """The simulated components of both clusters."""

    def __init__(self, server: LocalApiServer) -> None:
        self._server = server
        self._blocks = Blocks()
        self._sandboxes = Sandboxes({IMAGE}.__contains__)

    def rounds(self, count: int = 2) -> None:
        for _ in range(count):
            view = self._view()
            agents.reconcile(view, CLUSTER, view)
            self._blocks.reconcile(view, CLUSTER, view)
            self._sandboxes.reconcile(view)

    def _view(self) -> View:
        lists: Any = Lists(self._server.api)
        return View(self._server.api, lists)

    def offer(self, node: str) -> None:
        view = self._view()
        found = view.find("v1", "Node", node)
        assert found is not None
        adapters.offer(view, found, {}, {"spec": {"targetNamespace": OPERATORS}})

    def daemon(self, node: str) -> None:
        """Start the IPAM on a node, as the DaemonSet controller and a kubelet do."""
        body = pod(f"daemon-{node}", "", {})
        ref = ObjectRef("apps/v1", "DaemonSet", agents.AGENTS["nv-ipam"].name, OPERATORS)
        uid = (self._server.api.get(ref) or {})["metadata"]["uid"]
        owners = [{"apiVersion": ref.api_version, "kind": ref.kind, "name": ref.name, "uid": uid}]
        body["metadata"] |= {"namespace": OPERATORS, "ownerReferences": owners}
        self.place(body, node)
        _status(self._server, ObjectRef.of(body), {"phase": "Running"})

    def place(self, body: dict[str, Any], node: str) -> None:
        """Create a pod that is scheduled to a node."""
        self._server.api.create({**body, "spec": {**body["spec"], "nodeName": node}}, field_manager="test")

    def reaches(self, name: str, phase: str) -> None:
        """Set the status of a pod as its kubelet does."""
        _status(self._server, ObjectRef("v1", "Pod", name, "default"), {"phase": phase})


@pytest.fixture(scope="module")
def played(server: LocalApiServer) -> Played:
    made = Played(server)
    made.rounds()
    for name in ("a", "b"):
        made.daemon(name)
    return made


def test_nodes_have_blocks_and_pods_of_a_job_addresses_of_the_clusters_prefix(
    server: LocalApiServer, played: Played, environment: Environment
) -> None:
    for name, node in (("rank-0", "a"), ("rank-1", "b"), ("rank-2", "a")):
        played.place(job(FABRIC, name), node)
    played.rounds()
    for name in ("rank-0", "rank-1", "rank-2"):
        played.reaches(name, "Running")
    played.offer("a")

    numbers = environment.allocations.clusters[CLUSTER]
    given = [networks_of(server.api, name) for name in ("rank-0", "rank-1", "rank-2")]
    for networks in given:
        assert [(one["interface"], one["mtu"]) for one in networks] == [(f"net{rail + 1}", 9000) for rail in range(8)]
        for rail, one in enumerate(networks):
            [address] = one["ips"]
            of_rail = subnet(numbers.rail_prefixes[FABRIC], numbers.rail_subnets, rail)
            assert Network(f"{address}/32").subnet_of(of_rail)
    addresses = [address for networks in given for one in networks for address in one["ips"]]
    assert len(set(addresses)) == len(addresses) == 24
    offered = (server.api.get(ObjectRef("v1", "Node", "a")) or {})["status"]["allocatable"]
    assert {name: offered[name] for name in offered if "rail" in name} == {resource_of(rail): "16" for rail in range(8)}


def test_pods_without_pool_or_address_wait_with_a_reason(server: LocalApiServer, played: Played) -> None:
    pools = {"apiVersion": "nv-ipam.nvidia.com/v1alpha1", "kind": "IPPool"}
    spec = {"subnet": "10.9.0.0/30", "perNodeBlockSize": 1}
    for one in (
        {**pools, "metadata": {"name": "narrow", "namespace": OPERATORS}, "spec": spec},
        own_attachment("narrow"),
        own_attachment("nowhere"),
    ):
        server.api.create(one, field_manager="test")
    played.rounds()
    port = {resource_of(0): "1"}
    for name, network in (("first", "narrow"), ("second", "narrow"), ("lost", "nowhere")):
        played.place(pod(name, f"default/{network}", port), "a")
    played.rounds()
    waits = refusal(server.api, "second"), refusal(server.api, "lost")
    played.reaches("first", "Succeeded")
    played.rounds()
    played.reaches("second", "Running")

    assert 'no free addresses in the pool "narrow", poolType "ippool"' in waits[0]
    assert 'configuration for pool "nowhere", poolType "ippool" not found' in waits[1]
    assert networks_of(server.api, "second")[0]["ips"] == ["10.9.0.1"]
