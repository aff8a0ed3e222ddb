"""Pods of a tenant get GUIDs from the cluster's range, in the partition of its VPC, by the rendered objects."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from components.inputs.manifests import everything
from components.render.manifest import objects as flat
from components.render.network.infiniband import RESOURCE
from components.render.network.port_functions import NETWORKS
from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from jacquard.lab.rehearsal.operators.network import adapters, ib_kubernetes
from jacquard.lab.rehearsal.operators.network.address_pools import NETWORK_STATUS
from jacquard.lab.rehearsal.operators.network.attachments import Sandboxes
from jacquard.lab.rehearsal.operators.network.fabric_client import FabricClient
from jacquard.lab.rehearsal.operators.network.fabric_manager import PARTITIONS, FabricManager
from jacquard.lab.rehearsal.operators.network.guids import number
from jacquard.lab.rehearsal.operators.view import SIMULATED, simulated_secret
from jacquard.machine import paths
from tests.support.network.on_infiniband import FABRIC, on_infiniband

CLUSTER = "acme-train"
UFM = str(FABRIC.ufm_secret)
UFM_KEYS = ("UFM_ADDRESS", "UFM_USERNAME", "UFM_PASSWORD", "UFM_CERTIFICATE")
FIRST = "02:00:00:00:00:00:00:00"
STATED = {"containers": [{"name": "job", "image": "job", "resources": {"limits": {RESOURCE: "1"}}}]}


@pytest.fixture(scope="module")
def region() -> Environment:
    return on_infiniband(load_environment("laptop", paths.ROOT / "environments"))


@dataclass
class Played:
    """A management cluster and a tenant's cluster with the rendered objects of the fabric."""

    management: Any
    tenant: Any
    folder: Path
    manager: FabricManager
    daemons: ib_kubernetes.Daemons
    sandboxes: Sandboxes

    def rounds(self, count: int = 2) -> None:
        for _ in range(count):
            self.daemons.reconcile(self.management, lambda name: self.tenant if name == CLUSTER else None)
            self.sandboxes.reconcile(self.tenant)

    def pod(self, name: str, networks: str = f"default/{FABRIC.name}", **spec: Any) -> None:
        metadata = {"name": name, "namespace": "jobs", "annotations": {NETWORKS: networks}}
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "status": {"phase": "Pending"}}
        self.tenant.create({**body, "spec": {"nodeName": "n1", **STATED, **spec}})

    def narrow(self) -> None:
        """Reduce the range of the cluster to one GUID."""
        reported = self.management.get("Pod", "ib-kubernetes-1", CLUSTER)["spec"]["containers"][0]["env"]
        next(one for one in reported if one["name"] == "GUID_POOL_RANGE_END")["value"] = FIRST

    def reported(self, name: str) -> list[dict[str, Any]]:
        text = self.tenant.get("Pod", name, "jobs")["metadata"]["annotations"][NETWORKS]
        found: list[dict[str, Any]] = json.loads(text)
        return found

    def has_sandbox(self, name: str) -> str:
        conditions = self.tenant.get("Pod", name, "jobs")["status"].get("conditions", ())
        return next((one["status"] for one in conditions if one["type"] == "PodReadyToStartContainers"), "")

    def refusals(self, name: str) -> list[str]:
        events = self.tenant.all("v1", "Event")
        return [one["message"].partition(": ")[2] for one in events if one["involvedObject"]["name"] == name]

    def partitions(self) -> Any:
        path = self.folder / PARTITIONS
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def waits_for(self) -> tuple[str, str]:
        """Return the waiting reason of the ib-kubernetes container, and whether its pod is ready."""
        status = self.management.get("Pod", "ib-kubernetes-1", CLUSTER)["status"]
        [container] = status["containerStatuses"]
        ready = next(one["status"] for one in status["conditions"] if one["type"] == "Ready")
        return container["state"].get("waiting", {}).get("reason", ""), ready


@pytest.fixture
def played(region: Environment, objects: Any, tmp_path: Path) -> Played:
    rendered = list(flat(everything(region)))
    [deployment] = [one.body for one in rendered if one.kind == "Deployment" and "ib-kubernetes" in one.name]
    inside = {"NetworkAttachmentDefinition", "NicClusterPolicy", "SriovNetworkNodePolicy", "SriovOperatorConfig"}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "ib-kubernetes-1", "namespace": CLUSTER},
        "spec": deployment["spec"]["template"]["spec"],
        "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": "True"}],
            "containerStatuses": [{"name": "ib-kubernetes", "state": {"running": {}}}],
        },
    }
    management = objects(pod, simulated_secret(UFM, CLUSTER, UFM_KEYS))
    tenant = objects(*(one.body for one in rendered if one.kind in inside and one.cluster == CLUSTER))
    tenant.edit("NicClusterPolicy", "nic-cluster-policy", "", {"status": {"state": "ready"}})
    manager = FabricManager(tmp_path, SIMULATED, SIMULATED)
    sandboxes = Sandboxes(lambda _: False)
    return Played(management, tenant, tmp_path, manager, ib_kubernetes.Daemons(manager), sandboxes)


