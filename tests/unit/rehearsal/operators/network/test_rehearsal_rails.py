"""Pods on rails get one interface for each rail by the rendered objects, with an address of the node's block."""

from __future__ import annotations

import json
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Any

import pytest

from components.inputs.manifests import everything
from components.render.manifest import objects as flat
from components.render.network.port_functions import NETWORKS
from components.render.network.rails import attachment_of, resource_of
from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from jacquard.lab.rehearsal.operators.hosts import agents
from jacquard.lab.rehearsal.operators.network import adapters
from jacquard.lab.rehearsal.operators.network.address_pools import NETWORK_STATUS, POOL, Blocks
from jacquard.lab.rehearsal.operators.network.attachments import Sandboxes
from jacquard.machine import paths

CLUSTER, FABRIC, OPERATORS = "wisent-train", "roce-south", "network-operator"
KIND, IMAGE = "node-restriction.kubernetes.io/instance-type", "rail-2026.11.1"
INSIDE = {
    "IPPool",
    "NetworkAttachmentDefinition",
    "NicClusterPolicy",
    "SriovNetworkNodePolicy",
    "SriovOperatorConfig",
}
DAEMON = agents.AGENTS["nv-ipam"].name


@pytest.fixture(scope="module")
def region() -> Environment:
    return load_environment("eu-south-03a", paths.ROOT / "environments")


@dataclass
class Played:
    """A management cluster and a tenant's cluster with two nodes on rails, and the rendered objects of the fabric."""

    management: Any
    tenant: Any
    exclusive: set[str]
    """Images whose kernel restricts RDMA devices to one network namespace."""
    blocks: Blocks
    sandboxes: Sandboxes

    def rounds(self, count: int = 2) -> None:
        for _ in range(count):
            agents.reconcile(self.management, CLUSTER, self.tenant)
            self.blocks.reconcile(self.management, CLUSTER, self.tenant)
            self.sandboxes.reconcile(self.tenant)

    def node(self, name: str, kind: str = "h200-eth-8") -> None:
        labels = {KIND: kind, "kubernetes.io/os": "linux"}
        info = {"nodeInfo": {"osImage": IMAGE}}
        self.tenant.create(
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "status": info}
        )
        owners = [{"kind": "DaemonSet", "name": DAEMON}]
        metadata = {"name": f"daemon-{name}", "namespace": OPERATORS, "ownerReferences": owners}
        self.tenant.create({**pod_of(metadata, name), "status": {"phase": "Running"}})

    def pod(self, name: str, *networks: str, node: str = "n1", devices: int = 1) -> None:
        named = networks or [attachment_of(FABRIC, rail) for rail in range(8)]
        metadata = {"name": name, "namespace": "jobs", "annotations": {NETWORKS: ",".join(named)}}
        limits = {resource_of(rail): str(devices) for rail in range(8)} if devices else {}
        self.tenant.create(pod_of(metadata, node, resources={"limits": limits}))

    def got(self, name: str) -> list[dict[str, Any]]:
        text = self.tenant.get("Pod", name, "jobs")["metadata"]["annotations"].get(NETWORK_STATUS, "[]")
        found: list[dict[str, Any]] = json.loads(text)
        return found

    def refusals(self, name: str) -> list[str]:
        events = self.tenant.all("v1", "Event")
        return [one["message"] for one in events if one["involvedObject"]["name"] == name]

    def allocations(self, pool: str) -> list[dict[str, str]]:
        found: list[dict[str, str]] = self.tenant.get("IPPool", pool, OPERATORS)["status"]["allocations"]
        return found

    def own(self, name: str, **pool: Any) -> None:
        """Create objects as a tenant could: an attachment on rail 0 and, if specified, the pool that it names."""
        ours = self.tenant.get("NetworkAttachmentDefinition", f"{FABRIC}-rail-0", "default")
        config = json.loads(ours["spec"]["config"])
        config["plugins"][0]["ipam"]["poolName"] = name
        metadata = {"name": name, "namespace": "default", "annotations": ours["metadata"]["annotations"]}
        self.tenant.create({**ours, "metadata": metadata, "spec": {"config": json.dumps({**config, "name": name})}})
        if pool:
            place = {"name": name, "namespace": OPERATORS}
            self.tenant.create({"apiVersion": POOL[0], "kind": POOL[1], "metadata": place, "spec": pool})


