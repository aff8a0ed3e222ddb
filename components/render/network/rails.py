"""Virtual functions of RoCE ports for pods, each with an address of the port's rail, and RDMA.

A rail connects port N of all hosts and has a separate subnet in the VPC's VRF. In the cluster, the virtual functions of
a rail's ports are one resource (`components.render.network.port_functions`). A network attachment of the rail moves one
function into the pod, and NVIDIA's IPAM assigns an address of the rail's subnet, from the block of the pod's node.

Prerequisites:

- Golden images create the functions, in the number specified by the instance type, and set ports to the fabric's MTU.
  The SR-IOV operator rejects a policy that exceeds the number or the MTU (SRIOV:pkg/host/internal/sriov/sriov.go). It
  sets the MTU of functions from the policy, since sriov-cni has no MTU option
  (SRIOVCNI:docs/configuration-reference.md).
- Switches have the rail's subnet in the VPC's VRF on the ports of the cluster's hosts, with the last address as
  gateway.
- The Network Operator would install the CRDs of the IPAM only after the start of its pods. The IPAM is therefore
  installed from manifests, and pools are applied before nodes join.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NotRequired, TypedDict

from components.render import labels as keys
from components.render.manifest import Manifest
from components.render.network import port_functions
from components.render.network.device_plugins import PREFIX
from components.render.objects import manifest
from components.render.region.kustomizations import ByManifests
from components.render.region.operators import Operator
from components.specs.base import Address, Network
from components.specs.hosts.instance_types import InstanceType
from components.specs.network.fabrics import FabricSpec
from components.specs.region.versions import Chart, Tool
from components.specs.struct import Struct, field

NV_IPAM = Operator(chart="nv-ipam", namespace=port_functions.NAMESPACE)
"""IPAM for pod addresses on rails. It reads only pools of its namespace (NVIPAM:deploy/manifests/controller)."""
_LEAST_BLOCK = 4
"""Minimum block size. The last block of a subnet is then incomplete, so that no node's block contains the gateway."""


class Ipam(TypedDict):
    """IPAM settings of an attachment (NVIPAM:pkg/cni/types/types.go)."""

    type: str
    poolName: str
    poolType: str


class Plugin(TypedDict):
    """CNI plug-in of an attachment.

    Sources: SRIOVCNI:pkg/types/types.go, RDMACNI:pkg/types/types.go, CNIPLUGINS:plugins/meta/sbr/main.go.
    """

    type: str
    spoofchk: NotRequired[str]
    addSourceHints: NotRequired[bool]
    ipam: NotRequired[Ipam]


class Attachment(TypedDict):
    """Chain of CNI plug-ins of an attachment."""

    cniVersion: str
    name: str
    plugins: list[Plugin]


class Rails(Struct):
    """Rails of a fabric in one cluster."""

    fabric: FabricSpec
    prefix: Network
    """Address prefix of the cluster's pods, with one subnet per rail."""
    subnets: int
    """Number of subnets in the prefix, at least one per rail."""
    instance_types: tuple[InstanceType, ...]
    """Instance types of the cluster whose pods get functions of ports on the fabric."""
    multus: Tool
    cni_plugins: Tool | None = None
    """Image with the plug-in for routes by source address; None for version vectors of release 0.1.0."""
    placement: Mapping[str, Any]
    """Placement of the platform's services in the cluster."""
    nodes: int
    """Maximum number of nodes of the cluster."""
    by_manifests: ByManifests = field(default_factory=ByManifests)
    """Operators that are installed from manifests."""
    pins: Mapping[str, Chart] = field(default_factory=dict)
    """Pinned chart releases of the cluster, by chart."""

    @property
    def ports(self) -> int:
        """Return the maximum number of rails of a node."""
        return max(kind.roce_ports for kind in self.instance_types)

    @property
    def exclusive(self) -> bool:
        """Return whether RDMA devices move into pods and are visible only there."""
        return any(kind.rdma_exclusive for kind in self.instance_types)


def render(rails: Rails, cluster: str, tenant: str) -> tuple[Manifest, ...]:
    """Return the objects of ``rails`` in ``cluster``, in the order in which they are applied."""
    return (
        *port_functions.operators(
            rails.multus,
            cluster,
            rails.pins,
            rails.placement,
            rails.nodes,
            beside=(NV_IPAM,),
            by_manifests=rails.by_manifests,
            cni_plugins=rails.cni_plugins,
        ),
        *_functions(rails, cluster),
        *(_pool(rails, rail, cluster) for rail in range(rails.ports)),
        *(_attachment(rails, rail, cluster, tenant) for rail in range(rails.ports)),
    )


