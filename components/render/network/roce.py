"""RDMA devices of RoCE ports for pods on the host network.

The ports stay on the host: addresses and GIDs belong to the interface of the node. An unprivileged pod needs only the
device files. NVIDIA's shared device plugin provides the device files of all ports of the node.
"""

from collections.abc import Mapping
from typing import Any

from components.render.manifest import Manifest
from components.render.network import device_plugins, port_functions
from components.render.objects import namespace
from components.render.region.operators import sources, tenant_release
from components.specs.hosts.instance_types import InstanceType
from components.specs.region.versions import Chart, Tool
from components.specs.struct import Struct, field


class RocePorts(Struct):
    """Device plugin for RDMA devices on RoCE fabrics in one cluster."""

    instance_types: tuple[InstanceType, ...]
    """Instance types of the cluster whose pods share ports on RoCE."""
    fabrics: tuple[str, ...]
    """Names of the fabrics on which the cluster's VPC has a VRF."""
    plugin: Tool
    has_operator: bool
    """Whether the Network Operator is already installed, for InfiniBand."""
    placement: Mapping[str, Any]
    """Placement of the platform's services in the cluster."""
    nodes: int
    """Maximum number of nodes of the cluster."""
    pins: Mapping[str, Chart] = field(default_factory=dict)
    """Pinned chart releases of the cluster, by chart."""


def render(ports: RocePorts, cluster: str) -> tuple[Manifest, ...]:
    """Return the objects of ``ports`` in ``cluster``, in the order in which they are applied."""
    network = port_functions.operator(ports.placement, ports.nodes)
    operator = (
        namespace(port_functions.NAMESPACE, cluster=cluster),
        *sources((network,), cluster, ports.pins),
        tenant_release(network, cluster, ports.pins, awaited=True),
    )
    return (
        *(() if ports.has_operator else operator),
        *(device_plugins.node_policy(kind, ports.plugin, cluster, ports.fabrics) for kind in ports.instance_types),
    )
