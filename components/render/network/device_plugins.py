"""Device plugins for node ports without virtual functions: each port for one pod, or all ports shared by many pods.

A pod gets device files of RDMA devices and no network attachment. Device files are sufficient for InfiniBand. For RoCE,
the pod must be on the host network, which has the addresses of the ports. On InfiniBand, verbs address a port by the
LID and GID assigned by the fabric. The port's IPoIB interface stays with the node, since it is recreated there whenever
its RDMA device moves (IBSRIOV:cmd/ib-sriov-cni/main.go).

UFM assigns the partition by the GUID of the port. Pods and users of the cluster cannot select the partition.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypedDict

from components.render import labels as keys
from components.render.manifest import Manifest
from components.render.objects import manifest
from components.render.pod_placement import EVERY_NODE
from components.specs.hosts.instance_types import InstanceType, PortUse
from components.specs.region.versions import Tool

IMAGES: Mapping[PortUse, str] = {
    PortUse.WHOLE: "sriov-network-device-plugin",
    PortUse.SHARED: "k8s-rdma-shared-dev-plugin",
}
"""Image of the device plugin among the tools of the version vector, by port use."""
ADAPTERS: Mapping[str, str] = {"connectx-6": "101b", "connectx-7": "1021", "connectx-8": "1023"}
"""PCI device ID by model of an adapter with InfiniBand ports (PCI ID database, vendor 15b3)."""
VENDOR = "15b3"
PREFIX = "nvidia.com"
RESOURCES: Mapping[PortUse, str] = {
    PortUse.FUNCTIONS: "infiniband",
    PortUse.WHOLE: "infiniband_port",
    PortUse.SHARED: "infiniband_shared",
}
"""Resource name that pods request, by port use. Plugins do not allow dashes in names."""
ROCE = "roce_shared"
"""Resource name that a pod on the host network requests for the RDMA devices of all RoCE ports."""
INFINIBAND, ETHERNET = "infiniband", "ether"
"""Link types of ports, as device plugins name them."""


class WholeSelectors(TypedDict):
    """Selector of ports that are assigned as a whole. A port must match all fields."""

    vendors: list[str]
    devices: list[str]
    linkTypes: list[str]
    isRdma: bool


class WholeResource(TypedDict):
    """Resource of the device plugin that assigns whole ports."""

    resourceName: str
    resourcePrefix: str
    selectors: WholeSelectors


class SharedSelectors(TypedDict):
    """Selector of shared ports. A port must match all fields (SHAREDDP:pkg/types/types.go)."""

    vendors: list[str]
    deviceIDs: list[str]
    linkTypes: list[str]


class SharedResource(TypedDict):
    """Resource of the device plugin that shares all ports between many pods (SHAREDDP:pkg/types/types.go)."""

    resourceName: str
    resourcePrefix: str
    rdmaHcaMax: int
    selectors: SharedSelectors


def resource_of(use: PortUse) -> str:
    """Return the resource that a pod requests for InfiniBand ports with ``use``."""
    return f"{PREFIX}/{RESOURCES[use]}"


def node_policy(kind: InstanceType, plugin: Tool, cluster: str, vrfs_on: Iterable[str] = ()) -> Manifest:
    """Return the NicNodePolicy for the ports of nodes of ``kind``. The operator accepts one policy per node."""
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
        "selectors": {"vendors": [VENDOR], "devices": [_device(kind)], "linkTypes": [INFINIBAND], "isRdma": True},
    }
    return {"resourceList": [resource]}


def _shared(kind: InstanceType) -> dict[str, Any]:
    """Return the configuration that offers all ports once per pod. Virtual functions are other PCI devices."""
    resource: SharedResource = {
        "resourceName": ROCE if kind.roce_ports else RESOURCES[PortUse.SHARED],
        "resourcePrefix": PREFIX,
        "rdmaHcaMax": kind.max_pods,
        "selectors": {
            "vendors": [VENDOR],
            "deviceIDs": [_device(kind)],
            "linkTypes": [ETHERNET if kind.roce_ports else INFINIBAND],
        },
    }
    return {"configList": [resource]}


_PLUGINS: Mapping[PortUse, tuple[str, Callable[[InstanceType], dict[str, Any]]]] = {
    PortUse.WHOLE: ("sriovDevicePlugin", _whole),
    PortUse.SHARED: ("rdmaSharedDevicePlugin", _shared),
}
"""Section of a NicNodePolicy and its configuration function, by port use."""


def _device(kind: InstanceType) -> str:
    return ADAPTERS["" if kind.nics is None else kind.nics.model]


def fetched(tool: Tool) -> dict[str, str]:
    """Return an image in the operator's format. The operator treats a version that starts with sha256: as a digest."""
    repository, _, image = tool.image.rpartition("/")
    return {"image": image, "repository": repository, "version": tool.digest}