def block_of(kinds: Iterable[InstanceType]) -> int:
    """Return the number of addresses per node and rail: the number of functions of a port, up to a power of two."""
    functions = max(kind.dpu.virtual_functions for kind in kinds)
    return max(_LEAST_BLOCK, 1 << (functions - 1).bit_length())


def subnet(prefix: Network, subnets: int, rail: int) -> Network:
    """Return the subnet of ``rail`` in a cluster's prefix that is divided into ``subnets``."""
    length = prefix.prefixlen + (subnets - 1).bit_length()
    return Network((int(prefix.network_address) + (rail << (prefix.max_prefixlen - length)), length))


def gateway(of_rail: Network) -> Address:
    """Return the address of switches in the subnet of a rail, the last address before the broadcast address."""
    return of_rail.broadcast_address - 1


def attachment_of(fabric: str, rail: int) -> str:
    """Return the reference with which a pod requests the network attachment of a rail of ``fabric``."""
    return port_functions.attachment_annotation(_name(fabric, rail))


def resource_of(rail: int) -> str:
    """Return the resource that a pod requests for a function of its node's port on ``rail``."""
    return f"{PREFIX}/{_resource(rail)}"


def _resource(rail: int) -> str:
    return f"roce_rail_{rail}"  # Device plug-ins do not allow dashes in resource names.


def _name(fabric: str, rail: int) -> str:
    return f"{fabric}-rail-{rail}"


def _functions(rails: Rails, cluster: str) -> Iterator[Manifest]:
    mtu = rails.fabric.roce.mtu_bytes if rails.fabric.roce else None
    for kind in rails.instance_types:
        for rail, port in enumerate(kind.roce_interfaces):
            name, resource = f"{kind.name}-rail-{rail}", _resource(rail)
            yield port_functions.policy(kind, cluster, name=name, link="eth", resource=resource, ports=(port,), mtu=mtu)


def _pool(rails: Rails, rail: int, cluster: str) -> Manifest:
    """Return the address pool of a rail. Switches route traffic to other rails, from any port."""
    addresses = subnet(rails.prefix, rails.subnets, rail)
    kinds = [kind.name for kind in rails.instance_types if rail < kind.roce_ports]
    on_rail = {"key": keys.NODE_INSTANCE_TYPE, "operator": "In", "values": kinds}
    return manifest(
        "nv-ipam.nvidia.com/v1alpha1",
        "IPPool",
        _name(rails.fabric.name, rail),
        namespace=NV_IPAM.namespace,
        cluster=cluster,
        spec={
            "subnet": str(addresses),
            "perNodeBlockSize": block_of(rails.instance_types),
            "gateway": str(gateway(addresses)),
            "routes": [{"dst": str(rails.fabric.rail_prefixes)}],
            "nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [on_rail]}]},
        },
    )


def _attachment(rails: Rails, rail: int, cluster: str, tenant: str) -> Manifest:
    """Return the network attachment of a rail.

    All rails of a pod have a route to all rails, and the kernel selects one of them without regard to the source
    address. The plug-in ``sbr`` therefore moves the routes of each rail into a table for packets from the rail's
    address. It keeps the route to the rail's own subnet for sockets without a source address, in plug-ins that know
    ``addSourceHints`` (none up to v1.9.1; these ignore it).
    """
    name = _name(rails.fabric.name, rail)
    function: Plugin = {
        "type": "sriov",
        "spoofchk": "on",
        "ipam": {"type": "nv-ipam", "poolName": name, "poolType": "ippool"},
    }
    routed: list[Plugin] = [] if rails.cni_plugins is None else [{"type": "sbr", "addSourceHints": True}]
    moved: list[Plugin] = [{"type": "rdma"}] if rails.exclusive else []
    config: Attachment = {"cniVersion": "0.3.1", "name": name, "plugins": [function, *routed, *moved]}
    on_fabric = {keys.VRFS_ON: rails.fabric.name}
    return port_functions.attachment(name, config, resource_of(rail), cluster, tenant, on_fabric)