def pod_of(metadata: dict[str, Any], node: str, **container: Any) -> dict[str, Any]:
    spec = {"nodeName": node, "containers": [{"name": "work", "image": "work:v1", **container}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}


@pytest.fixture
def played(region: Environment, objects: Any) -> Played:
    inside, manifests = [], []
    for one in flat(everything(region)):
        if one.kind in INSIDE and one.cluster == CLUSTER:
            inside.append(one.body)
        elif one.kind == "Kustomization" and one.body["spec"]["sourceRef"]["name"] == "nv-ipam":
            manifests.append({**one.body, "status": {"conditions": [{"type": "Ready", "status": "True"}]}})
    tenant, exclusive = objects(*inside), {IMAGE}
    tenant.edit("NicClusterPolicy", "nic-cluster-policy", "", {"status": {"state": "ready"}})
    made = Played(objects(*manifests), tenant, exclusive, Blocks(), Sandboxes(exclusive.__contains__))
    made.node("n2")
    made.node("n1")
    made.node("system", "cpu-gen5")
    return made


def test_each_node_on_rails_has_a_block_of_each_pool_and_keeps_it(played: Played, region: Environment) -> None:
    played.rounds()
    first, second = played.allocations(f"{FABRIC}-rail-3")
    played.node("n0")
    played.rounds()
    played.tenant.delete(played.tenant.get("Node", "n1"))
    played.node("n3")
    played.rounds()

    prefix = region.allocations.clusters[CLUSTER].rail_prefixes[FABRIC]
    begin = int(prefix.network_address) + 3 * prefix.num_addresses // 8 + 1
    assert [first["nodeName"], second["nodeName"]] == ["n1", "n2"]
    assert [int(IPv4Address(first[key])) - begin for key in ("startIP", "endIP")] == [0, 15]
    assert {
        one["nodeName"]: int(IPv4Address(one["startIP"])) - begin for one in played.allocations(f"{FABRIC}-rail-3")
    } == {
        "n0": 32,
        "n2": 16,
        "n3": 0,
    }


def test_pods_of_two_nodes_have_one_interface_per_rail_with_unique_addresses(
    played: Played, region: Environment
) -> None:
    for name, node in (("one", "n1"), ("two", "n2"), ("three", "n1")):
        played.pod(name, node=node)
    played.rounds()

    every = {name: played.got(name) for name in ("one", "two", "three")}
    prefix = region.allocations.clusters[CLUSTER].rail_prefixes[FABRIC]
    for found in every.values():
        assert [one["name"] for one in found] == [attachment_of(FABRIC, rail) for rail in range(8)]
        assert [one["interface"] for one in found] == [f"net{rail + 1}" for rail in range(8)]
        assert {(one["mtu"], len(one["ips"]), one["mac"][:2]) for one in found} == {(9000, 1, "02")}
        rails = [
            (int(IPv4Address(one["ips"][0])) - int(prefix.network_address)) * 8 // prefix.num_addresses for one in found
        ]
        assert rails == list(range(8))
    addresses = [one["ips"][0] for found in every.values() for one in found]
    assert len(set(addresses)) == len(addresses) == 24
    assert len({one["mac"] for found in every.values() for one in found}) == 24


def test_addresses_of_ended_pods_are_reused_and_a_copied_status_reserves_none(played: Played) -> None:
    played.own("tiny", subnet="10.9.0.0/28", perNodeBlockSize=2)
    for name in ("one", "two"):
        played.pod(name, "default/tiny")
    played.rounds()
    held = [played.got(name)[0]["ips"] for name in ("one", "two")]
    played.pod("three", "default/tiny")
    played.tenant.edit(
        "Pod",
        "three",
        "jobs",
        {"metadata": {"annotations": {NETWORK_STATUS: '[{"interface": "theirs", "ips": ["10.9.0.1"]}]'}}},
    )
    played.rounds()
    waited = played.refusals("three")
    played.tenant.edit("Pod", "one", "jobs", {"status": {"phase": "Succeeded"}})
    played.rounds()

    assert held == [["10.9.0.1"], ["10.9.0.2"]]
    assert [one.rpartition("desc = ")[2] for one in waited] == [
        'no free addresses in the pool "tiny", poolType "ippool"'
    ]
    assert [(one["interface"], one["ips"]) for one in played.got("three")] == [("net1", ["10.9.0.1"])]


@pytest.mark.parametrize(
    ("pool", "devices", "says"),
    [
        (
            {},
            1,
            "failed to set up IPAM plugin type",
        ),
        (
            {"subnet": "10.9.0.0/30", "perNodeBlockSize": 8},
            1,
            'code = NotFound desc = configuration for pool "own", poolType "ippool" not found',
        ),
        (
            {"subnet": "10.9.0.0/30", "perNodeBlockSize": 1, "gateway": "10.9.0.1", "routes": [{"dst": "10.0.0.0/8"}]},
            0,
            "SRIOV-CNI failed to load netconf: LoadConf(): VF pci addr is required",
        ),
    ],
)
def test_a_pod_without_pool_block_or_device_gets_nothing_and_reports_it_once(
    played: Played, pool: dict[str, Any], devices: int, says: str
) -> None:
    played.own("own", **pool)
    played.pod("waits", attachment_of(FABRIC, 1), "default/own", devices=devices)
    played.rounds(4)

    [message] = played.refusals("waits")
    assert says in message
    assert played.got("waits") == []
    played.pod("next", attachment_of(FABRIC, 1))
    played.rounds()
    assert played.got("next")[0]["ips"] == [played.allocations(f"{FABRIC}-rail-1")[0]["startIP"]]


@pytest.mark.parametrize(
    ("pool", "says"),
    [
        (
            {"subnet": "10.9.0.0/30", "perNodeBlockSize": 8},
            "spec.perNodeBlockSize: Invalid value: 8: is larger then amount of IPs available in the subnet",
        ),
        (
            {"subnet": "10.9.0.0/30", "perNodeBlockSize": 0},
            "spec.perNodeBlockSize: Invalid value: 0: must be at least 1",
        ),
        (
            {"subnet": "10.9.0.0/30", "perNodeBlockSize": 1, "gateway": "10.9.1.1"},
            'spec.gateway: Invalid value: "10.9.1.1": is not part of the subnet',
        ),
        ({"subnet": "rail", "perNodeBlockSize": 1}, 'spec.subnet: Invalid value: "rail": is invalid subnet'),
        ({"subnet": "10.9.0.0/30", "perNodeBlockSize": 2}, "failed to allocate IPs on Node: n2"),
    ],
)
def test_a_pool_without_a_block_for_a_node_reports_it_once(played: Played, pool: dict[str, Any], says: str) -> None:
    chosen = {"matchExpressions": [{"key": KIND, "operator": "NotIn", "values": ["cpu-gen5"]}]}
    played.own("own", **pool, nodeSelector={"nodeSelectorTerms": [chosen]})
    played.rounds(3)

    assert played.refusals("own") == [says]


def test_a_gateway_is_never_allocated(played: Played) -> None:
    for name, size in (("ones", 1), ("pairs", 2)):
        played.own(name, subnet=f"10.9.{size}.0/29", perNodeBlockSize=size, gateway=f"10.9.{size}.1")
    played.pod("pod", "default/ones", "default/pairs", devices=2)
    played.rounds()

    assert [one["startIP"] for one in played.allocations("ones")] == ["10.9.1.2", "10.9.1.3", "10.9.1.4"]
    assert [one["ips"] for one in played.got("pod")] == [["10.9.1.2"], ["10.9.2.2"]]


def test_without_the_ipam_there_are_no_blocks_and_without_its_daemon_no_addresses(played: Played) -> None:
    played.tenant.delete(played.tenant.get("Pod", "daemon-n1", OPERATORS))
    played.pod("waits")
    played.rounds()
    played.management.store.clear()
    played.tenant.edit("IPPool", f"{FABRIC}-rail-0", OPERATORS, {"status": {"allocations": []}})
    played.rounds()

    [message] = played.refusals("waits")
    assert message.endswith('failed to find plugin "nv-ipam" in path [/opt/cni/bin]')
    assert played.allocations(f"{FABRIC}-rail-0") == []
    assert [one["metadata"]["name"] for one in played.tenant.all("apps/v1", "DaemonSet")] == []


def test_nodes_that_share_rdma_devices_get_no_attachment_that_moves_them(played: Played) -> None:
    played.exclusive.clear()
    played.pod("waits")
    played.rounds()

    [message] = played.refusals("waits")
    assert message == (
        'Failed to create pod sandbox: plugin type="multus" failed (add): error adding container to network '
        '"roce-south-rail-0": plugin type="rdma" failed (add): RDMA subsystem namespace awareness mode is set to '
        "shared, expecting it to be set to exclusive, invalid system configurations"
    )


def test_nodes_offer_functions_of_each_rail(played: Played) -> None:
    release = {"spec": {"targetNamespace": OPERATORS}}
    adapters.offer(played.tenant, played.tenant.get("Node", "n1"), {}, release)

    offered = played.tenant.get("Node", "n1")["status"]["allocatable"]
    assert offered == {resource_of(rail): "16" for rail in range(8)}
