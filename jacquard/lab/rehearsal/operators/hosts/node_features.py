"""What Node Feature Discovery does: its workers say what is in their nodes, and its master labels nodes by that.

Workers are simulated (NFD:pkg/nfd-worker, NFD:source/pci, version 0.19.0): all hosts are alike, and the image tells
which have GPUs. No image was booted, so kernel and release of the operating system are left out. The master is real
where its chart and its program are here; elsewhere nodes get the labels that their workers ask for. What nfd-gc does is
simulated everywhere: what was said of a node goes with the node.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

import yaml

from jacquard.lab.rehearsal.operators.containers import NotThere, files, is_run
from jacquard.lab.rehearsal.operators.view import LOG, Object, View
from jacquard.providers.kube.objects import dig

MASTER = "nfd-master"
"""The real one, of the toolchain."""
NODE_FEATURE = ("nfd.k8s-sigs.io/v1alpha1", "NodeFeature")
FEATURE = "feature.node.kubernetes.io/"
_OF_NODE = "nfd.node.kubernetes.io/node-name"
_POD_UID, _VERSION = "nfd.node.kubernetes.io/worker.pod.uid", "nfd.node.kubernetes.io/worker.version"
_CONFIGURATION = PurePosixPath("/etc/kubernetes/node-feature-discovery/nfd-worker.conf")
_CLASSES, _FIELDS = ("03", "0b40", "12"), ("class", "vendor")
"""Beginnings of the classes of devices that become labels, and the attributes that these are called after."""
_PLAIN_IMAGES = "cpu"
"""How names of images begin that hosts without GPUs boot."""
_DPU = (2, {"class": "0200", "vendor": "15b3", "device": "a2dc"})
_WITH_GPUS = (
    (8, {"class": "0302", "vendor": "10de", "device": "2330"}),
    (8, {"class": "0207", "vendor": "15b3", "device": "1021"}),
)
"""So many of each: GPUs of a DGX H100, and ports of its ConnectX-7 on InfiniBand."""


def publish(view: View, node: Object, pod: Object, _release: Object) -> None:
    """Say what is in ``node`` as the worker ``pod`` does that runs there, by the configuration of its chart."""
    try:
        wanted = _node_feature(node, pod, _configuration(view, pod))
    except NotThere as reason:
        LOG.debug("%s", reason)
        return
    metadata = wanted["metadata"]
    live = view.find(*NODE_FEATURE, metadata["name"], metadata["namespace"])
    if live is None or _said(live) != _said(wanted):
        view.apply(wanted)


def reconcile(view: View) -> None:
    """Forget nodes of a tenant's cluster that are gone, and label the others unless the real master does."""
    found = list(view.all(*NODE_FEATURE))
    if not found:
        return
    by_master = any(is_run(one, MASTER) for one in view.all("apps/v1", "Deployment"))
    for one in found:
        node = view.find("v1", "Node", (one["metadata"].get("labels") or {}).get(_OF_NODE))
        if node is None:
            view.delete(one)
        elif not by_master:
            _label(view, node, dig(one, "spec", "labels") or {})


def _said(obj: Object) -> list[Any]:
    metadata = obj["metadata"]
    owners = sorted(one["uid"] for one in metadata.get("ownerReferences") or ())
    return [obj["spec"], metadata.get("labels"), metadata.get("annotations"), owners]


def _label(view: View, node: Object, wanted: Mapping[str, str]) -> None:
    labels = node["metadata"].get("labels") or {}
    gone = dict.fromkeys(key for key in labels if key.startswith(FEATURE) and key not in wanted)
    if gone or not wanted.items() <= labels.items():
        view.patch(node, {"metadata": {"labels": {**gone, **wanted}}})


def _node_feature(node: Object, pod: Object, configuration: Object) -> Object:
    name, devices = node["metadata"]["name"], list(_devices(node))
    metadata, containers = pod["metadata"], pod["spec"]["containers"]
    of_set = [one for one in metadata.get("ownerReferences") or () if one["kind"] == "DaemonSet"]
    owners = [{"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata["uid"]}, *of_set]
    return {
        "apiVersion": NODE_FEATURE[0],
        "kind": NODE_FEATURE[1],
        "metadata": {
            "name": name,
            "namespace": metadata["namespace"],
            "labels": {_OF_NODE: name},
            "annotations": {_POD_UID: metadata["uid"], _VERSION: containers[0]["image"].rpartition(":")[2]},
            "ownerReferences": [{**one, "blockOwnerDeletion": False} for one in owners],
        },
        "spec": {
            "features": {
                "flags": {},
                "attributes": {"system.name": {"elements": {"nodename": name}}},
                "instances": {"pci.device": {"elements": [{"attributes": one} for one in devices]}},
            },
            "labels": _labels(devices, dig(configuration, "sources", "pci") or {}),
        },
    }


def _devices(node: Object) -> Iterator[dict[str, str]]:
    """Yield the PCI devices of a node, as many of a kind as it has; what board they are on is left open."""
    image = str(dig(node, "status", "nodeInfo", "osImage") or _PLAIN_IMAGES)
    for count, device in (_DPU, *(() if image.startswith(_PLAIN_IMAGES) else _WITH_GPUS)):
        for _ in range(count):
            yield {**device, "subsystem_vendor": device["vendor"], "subsystem_device": "0000"}


def _labels(devices: list[dict[str, str]], pci: Mapping[str, Any]) -> dict[str, str]:
    """Return the labels that a worker asks for, by what its configuration says of PCI devices."""
    classes = tuple(one.lower() for one in pci.get("deviceClassWhitelist") or _CLASSES)
    fields = pci.get("deviceLabelFields") or _FIELDS
    chosen = (device for device in devices if device["class"].startswith(classes))
    return {f"{FEATURE}pci-{'_'.join(one[key] for key in one if key in fields)}.present": "true" for one in chosen}


def _configuration(view: View, pod: Object) -> Object:
    """Return the worker's configuration, which the chart gives it as a file.

    Raises:
        NotThere: Its ConfigMap is missing.
    """
    found = files(view, pod, pod["spec"]["containers"][0])
    configuration: Object = yaml.safe_load(found.get(_CONFIGURATION, "")) or {}
    return configuration
