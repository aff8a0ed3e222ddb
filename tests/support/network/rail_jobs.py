"""Pods that request rails in a tenant's cluster, and the resulting networks."""

from __future__ import annotations

import json
from typing import Any

from components.render.network.port_functions import NETWORKS
from components.render.network.rails import attachment_of, resource_of
from jacquard.lab.rehearsal.images import PUBLIC
from jacquard.providers.kube import ApiServer, ObjectRef

_OF_RESOURCE = "k8s.v1.cni.cncf.io/resourceName"
_STATUS = "k8s.v1.cni.cncf.io/network-status"
_RAILS = 8


def job(fabric: str, name: str) -> dict[str, Any]:
    """Return a pod that requests a port on each rail of ``fabric``."""
    networks = ",".join(attachment_of(fabric, rail) for rail in range(_RAILS))
    return pod(name, networks, {resource_of(rail): "1" for rail in range(_RAILS)})


def pod(name: str, networks: str, limits: dict[str, str]) -> dict[str, Any]:
    """Return a pod with networks and resources."""
    container = {"name": "work", "image": PUBLIC[0], "resources": {"limits": limits}}
    metadata = {"name": name, "namespace": "default", "annotations": {NETWORKS: networks}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}}


def own_attachment(name: str) -> dict[str, Any]:
    """Return an attachment on rail 0 as a tenant could write it, with addresses of the pool with the same name."""
    of_pool = {"type": "sriov", "ipam": {"type": "nv-ipam", "poolName": name}}
    config = {"cniVersion": "0.3.1", "name": name, "plugins": [of_pool]}
    annotations = {_OF_RESOURCE: resource_of(0)}
    return {
        "apiVersion": "k8s.cni.cncf.io/v1",
        "kind": "NetworkAttachmentDefinition",
        "metadata": {"name": name, "namespace": "default", "annotations": annotations},
        "spec": {"config": json.dumps(config)},
    }


def networks_of(api: ApiServer, name: str) -> list[dict[str, Any]]:
    """Return the network status of Multus of a running pod; empty before it runs."""
    found = api.get(ObjectRef("v1", "Pod", name, "default")) or {}
    if found.get("status", {}).get("phase") != "Running":
        return []
    networks: list[dict[str, Any]] = json.loads(found["metadata"]["annotations"][_STATUS])
    return networks


def refusal(api: ApiServer, name: str) -> str:
    """Return the kubelet's reason for a missing sandbox; empty if it has reported none."""
    events = api.list("v1", "Event", namespace="default")
    messages = [one["message"] for one in events if one["involvedObject"]["name"] == name]
    return next((message for message in messages if "sandbox" in message), "")
