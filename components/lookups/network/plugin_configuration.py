"""Size of the device plugin configuration that the SR-IOV operator writes for the virtual functions of a cluster."""

import json
from collections.abc import Iterator
from typing import Any

from components.lookups.network.fabrics import connected, cutting
from components.lookups.pools import PlacedCluster, most_nodes
from components.render.network import rails
from components.render.network.device_plugins import ETHERNET, INFINIBAND, RESOURCES, VENDOR
from components.specs.environment import Environment
from components.specs.hosts.instance_types import InstanceType, PortUse

_FUNCTION = "101e"
"""PCI device ID of a virtual function. The IDs of all models have the same length."""


def configuration_bytes(environment: Environment, placed: PlacedCluster) -> dict[str, int]:
    """Return the minimum size in bytes of the configuration of all nodes of each pool of ``placed``, by pool.

    The result is empty if no node has virtual functions. The SR-IOV operator writes the configuration of all nodes to
    one ConfigMap, with one value per node
    (SRIOV:controllers/sriovnetworknodepolicy_controller.go, syncDevicePluginConfigMap).
    """
    with_functions = {kind.name: kind for kind in connected(environment, placed) if _is_cut(kind)}
    with_functions |= cutting(environment, placed)
    return {
        pool.name: most_nodes(environment, pool) * len(_configuration(with_functions.get(pool.instance_type)))
        for pool in (placed.cluster.pools if with_functions else ())
    }


def _is_cut(kind: InstanceType) -> bool:
    return kind.port_use is PortUse.FUNCTIONS


def _configuration(kind: InstanceType | None) -> str:
    """Return the configuration of a node without optional keys (SRIOVDP:pkg/types/types.go)."""
    resources = None if kind is None else [*_resources(kind)]
    return json.dumps({"resourceList": resources}, separators=(",", ":"))


def _resources(kind: InstanceType) -> Iterator[dict[str, Any]]:
    if kind.infiniband_ports:
        yield _resource(RESOURCES[PortUse.FUNCTIONS], INFINIBAND)
    for rail, port in enumerate(kind.roce_interfaces):
        yield _resource(rails.resource_of(rail).rpartition("/")[2], ETHERNET, pfNames=[port])


def _resource(name: str, link: str, **ports: list[str]) -> dict[str, Any]:
    selectors = {"vendors": [VENDOR], "devices": [_FUNCTION], **ports, "linkTypes": [link]}
    return {
        "resourceName": name,
        "selectors": {**selectors, "IsRdma": True, "NeedVhostNet": False},
        "SelectorObj": None,
    }
