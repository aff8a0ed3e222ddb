"""Simulated Node Feature Discovery: workers report the features of their nodes, and the master sets labels.

Workers are simulated (NFD:pkg/nfd-worker, NFD:source/pci, version 0.19.0). They find the devices of the machine in the
inventory; the image name determines whether any other machine has GPUs. No image was booted, so kernel and operating
system release are omitted. The master is real if its chart and its program are available locally; otherwise, nodes get
the labels requested by their workers, and neither the labels nor the taints of rules.
nfd-gc is always simulated: the features of a node are deleted with the node.
"""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

import yaml

from jacquard.lab.rehearsal.operators.containers import NotThere, files, is_run
from jacquard.lab.rehearsal.operators.hosts.devices import Devices, Found
from jacquard.lab.rehearsal.operators.view import LOG, Object, View
from jacquard.providers.kube.objects import dig

MASTER = "nfd-master"
"""Name of the real master in the toolchain."""
NODE_FEATURE = ("nfd.k8s-sigs.io/v1alpha1", "NodeFeature")
FEATURE = "feature.node.kubernetes.io/"
_OF_NODE = "nfd.node.kubernetes.io/node-name"
_POD_UID, _VERSION = "nfd.node.kubernetes.io/worker.pod.uid", "nfd.node.kubernetes.io/worker.version"
_CONFIGURATION = PurePosixPath("/etc/kubernetes/node-feature-discovery/nfd-worker.conf")
_CLASSES, _FIELDS = ("03", "0b40", "12"), ("class", "vendor")
"""Prefixes of the device classes that become labels, and the attributes in the label names."""
_PLAIN_IMAGES = "cpu"
"""Prefix of image names for hosts without GPUs."""
_IMAGES_FOR_VMS = "vfio"
"""Prefix of image names that bind GPUs to vfio-pci."""
_MODULES = ("mlx5_core", "overlay")
_DPU = {"count": 2, "class": "0200", "vendor": "15b3", "device": "a2dc"}
_WITH_GPUS = (
    {"count": 8, "class": "0302", "vendor": "10de", "device": "2330"},
    {"count": 8, "class": "0207", "vendor": "15b3", "device": "1021"},
)
"""Devices of a machine that is not in the inventory: GPUs and ConnectX-7 InfiniBand ports of a DGX H100."""


def publish(view: View, node: Object, pod: Object, _release: Object, found: Found) -> None:
    """Write the features of ``node`` like its running worker ``pod``, by the configuration of the worker's chart."""
    try:
        wanted = _node_feature(node, list(_devices(node, found())), pod, _configuration(view, pod))
    except NotThere as reason:
        LOG.debug("%s", reason)
        return
    metadata = wanted["metadata"]
    live = view.find(*NODE_FEATURE, metadata["name"], metadata["namespace"])
    if live is None or _content(live) != _content(wanted):
        view.apply(wanted)


def reconcile(view: View) -> None:
    """Delete the features of removed nodes, and label the other nodes unless the real master runs."""
    features = list(view.all(*NODE_FEATURE))
    if not features:
        return
    by_master = any(is_run(deployment, MASTER) for deployment in view.all("apps/v1", "Deployment"))
    for feature in features:
        node = view.find("v1", "Node", (feature["metadata"].get("labels") or {}).get(_OF_NODE))
        if node is None:
            view.delete(feature)
        elif not by_master:
            _label(view, node, dig(feature, "spec", "labels") or {})


def _content(obj: Object) -> list[Any]:
    metadata = obj["metadata"]
    owners = sorted(reference["uid"] for reference in metadata.get("ownerReferences") or ())
    return [obj["spec"], metadata.get("labels"), metadata.get("annotations"), owners]


def _label(view: View, node: Object, wanted: Mapping[str, str]) -> None:
    labels = node["metadata"].get("labels") or {}
    gone = dict.fromkeys(key for key in labels if key.startswith(FEATURE) and key not in wanted)
    if gone or not wanted.items() <= labels.items():
        view.patch(node, {"metadata": {"labels": {**gone, **wanted}}})


def _node_feature(node: Object, devices: list[dict[str, str]], pod: Object, configuration: Object) -> Object:
    name = node["metadata"]["name"]
    metadata, containers = pod["metadata"], pod["spec"]["containers"]
    of_set = [reference for reference in metadata.get("ownerReferences") or () if reference["kind"] == "DaemonSet"]
    owners = [{"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata["uid"]}, *of_set]
    return {
        "apiVersion": NODE_FEATURE[0],
        "kind": NODE_FEATURE[1],
        "metadata": {
            "name": name,
            "namespace": metadata["namespace"],
            "labels": {_OF_NODE: name},
            "annotations": {_POD_UID: metadata["uid"], _VERSION: containers[0]["image"].rpartition(":")[2]},
            "ownerReferences": [{**reference, "blockOwnerDeletion": False} for reference in owners],
        },
        "spec": {
            "features": {
                "flags": {"kernel.loadedmodule": {"elements": {name: {} for name in _modules(node)}}},
                "attributes": {"system.name": {"elements": {"nodename": name}}},
                "instances": {"pci.device": {"elements": [{"attributes": device} for device in devices]}},
            },
            "labels": _labels(devices, dig(configuration, "sources", "pci") or {}),
        },
    }


def _modules(node: Object) -> tuple[str, ...]:
    """Return loaded kernel modules of a node: the GPU driver only if the image neither lacks GPUs nor binds them."""
    image = str(dig(node, "status", "nodeInfo", "osImage") or _PLAIN_IMAGES)
    return _MODULES if image.startswith((_PLAIN_IMAGES, _IMAGES_FOR_VMS)) else (*_MODULES, "nvidia")


def _devices(node: Object, found: Devices | None) -> Iterator[dict[str, str]]:
    """Yield all PCI devices of a node; the board of a device is not specified."""
    image = str(dig(node, "status", "nodeInfo", "osImage") or _PLAIN_IMAGES)
    generic = (_DPU, *(() if image.startswith(_PLAIN_IMAGES) else _WITH_GPUS))
    for item in generic if found is None else found.pci:
        device = {key: value for key, value in item.items() if key != "count"}
        for _ in range(item["count"]):
            yield {**device, "subsystem_vendor": device["vendor"], "subsystem_device": "0000"}


def _labels(devices: list[dict[str, str]], pci: Mapping[str, Any]) -> dict[str, str]:
    """Return the labels that a worker requests according to its configuration for PCI devices."""
    classes = tuple(prefix.lower() for prefix in pci.get("deviceClassWhitelist") or _CLASSES)
    fields = pci.get("deviceLabelFields") or _FIELDS
    selected = (device for device in devices if device["class"].startswith(classes))
    names = ("_".join(device[key] for key in device if key in fields) for device in selected)
    return {f"{FEATURE}pci-{name}.present": "true" for name in names}


def _configuration(view: View, pod: Object) -> Object:
    """Return the worker's configuration, a file from the chart.

    Raises:
        NotThere: Its ConfigMap is missing.
    """
    contents = files(view, pod, pod["spec"]["containers"][0])
    configuration: Object = yaml.safe_load(contents.get(_CONFIGURATION, "")) or {}
    return configuration
