"""Addresses of a cluster's Services of type LoadBalancer: pools of MetalLB, and how nodes announce them.

One owner for all addresses that a cluster announces: a second session of a node with the same neighbour would collide.
The pool of the VPC serves any Service; public addresses are those of the platform's VMs, for their namespace alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from components.render.manifest import Manifest
from components.render.objects import manifest
from components.render.vms.virtual_machine import PUBLIC_POOL
from components.render.vms.vm_images import NAMESPACE
from components.specs.base import Address, Network

VPC_POOL = "vpc"
_PEER = "neighbour"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadBalancers:
    """Addresses of one cluster, and how its nodes announce them."""

    vpc: tuple[Network, ...]
    """Prefixes of the VPC for load balancers; a new one comes last, so that addresses that are free go first."""
    public: tuple[Address, ...]
    """Public addresses of the platform's VMs."""
    asn: int
    interface: str
    """Name of the host's port on its DPU or, where no DPU isolates the VPC, on its switch."""


def pools(cluster: str, namespace: str, given: LoadBalancers) -> tuple[Manifest, ...]:
    """Return the pools of ``cluster``, whose MetalLB is in ``namespace``, and the session that announces them."""
    place: dict[str, Any] = {"namespace": namespace, "cluster": cluster}
    only_vms: dict[str, Any] = {"autoAssign": False, "serviceAllocation": {"priority": 1, "namespaces": [NAMESPACE]}}
    peer = {"myASN": given.asn, "dynamicASN": "external", "interface": given.interface}
    return (
        manifest("metallb.io/v1beta2", "BGPPeer", _PEER, **place, spec=peer),
        *_pool(VPC_POOL, map(str, given.vpc), place),
        *(_pool(PUBLIC_POOL, (f"{address}/32" for address in given.public), place, **only_vms) if given.public else ()),
    )


def _pool(name: str, addresses: Iterable[str], place: dict[str, Any], **rules: Any) -> tuple[Manifest, ...]:
    announced = {"ipAddressPools": [name], "peers": [_PEER]}
    return (
        manifest("metallb.io/v1beta1", "IPAddressPool", name, **place, spec={"addresses": list(addresses), **rules}),
        manifest("metallb.io/v1beta1", "BGPAdvertisement", name, **place, spec=announced),
    )
