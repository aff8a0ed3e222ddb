"""Simulated GPU operator of NVIDIA: whole GPUs, MIG slices, or time-slicing.

A node has GPUs if Node Feature Discovery found them (GPUOP:controllers/state_manager.go, version 26.7.0). A MIG manager
partitions the GPUs by a label of the node, and a device plugin offers the GPUs by the configuration in another label.
Both simulations read and write the same fields as the real programs; no GPU is partitioned.
"""

from collections.abc import Mapping
from typing import Any

import yaml

from jacquard.lab.rehearsal.operators.hosts.devices import Found
from jacquard.lab.rehearsal.operators.view import Object, View
from jacquard.providers.kube.objects import dig

GPU = "nvidia.com/gpu"
SELECTOR = ("nvidia.com/gpu.deploy.device-plugin", "true")
"""Label of nodes with a device plugin."""
_FOUND = tuple(f"feature.node.kubernetes.io/pci-{device}.present" for device in ("10de", "0302_10de", "0300_10de"))
"""Labels of Node Feature Discovery; each label identifies a node with an NVIDIA GPU."""
_PRESENT = "nvidia.com/gpu.present"
_OPERANDS = "nvidia.com/gpu.deploy.operands"
"""Label with which users exclude a node."""
_COUNT, _PIECES = 8, {"1g.10gb": 7, "1g.20gb": 4, "2g.20gb": 3, "3g.40gb": 2, "4g.40gb": 1, "7g.80gb": 1}
"""GPUs of a machine that is not in the inventory, and instances of each MIG profile on one: an H100 with 80 GB."""
_LAYOUT, _STATE = "nvidia.com/mig.config", "nvidia.com/mig.config.state"
_CONFIGURATION = "nvidia.com/device-plugin.config"
_PIECE, _SHARED = "nvidia.com/mig-", ".shared"


def label(view: View, node: Object) -> None:
    """Set the labels of ``node`` by its GPUs; remove GPU resources from a node without GPUs.

    Source: GPUOP:controllers/nodelabeling_controller.go. Kubernetes itself removes the resource when the device plugin
    ends.
    """
    labels = node["metadata"].get("labels") or {}
    wanted: dict[str, str | None]
    if any(labels.get(key) == "true" for key in _FOUND):
        wanted = {_PRESENT: "true", SELECTOR[0]: None if labels.get(_OPERANDS) == "false" else SELECTOR[1]}
    elif _PRESENT in labels:
        wanted = {_PRESENT: "false", SELECTOR[0]: None}
        _set_resources(view, node, {})
    else:
        return
    if any(labels.get(key) != value for key, value in wanted.items()):
        view.patch(node, {"metadata": {"labels": wanted}})


def offer(view: View, node: Object, _pod: Object, release: Object, found: Found) -> None:
    """Partition the GPUs of ``node`` if a requested partitioning is not done yet; otherwise, offer the GPUs."""
    devices = found()
    count, pieces = (devices.gpus, devices.mig) if devices else (_COUNT, _PIECES)
    values = release["spec"].get("values") or {}
    labels = node["metadata"].get("labels") or {}
    if _has_mig_manager(values) and _LAYOUT in labels:
        state = "success" if _profile(labels) in {"disabled", *pieces} else "failed"
        if labels.get(_STATE) != state:
            view.patch(node, {"metadata": {"labels": {_STATE: state}}})
            return
    _set_resources(view, node, _time_sliced(view, release, labels, _partitioned(values, labels, count, pieces)))


def is_of_gpus(resource: str) -> bool:
    """Return whether a resource of a node is a GPU resource."""
    return resource in {GPU, GPU + _SHARED} or resource.startswith(_PIECE)


def _set_resources(view: View, node: Object, resources: dict[str, int]) -> None:
    """Set the resources that the kubelet of ``node`` offers."""
    offered = dig(node, "status", "allocatable") or {}
    # A kubelet keeps removed resources with count 0.
    gone = [name for name in offered if is_of_gpus(name)]
    wanted = {**dict.fromkeys(gone, "0"), **{name: str(count) for name, count in resources.items()}}
    if any(offered.get(name) != count for name, count in wanted.items()):
        view.status(node, {"capacity": wanted, "allocatable": wanted})


def _has_mig_manager(values: Object) -> bool:
    """Return whether the MIG manager is enabled, which is the default of the values."""
    return dig(values, "migManager", "enabled") is not False


def _profile(labels: Object) -> str:
    return str(labels.get(_LAYOUT, "")).removeprefix("all-")


def _partitioned(values: Object, labels: Object, count: int, pieces: Mapping[str, int]) -> dict[str, int]:
    profile = _profile(labels)
    if not _has_mig_manager(values) or labels.get(_STATE) != "success" or profile not in pieces:
        return {GPU: count}
    is_mixed = dig(values, "mig", "strategy") == "mixed"
    return {f"{_PIECE}{profile}" if is_mixed else GPU: count * pieces[profile]}


def _time_sliced(view: View, release: Object, labels: Object, resources: dict[str, int]) -> dict[str, int]:
    """Return the offered resources with time-slicing; none if the requested configuration does not exist."""
    config_map = dig(release, "spec", "values", "devicePlugin", "config", "name")
    name = labels.get(_CONFIGURATION)
    if not config_map or not name:
        return resources
    body = view.find("v1", "ConfigMap", config_map, release["spec"]["targetNamespace"]) or {}
    text = (body.get("data") or {}).get(name)
    if text is None:
        return {}
    sharing: dict[str, Any] = dig(yaml.safe_load(text), "sharing", "timeSlicing") or {}
    replicas = {entry["name"]: entry["replicas"] for entry in sharing.get("resources") or ()}
    suffix = _SHARED if sharing.get("renameByDefault") else ""
    return {
        f"{resource}{suffix}" if resource in replicas else resource: count * replicas.get(resource, 1)
        for resource, count in resources.items()
    }
