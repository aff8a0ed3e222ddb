"""Addresses of a cluster's Services of type LoadBalancer: MetalLB pools, and their announcement by nodes.

MetalLB announces all addresses of a cluster, because a second BGP session of a node with the same neighbour would
conflict. The VPC pool serves any Service. Public addresses are only for the namespaces of the platform's VMs and of
Slurm's login nodes.
"""

from collections.abc import Iterable
from typing import Any

from components.render.manifest import Manifest
from components.render.objects import manifest
from components.render.vms.virtual_machine import PUBLIC_POOL
from components.specs.base import Address, Network
from components.specs.struct import Struct

VPC_POOL = "vpc"
_PEER = "neighbour"


class LoadBalancers(Struct):
    """Load balancer addresses of one cluster, and the settings of their announcement."""

    vpc: tuple[Network, ...]
    """Load balancer prefixes of the VPC. New prefixes are last, so that addresses of existing prefixes are used
    first."""
    public: tuple[Address, ...]
    """Public addresses of the platform's VMs and of login nodes."""
    public_namespaces: tuple[str, ...]
    """Namespaces whose Services can have a public address."""
    asn: int
    interface: str
    """Name of the host's interface to its DPU or, if no DPU isolates the VPC, to its switch."""


def pools(cluster: str, namespace: str, given: LoadBalancers) -> tuple[Manifest, ...]:
    """Return the address pools of ``cluster``, whose MetalLB is in ``namespace``, and the BGP session."""
    place: dict[str, Any] = {"namespace": namespace, "cluster": cluster}
    allowed = {"priority": 1, "namespaces": list(given.public_namespaces)}
    only: dict[str, Any] = {"autoAssign": False, "serviceAllocation": allowed}
    peer = {"myASN": given.asn, "dynamicASN": "external", "interface": given.interface}
    return (
        manifest("metallb.io/v1beta2", "BGPPeer", _PEER, **place, spec=peer),
        *_pool(VPC_POOL, map(str, given.vpc), place),
        *(_pool(PUBLIC_POOL, (f"{address}/32" for address in given.public), place, **only) if given.public else ()),
    )


def _pool(name: str, addresses: Iterable[str], place: dict[str, Any], **rules: Any) -> tuple[Manifest, ...]:
    announced = {"ipAddressPools": [name], "peers": [_PEER]}
    return (
        manifest("metallb.io/v1beta1", "IPAddressPool", name, **place, spec={"addresses": list(addresses), **rules}),
        manifest("metallb.io/v1beta1", "BGPAdvertisement", name, **place, spec=announced),
    )
