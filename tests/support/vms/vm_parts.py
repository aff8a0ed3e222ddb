"""A storage class, a node and the operator of the cluster of simulated VMs."""

from __future__ import annotations

from typing import Any

from jacquard.lab.rehearsal.operators.vms import virtual_machines
from tests.support.objects.live_objects import obj

KUBEVIRT = obj(virtual_machines.API, "KubeVirt", "kubevirt", status={"phase": "Deployed"})


def storage_class(name: str = "vast", **annotations: str) -> dict[str, Any]:
    made = obj("storage.k8s.io/v1", "StorageClass", name, namespace="", metadata={"annotations": annotations})
    return {**made, "provisioner": "csi.vastdata.com", "reclaimPolicy": "Delete"}


def node(name: str = "n1", *taints: dict[str, str], **labels: str) -> dict[str, Any]:
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    return obj("v1", "Node", name, {"taints": list(taints)}, namespace="", metadata={"labels": labels}, status=ready)
