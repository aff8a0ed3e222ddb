"""Features that simulated workers report by the chart's configuration, and the labels that the master sets."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from jacquard.lab.rehearsal.operators.hosts import node_features
from jacquard.lab.toolchain import binaries
from tests.support.objects.live_objects import obj

PLACE = "node-feature-discovery"
GPU, PLAIN = "gpu-2026.11.1", "cpu-2026.10.2"
IMAGE = "registry.k8s.io/nfd/node-feature-discovery:v0.19.0"
FEATURE = "feature.node.kubernetes.io/"
FOUND = f"{FEATURE}pci-0302_10de.present"
CONFIGURATION = {"name": "worker-conf", "items": [{"key": "nfd-worker.conf", "path": "nfd-worker.conf"}]}


def node(image: str, name: str = "n1", **labels: str) -> Any:
    return obj("v1", "Node", name, namespace="", status={"nodeInfo": {"osImage": image}}, metadata={"labels": labels})


def worker(uid: str = "of-pod") -> Any:
    """Return the pod of the chart's DaemonSet, as the DaemonSet controller creates it."""
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "worker", "uid": "of-set", "controller": True}
    mount = {"name": "conf", "mountPath": "/etc/kubernetes/node-feature-discovery", "readOnly": True}
    spec = {
        "containers": [{"image": IMAGE, "command": ["nfd-worker"], "volumeMounts": [mount]}],
        "volumes": [{"name": "conf", "configMap": CONFIGURATION}],
    }
    return obj("v1", "Pod", "worker-1", spec, PLACE, metadata={"uid": uid, "ownerReferences": [owner]})


def master() -> Any:
    spec = {"template": {"spec": {"containers": [{"image": IMAGE, "command": ["nfd-master"]}]}}}
    return obj("apps/v1", "Deployment", "master", spec, PLACE)


def configuration(**sources: Any) -> Any:
    """Return the ConfigMap of the chart, which is ``null`` without configuration."""
    text = json.dumps({"sources": sources} if sources else None)
    return obj("v1", "ConfigMap", CONFIGURATION["name"], namespace=PLACE, data={"nfd-worker.conf": text})


def published(view: Any, image: str = GPU, pod: Any = None) -> Any:
    node_features.publish(view, node(image), pod or worker(), {}, lambda: None)
    return view.get("NodeFeature", "n1", PLACE)


@pytest.mark.parametrize(("image", "loaded"), [(GPU, True), (PLAIN, False), ("vfio-2026.11.2", False)])
def test_the_driver_is_loaded_if_the_image_contains_it(objects: Any, image: str, *, loaded: bool) -> None:
    modules = published(objects(configuration()), image)["spec"]["features"]["flags"]["kernel.loadedmodule"]

    assert ("nvidia" in modules["elements"]) is loaded


def test_a_worker_reports_the_devices_of_its_node_and_the_source(objects: Any) -> None:
    body = published(objects(configuration()))

    metadata, features = body["metadata"], body["spec"]["features"]
    assert metadata["labels"] == {"nfd.node.kubernetes.io/node-name": "n1"}
    assert metadata["annotations"] == {
        "nfd.node.kubernetes.io/worker.pod.uid": "of-pod",
        "nfd.node.kubernetes.io/worker.version": "v0.19.0",
    }
    owners = [(one["kind"], one["uid"], one["blockOwnerDeletion"]) for one in metadata["ownerReferences"]]
    assert owners == [("Pod", "of-pod", False), ("DaemonSet", "of-set", False)]
    assert features["attributes"] == {"system.name": {"elements": {"nodename": "n1"}}}
    found = [one["attributes"] for one in features["instances"]["pci.device"]["elements"]]
    assert Counter((one["vendor"], one["class"]) for one in found) == {
        ("10de", "0302"): 8,
        ("15b3", "0207"): 8,
        ("15b3", "0200"): 2,
    }
    assert {len(one) for one in found} == {5}, "a master's rules may ask for any attribute that each device has"


@pytest.mark.parametrize(
    ("image", "pci", "labels"),
    [
        (GPU, {}, ["0302_10de"]),
        (PLAIN, {}, []),
        ("", {}, []),
        (GPU, {"deviceLabelFields": ["vendor"]}, ["10de"]),
        (GPU, {"deviceClassWhitelist": ["02", "03"], "deviceLabelFields": ["vendor"]}, ["10de", "15b3"]),
        (GPU, {"deviceClassWhitelist": ["0200"]}, ["0200_15b3"]),
        (PLAIN, {"deviceClassWhitelist": ["02"], "deviceLabelFields": ["vendor", "device"]}, ["15b3_a2dc"]),
    ],
)
def test_which_of_them_become_labels_the_charts_configuration_says(
    objects: Any, image: str, pci: Any, labels: list[str]
) -> None:
    body = published(objects(configuration(**({"pci": pci} if pci else {}))), image)

    assert body["spec"]["labels"] == {f"{FEATURE}pci-{one}.present": "true" for one in labels}


def test_a_worker_without_its_configuration_reports_nothing(objects: Any) -> None:
    view = objects()

    node_features.publish(view, node(GPU), worker(), {}, lambda: None)

    assert list(view.all(*node_features.NODE_FEATURE)) == []


def test_features_are_only_rewritten_by_another_pod(objects: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    view = objects(configuration())
    published(view)
    monkeypatch.setattr(view, "apply", lambda body: view.installed.append(body["metadata"]["annotations"]))

    for uid in ("of-pod", "of-another"):
        published(view, pod=worker(uid))

    assert [one["nfd.node.kubernetes.io/worker.pod.uid"] for one in view.installed] == ["of-another"]


def test_nodes_are_labelled_by_the_real_master_or_else_by_the_simulated_one(
    objects: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(binaries, "path", Path)
    labels = {}
    for real in (True, False):
        gone, own = f"{FEATURE}pci-0300_10de.present", "workload"
        view = objects(configuration(), node(GPU, **{gone: "true", own: "training"}), *([master()] if real else []))
        published(view)
        node_features.reconcile(view)
        labels[real] = view.get("Node", "n1")["metadata"]["labels"]

    assert labels == {True: {gone: "true", own: "training"}, False: {FOUND: "true", own: "training"}}


def test_features_are_deleted_with_the_node(objects: Any) -> None:
    view = objects(configuration(), master(), node(GPU))
    published(view)

    node_features.reconcile(view)
    assert len(list(view.all(*node_features.NODE_FEATURE))) == 1
    view.delete(view.get("Node", "n1"))
    node_features.reconcile(view)

    assert list(view.all(*node_features.NODE_FEATURE)) == []
