"""Address pool of Metal3's IPAM for the hosts of a node pool: one address per host, with its DPU as gateway.

Each link is a range of one address. A claim is named after its host (the provider's
``--enable-bmh-name-based-preallocation``), so a host has the same address for all its Machines. A host that is not
listed in the pool gets no address.
"""

from __future__ import annotations

from collections.abc import Mapping

from components.render.manifest import Json, Manifest
from components.render.network.dpf_hbn import GATEWAY_INDEX, HOST_INDEX, POINT_TO_POINT
from components.render.objects import manifest
from components.render.pools.template_revision_5 import pool_name
from components.specs.base import Address


def render(cluster: str, pool: str, addresses: Mapping[str, Address], labels: dict[str, str]) -> Manifest:
    """Return the IPPool of the hosts in ``pool``, with ``addresses`` by host."""
    name = pool_name(cluster, pool)
    return manifest(
        "ipam.metal3.io/v1alpha1",
        "IPPool",
        name,
        namespace=cluster,
        labels=labels,
        spec={
            "clusterName": cluster,
            "namePrefix": name,
            "pools": [_link(address) for address in sorted(addresses.values())],
            "preAllocations": {f"{host}-{name}": str(address) for host, address in addresses.items()},
        },
    )


def _link(address: Address) -> Json:
    gateway = address - HOST_INDEX + GATEWAY_INDEX
    return {"start": str(address), "end": str(address), "prefix": POINT_TO_POINT, "gateway": str(gateway)}