def test_a_pod_gets_a_guid_of_the_range_in_the_partition_of_its_vpc_and_its_sandbox(
    played: Played, region: Environment
) -> None:
    played.pod("one")
    played.pod("two", networks=f'[{{"namespace": "default", "name": "{FABRIC.name}", "interface": "net1"}}]')
    played.rounds()
    [one], [two] = played.reported("one"), played.reported("two")
    pkey = hex(region.allocations.vpcs["acme"].pkeys[FABRIC.name])

    word = {"mellanox.infiniband.app": "configured", "pkey": pkey}
    assert one == {"namespace": "default", "name": FABRIC.name, "cni-args": {"guid": FIRST, **word}}
    assert two["interface"] == "net1"
    assert two["cni-args"]["guid"] == FIRST[:-1] + "1"
    assert played.partitions() == {pkey: {"0200000000000000": "full", "0200000000000001": "full"}}
    assert [played.has_sandbox(name) for name in ("one", "two")] == ["True", "True"]
    status = json.loads(played.tenant.get("Pod", "two", "jobs")["metadata"]["annotations"][NETWORK_STATUS])
    assert status == [{"name": f"default/{FABRIC.name}", "interface": "net1", "dns": {}}]


def test_guids_are_released_with_pods_and_kept_by_a_new_ib_kubernetes(played: Played) -> None:
    for name in ("stays", "gone", "done"):
        played.pod(name)
    played.rounds()
    played.tenant.delete(played.tenant.get("Pod", "gone", "jobs"))
    played.tenant.edit("Pod", "done", "jobs", {"status": {"phase": "Succeeded"}})
    played.tenant.edit("Pod", "stays", "jobs", {"status": {"phase": "Running"}})
    played.rounds()
    played.daemons = ib_kubernetes.Daemons(FabricManager(played.folder, SIMULATED, SIMULATED))
    played.pod("new")
    played.rounds()

    [members] = played.partitions().values()
    assert list(members) == ["0200000000000000", "0200000000000001"]
    assert played.reported("new")[0]["cni-args"]["guid"] == FIRST[:-1] + "1"


@pytest.mark.parametrize(
    ("networks", "limits", "says"),
    [
        (
            "default/other",
            {RESOURCE: "1"},
            "cannot find a network-attachment-definition (other) in namespace (default)",
        ),
        (
            FABRIC.name,
            {RESOURCE: "1"},
            f"cannot find a network-attachment-definition ({FABRIC.name}) in namespace (jobs)",
        ),
        (f"default/{FABRIC.name}", {}, "deviceID is required"),
        (f"default/{FABRIC.name},default/{FABRIC.name}", {RESOURCE: "1"}, "deviceID is required"),
        ("default/wide", {RESOURCE: "1"}, 'InfiniBand status "mellanox.infiniband.app" is not "configured"'),
        ("default/all", {RESOURCE: "1"}, 'InfiniBand status "mellanox.infiniband.app" is not "configured"'),
        ("a/b/c", {RESOURCE: "1"}, "failed to parse networks of the pod: invalid network name 'a/b/c'"),
    ],
)
def test_a_pod_without_attachment_port_or_partition_waits_and_reports_it_once(
    played: Played, networks: str, limits: dict[str, str], says: str
) -> None:
    ours = played.tenant.get("NetworkAttachmentDefinition", FABRIC.name, "default")
    for name, pkey in (("wide", "0x8010"), ("all", "0x7fff")):
        config = json.dumps({**json.loads(ours["spec"]["config"]), "name": name, "pkey": pkey})
        metadata = {"name": name, "namespace": "default", "annotations": ours["metadata"]["annotations"]}
        played.tenant.create({**ours, "metadata": metadata, "spec": {"config": config}})
    played.pod("waits", networks, containers=[{"name": "job", "image": "job", "resources": {"limits": limits}}])
    played.rounds(4)

    [reported] = played.refusals("waits")
    assert says in reported
    assert played.has_sandbox("waits") == "False"


