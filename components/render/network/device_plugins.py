"""What hands out ports of a node without virtual functions: each to one pod, or all of them to many.

A pod gets device files of RDMA devices and no network attachment. InfiniBand needs no more, and RoCE that the pod is on
the network of the node, where the addresses of its ports are. On InfiniBand verbs address a port by
the LID and GID that the fabric gave it. The port's IPoIB interface stays with the node, since it is made anew there
whenever its RDMA device moves (IBSRIOV:cmd/ib-sriov-cni/main.go).

Which partition the port is in says UFM, by the GUID of the port: nothing in the cluster chooses it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypedDict

from components.render import labels as keys
from components.render.add_ons.cluster_facts import EVERY_NODE
from components.render.manifest import Manifest
from components.render.objects import manifest
from components.specs.hosts.instance_types import InstanceType, PortUse
from components.specs.region.versions import Tool

IMAGES: Mapping[PortUse, str] = {
    PortUse.WHOLE: "sriov-network-device-plugin",
    PortUse.SHARED: "k8s-rdma-shared-dev-plugin",
}
"""Image of the device plugin among the tools of the version vector, by what pods get of ports."""
ADAPTERS: Mapping[str, str] = {"connectx-6": "101b", "connectx-7": "1021", "connectx-8": "1023"}
"""PCI device by model of an adapter with InfiniBand ports (PCI ID database, vendor 15b3)."""
VENDOR = "15b3"
PREFIX = "nvidia.com"
RESOURCES: Mapping[PortUse, str] = {
    PortUse.FUNCTIONS: "infiniband",
    PortUse.WHOLE: "infiniband_port",
    PortUse.SHARED: "infiniband_shared",
}
"""Resource by which a pod asks for what it gets of ports; plugins take no dash in it."""
ROCE = "roce_shared"
"""Resource by which a pod on the network of its node asks for the RDMA devices of all ports on RoCE."""
_INFINIBAND, _ETHERNET = "infiniband", "ether"


class WholeSelectors(TypedDict):
    """Which ports are handed out whole: those that fit all of it."""

    vendors: list[str]
    devices: list[str]
    linkTypes: list[str]
    isRdma: bool


class WholeResource(TypedDict):
    """A resource of the device plugin that hands out ports whole."""

    resourceName: str
    resourcePrefix: str
    selectors: WholeSelectors


class SharedSelectors(TypedDict):
    """Which ports are shared: those that fit all of it (SHAREDDP:pkg/types/types.go)."""

    vendors: list[str]
    deviceIDs: list[str]
    linkTypes: list[str]


class SharedResource(TypedDict):
    """A resource of the device plugin that hands out all ports to many pods (SHAREDDP:pkg/types/types.go)."""

    resourceName: str
    resourcePrefix: str
    rdmaHcaMax: int
    selectors: SharedSelectors


def resource_of(use: PortUse) -> str:
    """Return the resource by which a pod asks for what ``use`` says of ports on InfiniBand."""
    return f"{PREFIX}/{RESOURCES[use]}"


def node_policy(kind: InstanceType, plugin: Tool, cluster: str, vrfs_on: Iterable[str] = ()) -> Manifest:
    """Return what hands out the ports of nodes of ``kind``; the operator takes one policy for a node."""
    fabrics = ".".join(vrfs_on)
    section, config = _PLUGINS[kind.port_use]
    return manifest(
        "mellanox.com/v1alpha1",
        "NicNodePolicy",
        kind.name,
        cluster=cluster,
        annotations={keys.VRFS_ON: fabrics} if fabrics else {},
        spec={
            "nodeSelector": {keys.NODE_INSTANCE_TYPE: kind.name},
            "tolerations": EVERY_NODE,
            section: {**fetched(plugin), "config": json.dumps(config(kind))},
        },
    )


def _whole(kind: InstanceType) -> dict[str, Any]:
    resource: WholeResource = {
        "resourceName": RESOURCES[PortUse.WHOLE],
        "resourcePrefix": PREFIX,
        "selectors": {"vendors": [VENDOR], "devices": [_device(kind)], "linkTypes": [_INFINIBAND], "isRdma": True},
    }
    return {"resourceList": [resource]}


def _shared(kind: InstanceType) -> dict[str, Any]:
    """Return what offers all ports as often as there are pods; virtual functions are other PCI devices."""
    resource: SharedResource = {
        "resourceName": ROCE if kind.roce_ports else RESOURCES[PortUse.SHARED],
        "resourcePrefix": PREFIX,
        "rdmaHcaMax": kind.max_pods,
        "selectors": {
            "vendors": [VENDOR],
            "deviceIDs": [_device(kind)],
            "linkTypes": [_ETHERNET if kind.roce_ports else _INFINIBAND],
        },
    }
    return {"configList": [resource]}


_PLUGINS: Mapping[PortUse, tuple[str, Callable[[InstanceType], dict[str, Any]]]] = {
    PortUse.WHOLE: ("sriovDevicePlugin", _whole),
    PortUse.SHARED: ("rdmaSharedDevicePlugin", _shared),
}
"""Section of a NicNodePolicy, and its configuration, by what pods get of ports."""


def _device(kind: InstanceType) -> str:
    return ADAPTERS["" if kind.nics is None else kind.nics.model]


def fetched(tool: Tool) -> dict[str, str]:
    """Return an image as the operator takes it; a version that begins with sha256: is a digest to it."""
    repository, _, image = tool.image.rpartition("/")
    return {"image": image, "repository": repository, "version": tool.digest}
