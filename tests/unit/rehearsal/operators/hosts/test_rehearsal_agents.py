"""Effect of charts on nodes: a CNI makes them ready, and a device plug-in offers the discovered GPUs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jacquard.lab.rehearsal.operators.hosts import agents, gpus, node_features
from jacquard.lab.rehearsal.operators.hosts.devices import Devices

GPU_NODE = {"nodeInfo": {"osImage": "gpu-2026.11.1"}}
FOUND = "feature.node.kubernetes.io/pci-0302_10de.present"
TAINTS = [{"operator": "Exists"}]


def obj(api_version: str, kind: str, name: str, namespace: str = "", **more: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": namespace}, **more}


def release(chart: str, cluster: str = "acme", ready: str = "True", **values: Any) -> dict[str, Any]:
    spec = {
        "chartRef": {"kind": "OCIRepository", "name": chart},
        "targetNamespace": f"{chart}-space",
        "kubeConfig": {"secretRef": {"name": f"{cluster}-kubeconfig"}},
        "values": values,
    }
    status = {"conditions": [{"type": "Ready", "status": ready}]}
    return obj(*agents.RELEASE, chart, cluster, spec=spec, status=status)


def node(name: str, **status: Any) -> dict[str, Any]:
    return obj("v1", "Node", name, status=status)


def pod(of: str, namespace: str, on: str, phase: str = "Running") -> dict[str, Any]:
    spec = {"nodeName": on, "containers": [{"name": "agent", "image": f"{of}:v1"}]}
    found = obj("v1", "Pod", f"{of}-{on}", namespace, spec=spec, status={"phase": phase})
    found["metadata"]["ownerReferences"] = [{"kind": "DaemonSet", "name": of, "uid": f"uid of {of}"}]
    return found


def test_a_release_that_is_ready_brings_its_daemon_set_with_the_tolerations_of_its_values(objects: Any) -> None:
    given = [{"key": "workload", "operator": "Exists"}]
    view = objects()

    agents.reconcile(objects(release("cilium", tolerations=given)), "acme", view)

    spec = view.get("DaemonSet", "cilium", "cilium-space")["spec"]["template"]["spec"]
    assert (spec["tolerations"], spec["hostNetwork"], "nodeSelector" in spec) == (given, True, False)


def test_charts_of_other_clusters_and_those_that_are_not_installed_bring_nothing(objects: Any) -> None:
    view = objects()

    agents.reconcile(objects(release("cilium", "globex"), release("kube-ovn", ready="False")), "acme", view)

    assert list(view.all("apps/v1", "DaemonSet")) == []


def test_a_daemon_set_is_deleted_with_its_release_and_one_of_the_tenants_is_kept(objects: Any) -> None:
    view = objects(obj("apps/v1", "DaemonSet", "own", "default", spec={}))
    agents.reconcile(objects(release("cilium")), "acme", view)

    agents.reconcile(objects(), "acme", view)

    assert [found["metadata"]["name"] for found in view.all("apps/v1", "DaemonSet")] == ["own"]


@pytest.mark.parametrize(
    ("chart", "agent", "namespace", "reason"),
    [
        ("cilium", "cilium", "cilium-space", "CiliumIsUp"),
        ("tigera-operator", "calico-node", "calico-system", "CalicoIsUp"),
    ],
)
def test_a_cni_sets_the_network_condition_of_its_nodes(
    objects: Any, chart: str, agent: str, namespace: str, reason: str
) -> None:
    view = objects(node("n1"), node("n2"), pod(agent, namespace, "n1"), pod(agent, namespace, "n2", "Pending"))

    agents.reconcile(objects(release(chart)), "acme", view)

    [condition] = view.get("Node", "n1")["status"]["conditions"]
    assert (condition["type"], condition["status"], condition["reason"]) == ("NetworkUnavailable", "False", reason)
    assert "conditions" not in view.get("Node", "n2")["status"]


def test_kube_ovn_sets_an_annotation(objects: Any) -> None:
    view = objects(node("n1"), pod("kube-ovn-cni", "kube-ovn-space", "n1"))

    agents.reconcile(objects(release("kube-ovn")), "acme", view)

    assert view.get("Node", "n1")["metadata"]["annotations"] == {"ovn.kubernetes.io/allocated": "true"}


def test_gpus_are_found_labelled_and_offered_in_turn(objects: Any) -> None:
    discovery, plugin = "node-feature-discovery-worker", "nvidia-device-plugin-daemonset"
    view = objects(
        node("n1", **GPU_NODE),
        node("n2", nodeInfo={"osImage": "cpu-2026.10.2"}),
        pod(discovery, "node-feature-discovery-space", "n1"),
        pod(discovery, "node-feature-discovery-space", "n2"),
    )
    management = objects(release("node-feature-discovery"), release("gpu-operator", daemonsets={"tolerations": TAINTS}))

    agents.reconcile(management, "acme", view)
    assert "labels" not in view.get("Node", "n1")["metadata"], "only the master labels nodes"
    node_features.reconcile(view)
    agents.reconcile(management, "acme", view)

    asked = view.get("DaemonSet", plugin, "gpu-operator-space")["spec"]["template"]["spec"]["nodeSelector"]
    given = view.get("Node", "n1")["metadata"]["labels"]
    assert given == {FOUND: "true", "nvidia.com/gpu.present": "true", **asked}
    assert "labels" not in view.get("Node", "n2")["metadata"]
    assert "allocatable" not in view.get("Node", "n1")["status"]
    view.create(pod(plugin, "gpu-operator-space", "n1"))
    agents.reconcile(management, "acme", view)
    assert view.get("Node", "n1")["status"]["allocatable"] == {"nvidia.com/gpu": "8"}


def test_a_node_offers_the_gpus_of_its_machine(objects: Any) -> None:
    worker = node("n1", **GPU_NODE)
    worker["metadata"]["labels"] = {FOUND: "true", "nvidia.com/mig.config": "all-1g.47gb"}
    view = objects(worker, pod(PLUGIN, SPACE, "n1"), pod("node-feature-discovery-worker", DISCOVERY, "n1"))
    management = objects(release("node-feature-discovery"), release("gpu-operator", mig={"strategy": "mixed"}))
    gb200 = Devices(pci=[{"count": 4, "class": "0302", "vendor": "10de", "device": "2941"}], mig={"1g.47gb": 4})

    for _ in range(3):
        agents.reconcile(management, "acme", view, devices=lambda *_: gb200)

    assert view.get("Node", "n1")["status"]["allocatable"] == {"nvidia.com/mig-1g.47gb": "16"}
    features = view.get("NodeFeature", "n1", DISCOVERY)["spec"]["features"]["instances"]["pci.device"]["elements"]
    assert [item["attributes"]["device"] for item in features] == ["2941"] * 4


def test_a_node_whose_operands_are_disabled_gets_no_agent(objects: Any) -> None:
    worker = node("n1", **GPU_NODE)
    worker["metadata"]["labels"] = {FOUND: "true", "nvidia.com/gpu.deploy.operands": "false", gpus.SELECTOR[0]: "true"}
    view = objects(worker)

    agents.reconcile(objects(release("gpu-operator")), "acme", view)

    labels = view.get("Node", "n1")["metadata"]["labels"]
    assert labels == {FOUND: "true", "nvidia.com/gpu.present": "true", "nvidia.com/gpu.deploy.operands": "false"}


def test_a_node_without_the_label_any_more_offers_none_although_a_plugin_runs_there_still(objects: Any) -> None:
    before = {FOUND: "false", "nvidia.com/gpu.present": "true", gpus.SELECTOR[0]: "true"}
    worker = node("n1", **GPU_NODE, allocatable={"nvidia.com/gpu": "8", "cpu": "224"})
    worker["metadata"]["labels"] = before
    view = objects(worker, pod(PLUGIN, SPACE, "n1"))

    for _ in range(2):
        agents.reconcile(objects(release("gpu-operator")), "acme", view)

    live = view.get("Node", "n1")
    assert live["metadata"]["labels"] == {FOUND: "false", "nvidia.com/gpu.present": "false"}
    assert live["status"]["allocatable"] == {"nvidia.com/gpu": "0", "cpu": "224"}


DISCOVERY = "node-feature-discovery-space"
PLUGIN, SPACE = "nvidia-device-plugin-daemonset", "gpu-operator-space"
SLICED = {"config": {"name": "device-plugin-config"}}
TURNS = {"renameByDefault": True, "resources": [{"name": "nvidia.com/gpu", "replicas": 4}]}


@pytest.mark.parametrize(
    ("labels", "values", "expected"),
    [
        ({"nvidia.com/mig.config": "all-1g.20gb"}, {"mig": {"strategy": "mixed"}}, {"nvidia.com/mig-1g.20gb": "32"}),
        ({"nvidia.com/mig.config": "all-1g.20gb"}, {"mig": {"strategy": "single"}}, {"nvidia.com/gpu": "32"}),
        ({"nvidia.com/mig.config": "all-1g.20gb"}, {"migManager": {"enabled": False}}, {"nvidia.com/gpu": "8"}),
        ({"nvidia.com/mig.config": "all-1g.18gb"}, {"mig": {"strategy": "mixed"}}, {"nvidia.com/gpu": "8"}),
        ({"nvidia.com/device-plugin.config": "four"}, {"devicePlugin": SLICED}, {"nvidia.com/gpu.shared": "32"}),
        ({"nvidia.com/device-plugin.config": "four"}, {}, {"nvidia.com/gpu": "8"}),
        ({}, {"devicePlugin": SLICED}, {"nvidia.com/gpu": "8"}),
        ({"nvidia.com/device-plugin.config": "none"}, {"devicePlugin": SLICED}, {}),
    ],
)
def test_gpus_are_offered_as_labels_of_the_node_and_values_of_the_release_say(
    objects: Any, labels: dict[str, str], values: dict[str, Any], expected: dict[str, str]
) -> None:
    worker = node("n1", **GPU_NODE)
    worker["metadata"]["labels"] = {**labels, FOUND: "true"}
    data = {"four": json.dumps({"version": "v1", "sharing": {"timeSlicing": TURNS}})}
    view = objects(worker, pod(PLUGIN, SPACE, "n1"), obj("v1", "ConfigMap", "device-plugin-config", SPACE, data=data))
    management = objects(release("gpu-operator", **values))

    for _ in range(4):
        agents.reconcile(management, "acme", view)

    assert view.get("Node", "n1")["status"].get("allocatable", {}) == expected


def test_the_manager_reports_partitioned_gpus_and_removes_unoffered_resources(objects: Any) -> None:
    worker = node("n1", **GPU_NODE, allocatable={"nvidia.com/gpu": "8", "nvidia.com/rdma": "8"})
    worker["metadata"]["labels"] = {"nvidia.com/mig.config": "all-3g.40gb", FOUND: "true"}
    view = objects(worker, pod(PLUGIN, SPACE, "n1"))
    management = objects(release("gpu-operator", mig={"strategy": "mixed"}))

    for _ in range(2):
        agents.reconcile(management, "acme", view)
    before = dict(view.get("Node", "n1")["status"]["allocatable"])
    agents.reconcile(management, "acme", view)

    assert view.get("Node", "n1")["metadata"]["labels"]["nvidia.com/mig.config.state"] == "success"
    assert before == {"nvidia.com/gpu": "8", "nvidia.com/rdma": "8"}
    assert view.get("Node", "n1")["status"]["allocatable"] == {
        "nvidia.com/gpu": "0",
        "nvidia.com/mig-3g.40gb": "16",
        "nvidia.com/rdma": "8",
    }


def test_charts_rendered_by_helm_use_their_own_daemon_set(objects: Any) -> None:
    found = obj("apps/v1", "DaemonSet", "nfd-worker", "nfd", spec={})
    found["metadata"]["labels"] = {agents.FLUX_NAME: "node-feature-discovery", agents.FLUX_NAMESPACE: "acme"}
    found["metadata"]["annotations"] = {"meta.helm.sh/release-name": "nfd"}
    real = release("node-feature-discovery")
    real["metadata"]["finalizers"] = ["finalizers.fluxcd.io"]
    view = objects(node("n1", **GPU_NODE), found, pod("nfd-worker", "nfd", "n1"))

    agents.reconcile(objects(real), "acme", view)

    assert [one["metadata"]["name"] for one in view.all("apps/v1", "DaemonSet")] == ["nfd-worker"]
    assert view.get("NodeFeature", "n1", "nfd")["spec"]["labels"] == {FOUND: "true"}


def test_without_a_discovery_no_node_is_fit_for_the_device_plugin(objects: Any) -> None:
    view = objects(node("n1", **GPU_NODE))

    agents.reconcile(objects(release("gpu-operator")), "acme", view)

    assert "labels" not in view.get("Node", "n1")["metadata"]
