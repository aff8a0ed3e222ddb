"""What NVIDIA's operator makes of the GPUs of a node: whole ones, pieces of them, or several turns on each.

A node has some if Node Feature Discovery found them there (GPUOP:controllers/state_manager.go, version 26.7.0). A MIG
manager cuts them as the node's label says, and a device plugin offers what is there by the configuration that another
label names. All write and read what the real ones do; no GPU is cut.
"""

from __future__ import annotations

from typing import Any

import yaml

from jacquard.lab.rehearsal.operators.view import Object, View
from jacquard.providers.kube.objects import dig

GPU = "nvidia.com/gpu"
SELECTOR = ("nvidia.com/gpu.deploy.device-plugin", "true")
"""Label of nodes where a device plugin runs."""
_FOUND = tuple(f"feature.node.kubernetes.io/pci-{device}.present" for device in ("10de", "0302_10de", "0300_10de"))
"""Labels of Node Feature Discovery any of which tells a GPU of NVIDIA's."""
_PRESENT = "nvidia.com/gpu.present"
_COUNT = 8
"""GPUs of each simulated host that has any."""
_PIECES = {"1g.10gb": 7, "1g.20gb": 4, "2g.20gb": 3, "3g.40gb": 2, "4g.40gb": 1, "7g.80gb": 1}
"""How often a simulated GPU, an H100 of 80 GB, can be cut into each profile."""
_LAYOUT, _STATE = "nvidia.com/mig.config", "nvidia.com/mig.config.state"
_CONFIGURATION = "nvidia.com/device-plugin.config"
_PIECE, _SHARED = "nvidia.com/mig-", ".shared"


def label(view: View, node: Object) -> None:
    """Label ``node`` by whether GPUs were found there; where none are any more, none are offered.

    Read in GPUOP:controllers/nodelabeling_controller.go; that a kubelet offers none once the device plugin is gone is
    Kubernetes' own.
    """
    labels = node["metadata"].get("labels") or {}
    wanted: dict[str, str | None]
    if any(labels.get(key) == "true" for key in _FOUND):
        wanted = {_PRESENT: "true", SELECTOR[0]: SELECTOR[1]}
    elif _PRESENT in labels:
        wanted = {_PRESENT: "false", SELECTOR[0]: None}
        _tell(view, node, {})
    else:
        return
    if any(labels.get(key) != value for key, value in wanted.items()):
        view.patch(node, {"metadata": {"labels": wanted}})


def offer(view: View, node: Object, _pod: Object, release: Object) -> None:
    """Cut the GPUs of ``node`` if that is asked for and not done, and else offer what it has."""
    values = release["spec"].get("values") or {}
    labels = node["metadata"].get("labels") or {}
    if _is_cutting(values) and _LAYOUT in labels:
        state = "success" if _profile(labels) in {"disabled", *_PIECES} else "failed"
        if labels.get(_STATE) != state:
            view.patch(node, {"metadata": {"labels": {_STATE: state}}})
            return
    _tell(view, node, _in_turns(view, release, labels, _cut(values, labels)))


def is_of_gpus(resource: str) -> bool:
    """Tell whether a resource of a node is what its GPUs are offered as."""
    return resource in {GPU, GPU + _SHARED} or resource.startswith(_PIECE)


def _tell(view: View, node: Object, found: dict[str, int]) -> None:
    """Have the kubelet of ``node`` offer what was found."""
    there = dig(node, "status", "allocatable") or {}
    # A kubelet goes on telling of what is offered no more.
    gone = [name for name in there if is_of_gpus(name)]
    wanted = {**dict.fromkeys(gone, "0"), **{name: str(count) for name, count in found.items()}}
    if any(there.get(name) != count for name, count in wanted.items()):
        view.status(node, {"capacity": wanted, "allocatable": wanted})


def _is_cutting(values: Object) -> bool:
    """Tell whether there is a MIG manager, as there is unless the values say otherwise."""
    return dig(values, "migManager", "enabled") is not False


def _profile(labels: Object) -> str:
    return str(labels.get(_LAYOUT, "")).removeprefix("all-")


def _cut(values: Object, labels: Object) -> dict[str, int]:
    profile = _profile(labels)
    if not _is_cutting(values) or labels.get(_STATE) != "success" or profile not in _PIECES:
        return {GPU: _COUNT}
    is_mixed = dig(values, "mig", "strategy") == "mixed"
    return {f"{_PIECE}{profile}" if is_mixed else GPU: _COUNT * _PIECES[profile]}


def _in_turns(view: View, release: Object, labels: Object, found: dict[str, int]) -> dict[str, int]:
    """Return what the device plugin offers of ``found``: nothing where the configuration it waits for is not there."""
    config_map = dig(release, "spec", "values", "devicePlugin", "config", "name")
    name = labels.get(_CONFIGURATION)
    if not config_map or not name:
        return found
    given = view.find("v1", "ConfigMap", config_map, release["spec"]["targetNamespace"]) or {}
    text = (given.get("data") or {}).get(name)
    if text is None:
        return {}
    sharing: dict[str, Any] = dig(yaml.safe_load(text), "sharing", "timeSlicing") or {}
    turns = {entry["name"]: entry["replicas"] for entry in sharing.get("resources") or ()}
    suffix = _SHARED if sharing.get("renameByDefault") else ""
    return {
        f"{resource}{suffix}" if resource in turns else resource: count * turns.get(resource, 1)
        for resource, count in found.items()
    }
