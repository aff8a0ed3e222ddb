"""Simulated DPF: a DPUDeployment creates DPUSets, and a DPUSet creates a DPU for each device of its nodes.

As with ``OnDelete``, a DPU keeps its image and flavor until its deletion. A DPU is deleted when its set no longer
selects its node. Nothing is flashed and no maintenance hold is set here: a created DPU becomes ready.
"""

from collections import Counter
from typing import Any

from jacquard.lab.rehearsal.operators.hosts.claims import selects
from jacquard.lab.rehearsal.operators.view import Object, View, deleting, owned_by, reported
from jacquard.providers.kube.objects import dig

API = "provisioning.dpu.nvidia.com/v1alpha1"
SERVICES = "svc.dpu.nvidia.com/v1alpha1"
_SET_LABEL = "provisioning.dpu.nvidia.com/dpuset-name"
_SET_NAMESPACE_LABEL = "provisioning.dpu.nvidia.com/dpuset-namespace"
DEPLOYMENT_LABEL = "svc.dpu.nvidia.com/owned-by-dpudeployment"


def reconcile(view: View) -> None:
    """Update all DPUDeployments and DPUSets."""
    for deployment in view.all(SERVICES, "DPUDeployment"):
        if not deleting(deployment) and reported(deployment, "PrerequisitesReady"):
            for wanted in _sets(deployment):
                known = view.find(API, "DPUSet", wanted["metadata"]["name"], wanted["metadata"]["namespace"])
                if known is None or not _covers(known["spec"], wanted["spec"]):
                    view.apply(wanted)
    by_set: dict[tuple[str, str], list[Object]] = {}
    for dpu in view.all(API, "DPU"):
        name = (dpu["metadata"].get("labels") or {}).get(_SET_LABEL, "")
        by_set.setdefault((dpu["metadata"]["namespace"], name), []).append(dpu)
    for dpu_set in view.all(API, "DPUSet"):
        if not deleting(dpu_set):
            metadata = dpu_set["metadata"]
            _fill(view, dpu_set, by_set.get((metadata["namespace"], metadata["name"]), []))


def _sets(deployment: Object) -> list[Object]:
    metadata, dpus = deployment["metadata"], deployment["spec"]["dpus"]
    return [
        {
            "apiVersion": API,
            "kind": "DPUSet",
            "metadata": {
                "name": f"{metadata['name']}-{entry['nameSuffix']}",
                "namespace": metadata["namespace"],
                "labels": {DEPLOYMENT_LABEL: f"{metadata['namespace']}_{metadata['name']}"},
                "ownerReferences": owned_by(deployment),
            },
            "spec": {
                "strategy": dpus.get("dpuSetStrategy") or {"type": "RollingUpdate"},
                "dpuNodeSelector": entry.get("dpuNodeSelector") or entry.get("nodeSelector") or {},
                "dpuDeviceSelector": entry.get("dpuDeviceSelector") or {},
                "dpuTemplate": {
                    "spec": {
                        "bfb": {"name": dpus["bfb"]},
                        "dpuFlavor": dpus["flavor"],
                        "nodeEffect": dpus.get("nodeEffect") or {"noEffect": True},
                        **{name: dpus[name] for name in ("secureBoot",) if name in dpus},
                        **_cluster(entry),
                    }
                },
            },
        }
        for entry in dpus.get("dpuSets") or ()
    ]


def _cluster(entry: Object) -> Object:
    labels = entry.get("dpuClusterSelector")
    return {"cluster": {"selector": {"matchLabels": labels}}} if labels else {}


def _fill(view: View, dpu_set: Object, dpus: list[Object]) -> None:
    metadata, spec = dpu_set["metadata"], dpu_set["spec"]
    known, wanted = {dpu["metadata"]["name"]: dpu for dpu in dpus}, set()
    selector = dig(spec, "dpuTemplate", "spec", "cluster", "selector")
    cluster = next((cluster for cluster in view.all(API, "DPUCluster") if _selected(selector, cluster)), None)
    for node in view.all(API, "DPUNode"):
        if node["metadata"]["namespace"] != metadata["namespace"] or not _selected(spec.get("dpuNodeSelector"), node):
            continue
        for entry in dig(node, "spec", "dpus") or ():
            device = view.find(API, "DPUDevice", entry["name"], metadata["namespace"])
            name = f"{node['metadata']['name']}-{entry['name']}"
            if device and _selected(spec.get("dpuDeviceSelector"), device):
                wanted.add(name)
                if name not in known and cluster:
                    view.create(_dpu(dpu_set, node, device, cluster))
    for name, dpu in known.items():
        if name not in wanted and not deleting(dpu):
            view.delete(dpu)
    phases = dict(Counter(dig(dpu, "status", "phase") or "Initializing" for dpu in dpus))
    if (dig(dpu_set, "status", "dpuStatistics") or {}) != phases:
        # A merge patch cannot drop keys implicitly: unused phases are set to null.
        gone = dict.fromkeys(dig(dpu_set, "status", "dpuStatistics") or {})
        view.status(dpu_set, {"observedGeneration": metadata["generation"], "dpuStatistics": {**gone, **phases}})


def _dpu(dpu_set: Object, node: Object, device: Object, cluster: Object) -> Object:
    template = dpu_set["spec"]["dpuTemplate"]["spec"]
    place = {"name": cluster["metadata"]["name"], "namespace": cluster["metadata"]["namespace"]}
    return {
        "apiVersion": API,
        "kind": "DPU",
        "metadata": {
            "name": f"{node['metadata']['name']}-{device['metadata']['name']}",
            "namespace": dpu_set["metadata"]["namespace"],
            "labels": {
                _SET_LABEL: dpu_set["metadata"]["name"],
                _SET_NAMESPACE_LABEL: dpu_set["metadata"]["namespace"],
                **(dpu_set["metadata"].get("labels") or {}),
            },
            "ownerReferences": owned_by(dpu_set),
        },
        "spec": {
            "bfb": dig(template, "bfb", "name"),
            "dpuFlavor": template["dpuFlavor"],
            "nodeEffect": template["nodeEffect"],
            "dpuNodeName": node["metadata"]["name"],
            "dpuDeviceName": device["metadata"]["name"],
            "serialNumber": device["spec"]["serialNumber"],
            "cluster": place,
            **{name: template[name] for name in ("secureBoot",) if name in template},
        },
    }


def _selected(selector: Object | None, obj: Object) -> bool:
    return selects(selector or {}, obj["metadata"].get("labels") or {})


def _covers(live: Any, wanted: Any) -> bool:
    """Return whether ``live`` contains ``wanted``; a schema may add defaults and drop empty values."""
    if isinstance(wanted, dict):
        return all(_covers((live or {}).get(key), value) for key, value in wanted.items())
    return bool(live == wanted)
