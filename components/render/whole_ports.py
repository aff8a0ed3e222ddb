"""Whole InfiniBand ports of a node, as pods get them: devices without a network attachment.

A pod that asks for a port gets the device files of its RDMA device. InfiniBand needs no more: verbs address a port by
the LID and GID that the fabric gave it. The port's IPoIB interface stays with the node, since it is made anew there
whenever its RDMA device moves (IBSRIOV:cmd/ib-sriov-cni/main.go).

Which partition the port is in says UFM, by the GUID of the port: nothing in the cluster chooses it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from components.render import labels as keys
from components.render.cluster_facts import EVERY_NODE
from components.render.manifest import Manifest
from components.render.objects import manifest
from components.specs.instance_types import InstanceType
from components.specs.versions import Tool

PLUGIN = "sriov-network-device-plugin"
"""Image of the device plugin among the tools of the version vector."""
ADAPTERS: Mapping[str, str] = {"connectx-6": "101b", "connectx-7": "1021", "connectx-8": "1023"}
"""PCI device by model of an adapter with InfiniBand ports (PCI ID database, vendor 15b3)."""
VENDOR = "15b3"
PREFIX = "nvidia.com"
_RESOURCE = "infiniband_port"
RESOURCE = f"{PREFIX}/{_RESOURCE}"
"""Resource by which a pod asks for a whole port."""


def node_policy(kind: InstanceType, plugin: Tool, cluster: str) -> Manifest:
    """Return what hands out the ports of nodes of ``kind``; the operator takes one policy for a node."""
    model = "" if kind.nics is None else kind.nics.model
    selectors = {"vendors": [VENDOR], "devices": [ADAPTERS[model]], "linkTypes": ["infiniband"], "isRdma": True}
    resource = {"resourceName": _RESOURCE, "resourcePrefix": PREFIX, "selectors": selectors}
    return manifest(
        "mellanox.com/v1alpha1",
        "NicNodePolicy",
        kind.name,
        cluster=cluster,
        spec={
            "nodeSelector": {keys.NODE_INSTANCE_TYPE: kind.name},
            "tolerations": EVERY_NODE,
            "sriovDevicePlugin": {**fetched(plugin), "config": json.dumps({"resourceList": [resource]})},
        },
    )


def fetched(tool: Tool) -> dict[str, str]:
    """Return an image as the operator takes it; a version that begins with sha256: is a digest to it."""
    repository, _, image = tool.image.rpartition("/")
    return {"image": image, "repository": repository, "version": tool.digest}