def test_a_user_who_can_write_attachments_can_join_any_partition(played: Played) -> None:
    """The cluster does not confine a tenant to its partition, as docs/network/dpus-and-infiniband.md states."""
    ours = played.tenant.get("NetworkAttachmentDefinition", FABRIC.name, "default")
    config = json.dumps({**json.loads(ours["spec"]["config"]), "pkey": "0x1f"})
    metadata = {**ours["metadata"], "name": "theirs", "uid": "theirs"}
    played.tenant.create({**ours, "metadata": metadata, "spec": {"config": config}})
    played.pod("curious", "default/theirs")
    played.rounds()

    assert list(played.partitions()) == ["0x1f"]
    assert played.has_sandbox("curious") == "True"


def test_with_an_exhausted_range_pods_wait(played: Played) -> None:
    played.narrow()
    for name in ("first", "second"):
        played.pod(name)
    played.rounds()
    before = played.has_sandbox("second")
    played.tenant.delete(played.tenant.get("Pod", "first", "jobs"))
    played.rounds(1)

    assert (before, played.has_sandbox("second")) == ("False", "True")


def test_with_an_exhausted_range_ufm_is_queried_for_released_guids(played: Played) -> None:
    played.narrow()
    somebody = FabricClient.from_variables(dict.fromkeys(UFM_KEYS, SIMULATED), played.manager)
    somebody.add(0x10, number(FIRST))
    played.pod("waits")
    played.rounds()
    before = played.has_sandbox("waits")
    somebody.remove(0x10, number(FIRST))
    played.rounds(2)

    assert (before, played.has_sandbox("waits")) == ("False", "True")


def test_a_requested_guid_must_be_in_the_range(played: Played) -> None:
    entry = {"namespace": "default", "name": FABRIC.name, "cni-args": {"guid": "02:00:00:00:00:01:00:00"}}
    played.pod("theirs", json.dumps([entry]))
    played.rounds()

    assert (played.has_sandbox("theirs"), played.partitions()) == ("False", {})


def test_without_its_secret_or_with_wrong_credentials_ib_kubernetes_fails_and_pods_wait(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ib_kubernetes, "_AGAIN_SECONDS", 0.0)
    right = played.management.get("Secret", UFM, CLUSTER)
    played.pod("waits")
    played.management.delete(right)
    played.rounds()
    without = played.waits_for()
    played.management.create({**right, "data": {**right["data"], "UFM_PASSWORD": "b3RoZXI="}})
    played.rounds()
    by_wrong = played.waits_for(), played.has_sandbox("waits")
    played.management.apply(right)
    played.rounds()

    assert without == ("CreateContainerConfigError", "False")
    assert by_wrong == (("CrashLoopBackOff", "False"), "False")
    assert (played.waits_for(), played.has_sandbox("waits")) == (("", "True"), "True")


@pytest.mark.parametrize(
    "changed", [{"DAEMON_SM_PLUGIN": "noop"}, {"GUID_POOL_RANGE_START": "02"}, {"KUBECONFIG": "/else/value"}]
)
def test_settings_that_upstream_ends_by_end_it_here(played: Played, changed: dict[str, str]) -> None:
    for one in played.management.get("Pod", "ib-kubernetes-1", CLUSTER)["spec"]["containers"][0]["env"]:
        one.update({"value": changed[one["name"]]} if one["name"] in changed else {})
    played.rounds()

    assert played.waits_for() == ("CrashLoopBackOff", "False")


def test_without_multus_the_annotation_has_no_effect_and_unscheduled_pods_are_skipped(played: Played) -> None:
    played.pod("unplaced", nodeName="")
    played.rounds()
    played.tenant.edit("NicClusterPolicy", "nic-cluster-policy", "", {"status": {"state": "notReady"}})
    played.pod("plain", "default/no-such")
    played.sandboxes.reconcile(played.tenant)

    assert (played.has_sandbox("unplaced"), played.has_sandbox("plain")) == ("", "True")
    assert played.partitions() == {}


def test_nodes_offer_functions_by_the_policy_in_the_operators_namespace(played: Played) -> None:
    [policy] = played.tenant.all("sriovnetwork.openshift.io/v1", "SriovNetworkNodePolicy")
    [settings] = played.tenant.all("sriovnetwork.openshift.io/v1", "SriovOperatorConfig")
    release = {"spec": {"targetNamespace": settings["metadata"]["namespace"]}}
    labels = {**policy["spec"]["nodeSelector"], "kubernetes.io/os": "linux"}

    def offered(name: str, **has: str) -> Any:
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": has}, "status": {}}
        played.tenant.create(node)
        adapters.offer(played.tenant, node, {}, release)
        return played.tenant.get("Node", name)["status"].get("allocatable")

    assert offered("right", **labels) == {RESOURCE: "128"}
    assert offered("other", **{"kubernetes.io/os": "linux"}) is None
    played.tenant.delete(settings)
    assert offered("unconfigured", **labels) is None
