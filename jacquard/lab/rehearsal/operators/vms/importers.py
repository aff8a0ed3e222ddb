"""Simulated importer pods of CDI: a disk is filled only if its pod runs on the node of the disk.

If the class of a disk waits for its first consumer, CDI binds the pod to the node that was selected for the claim, in
addition to the placement of the CDI object (CDI:pkg/controller/import-controller.go, makeImporterPodSpec). The kubelet
of that node rejects a pod whose labels or NoExecute taints do not match. The scheduler places all other pods.
"""

from typing import Any

from components.lookups.scheduling import rejected
from jacquard.lab.rehearsal.images import IMPORTER
from jacquard.lab.rehearsal.operators.view import Object, View, deleting, owned_by
from jacquard.lab.rehearsal.operators.vms.placement import scheduling_node
from jacquard.providers.kube.objects import dig

SELECTED_NODE = "volume.kubernetes.io/selected-node"
"""Annotation of a claim with the node of its first consumer, set by the scheduler."""
_IMMEDIATE = "cdi.kubevirt.io/storage.bind.immediate.requested"
_POD = ("v1", "Pod")
_REJECTED = {"phase": "Failed", "reason": "NodeAffinity", "message": "Pod was rejected: node affinity does not match"}
_PLACEMENT = ("nodeSelector", "affinity", "tolerations")


def waits(view: View, claim: Object) -> bool:
    """Return whether the volume of ``claim`` waits for a first consumer, whose node is not selected yet."""
    storage = view.find("storage.k8s.io/v1", "StorageClass", dig(claim, "spec", "storageClassName")) or {}
    annotations = claim["metadata"].get("annotations") or {}
    first_consumer = storage.get("volumeBindingMode") == "WaitForFirstConsumer"
    return first_consumer and not annotations.get(SELECTED_NODE) and _IMMEDIATE not in annotations


def passed_on(data: Object) -> dict[str, str]:
    """Return the annotations of a DataVolume that CDI copies to its claim."""
    return {key: value for key, value in (data["metadata"].get("annotations") or {}).items() if key == _IMMEDIATE}


def runs(view: View, importer: Object, claim: Object) -> bool:
    """Return whether the importer pod of a bound ``claim`` runs; create it with the placement of CDI ``importer``."""
    name = f"importer-{claim['metadata']['name']}"
    pod = view.find(*_POD, name, claim["metadata"]["namespace"])
    if pod is None:
        view.create(_pod(name, importer, claim))
        return False
    node = view.find("v1", "Node", dig(pod, "spec", "nodeName"))
    if node is None or dig(pod, "status", "phase") == _REJECTED["phase"]:
        return False
    if rejected(pod["spec"], scheduling_node(node)):
        view.status(pod, _REJECTED)
        return False
    return bool(dig(pod, "status", "phase") == "Running")


def remove(view: View, claim: Object) -> None:
    """Delete the importer pod of a ``claim`` that is filled or being deleted."""
    metadata = claim["metadata"]
    pod = view.find(*_POD, f"importer-{metadata['name']}", metadata["namespace"])
    if pod and not deleting(pod):
        view.delete(pod)


def _pod(name: str, importer: Object, claim: Object) -> Object:
    workload = dig(importer, "spec", "workload") or {}
    node = (claim["metadata"].get("annotations") or {}).get(SELECTED_NODE)
    spec: dict[str, Any] = {key: workload[key] for key in _PLACEMENT if workload.get(key)}
    return {
        "apiVersion": _POD[0],
        "kind": _POD[1],
        "metadata": {
            "name": name,
            "namespace": claim["metadata"]["namespace"],
            "labels": {"cdi.kubevirt.io": "importer"},
            "ownerReferences": owned_by(claim),
        },
        "spec": {
            **spec,
            **({"nodeName": node} if node else {}),
            "restartPolicy": "OnFailure",
            "containers": [{"name": "importer", "image": IMPORTER}],
            "volumes": [
                {"name": "cdi-data-vol", "persistentVolumeClaim": {"claimName": claim["metadata"]["name"]}},
            ],
        },
    }
