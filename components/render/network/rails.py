"""Functions of a node's ports on RoCE, as pods get them: each with an address of the port's rail, and RDMA.

A rail is what port N of all hosts is on, with a subnet of its own in the VPC's VRF. In the cluster the virtual
functions of a rail's ports are one resource (`components.render.network.port_functions`), an attachment of the rail
moves one into the pod, and NVIDIA's IPAM gives it an address of the rail's subnet, from the block of the pod's node.

What this rests on:

- Golden images make the functions, as many as the instance type says, and set ports to the fabric's MTU. The SR-IOV
  operator refuses a policy that asks for more of either (SRIOV:pkg/host/internal/sriov/sriov.go), and gives functions
  the MTU of the policy: sriov-cni has no option for it and leaves it (SRIOVCNI:docs/configuration-reference.md).
- Switches have the rail's subnet in the VPC's VRF on the ports of the cluster's hosts, and its gateway, the last
  address.
- The Network Operator would bring the IPAM's kinds only once its own pods run. So the IPAM comes by its manifests, and
  pools are applied before nodes are there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NotRequired, TypedDict

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

NV_IPAM = Operator(chart="nv-ipam", namespace=port_functions.NAMESPACE)
"""What gives pods addresses of rails; it takes pools of its own namespace (NVIPAM:deploy/manifests/controller)."""
_LEAST_BLOCK = 4
"""A subnet in blocks of at least four addresses ends with a part of one, where the gateway is in no node's block."""


class Ipam(TypedDict):
    """Where an attachment's addresses are from (NVIPAM:pkg/cni/types/types.go)."""

    type: str
    poolName: str
    poolType: str


class Plugin(TypedDict):
    """A plug-in of an attachment (SRIOVCNI:pkg/types/types.go, RDMACNI:pkg/types/types.go)."""

    type: str
    spoofchk: NotRequired[str]
    ipam: NotRequired[Ipam]


class Attachment(TypedDict):
    """What plug-ins do one after the other for a pod that names the attachment."""

    cniVersion: str
    name: str
    plugins: list[Plugin]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rails:
    """The rails of a fabric in one cluster."""

    fabric: FabricSpec
    prefix: Network
    """Addresses of the cluster's pods, in one subnet a rail."""
    subnets: int
    """Number of subnets that the prefix is cut into, at least one for each rail."""
    instance_types: tuple[InstanceType, ...]
    """Instance types of the cluster whose pods get functions of ports on the fabric."""
    multus: Tool
    by_manifests: ByManifests = field(default_factory=ByManifests)
    """Which operators come by manifests."""
    pins: Mapping[str, Chart] = field(default_factory=dict)
    """Releases of charts that are pinned for the cluster, by chart."""

    @property
    def ports(self) -> int:
        """Return how many rails any node has a port on."""
        return max(kind.roce_ports for kind in self.instance_types)

    @property
    def exclusive(self) -> bool:
        """Tell whether RDMA devices move into pods, which nothing but the pod sees then."""
        return any(kind.rdma_exclusive for kind in self.instance_types)


def render(rails: Rails, cluster: str, tenant: str) -> tuple[Manifest, ...]:
    """Return the objects of ``rails`` in ``cluster``, in the order they are applied."""
    return (
        *port_functions.operators(
            rails.multus, cluster, rails.pins, beside=(NV_IPAM,), by_manifests=rails.by_manifests
        ),
        *_functions(rails, cluster),
        *(_pool(rails, rail, cluster) for rail in range(rails.ports)),
        *(_attachment(rails, rail, cluster, tenant) for rail in range(rails.ports)),
    )


def block_of(kinds: Iterable[InstanceType]) -> int:
    """Return how many addresses of a rail a node has: one for each function of a port, up to a power of two."""
    functions = max(kind.dpu.virtual_functions for kind in kinds)
    return max(_LEAST_BLOCK, 1 << (functions - 1).bit_length())


def subnet(prefix: Network, subnets: int, rail: int) -> Network:
    """Return the subnet of ``rail`` in a cluster's prefix that is cut into ``subnets``."""
    length = prefix.prefixlen + (subnets - 1).bit_length()
    return Network((int(prefix.network_address) + (rail << (prefix.max_prefixlen - length)), length))


def gateway(of_rail: Network) -> Address:
    """Return the address that switches have in the subnet of a rail: the last before its broadcast."""
    return of_rail.broadcast_address - 1


def attachment_of(fabric: str, rail: int) -> str:
    """Return how a pod names its network attachment on a rail of ``fabric``."""
    return port_functions.attachment_called(_name(fabric, rail))


def resource_of(rail: int) -> str:
    """Return the resource by which a pod asks for a function of its node's port on ``rail``."""
    return f"{PREFIX}/{_resource(rail)}"


def _resource(rail: int) -> str:
    return f"roce_rail_{rail}"  # plug-ins take no dash in it


def _name(fabric: str, rail: int) -> str:
    return f"{fabric}-rail-{rail}"


def _functions(rails: Rails, cluster: str) -> Iterator[Manifest]:
    mtu = rails.fabric.roce.mtu_bytes if rails.fabric.roce else None
    for kind in rails.instance_types:
        for rail, port in enumerate(kind.roce_interfaces):
            name, resource = f"{kind.name}-rail-{rail}", _resource(rail)
            yield port_functions.policy(kind, cluster, name=name, link="eth", resource=resource, ports=(port,), mtu=mtu)


def _pool(rails: Rails, rail: int, cluster: str) -> Manifest:
    """Return the addresses of a rail; what is for another rail goes by the switches, from whichever port sends it."""
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
    name = _name(rails.fabric.name, rail)
    function: Plugin = {
        "type": "sriov",
        "spoofchk": "on",
        "ipam": {"type": "nv-ipam", "poolName": name, "poolType": "ippool"},
    }
    moved: list[Plugin] = [{"type": "rdma"}] if rails.exclusive else []
    config: Attachment = {"cniVersion": "0.3.1", "name": name, "plugins": [function, *moved]}
    on_fabric = {keys.VRFS_ON: rails.fabric.name}
    return port_functions.attachment(name, config, resource_of(rail), cluster, tenant, on_fabric)
