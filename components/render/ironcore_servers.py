"""Hosts for IronCore metal: the BMC of each, from which metal-operator makes the Server ``<host>-system-0``.

A Server carries the UUID of its system, which nobody knows before the BMC was asked: it is not ours to write. It takes
over the labels of its BMC, whenever they change, and never gives one up. So a free host says of cluster and pool that
they are none, instead of saying nothing; so does a host that is out of service, and no pool claims it.

BMC and Server are cluster-scoped: a host that changes its owner changes labels and stays where it is. Its credentials
are a BMCSecret of the name in the inventory, put there by whoever holds them.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from components.render import labels as keys
from components.render.hosts import PlacedHost
from components.render.manifest import Manifest
from components.render.objects import manifest

_NONE = ""
"""Value of an owner's label on a host that nobody owns; no cluster and no pool can be called so."""
_PORTS = {"http": 80, "https": 443}


def render(placed: PlacedHost) -> Manifest:
    """Return the BMC through which the host is found and started."""
    host, owner = placed.host, placed.owner if placed.in_service else None
    scheme, address, port = _endpoint(host.bmc)
    return manifest(
        "metal.ironcore.dev/v1alpha1",
        "BMC",
        host.host,
        annotations=placed.notes,
        labels={
            **placed.labels,
            **placed.condition,
            keys.CLUSTER: _NONE if owner is None else owner.cluster,
            keys.POOL: _NONE if owner is None else owner.pool,
        },
        spec={
            "access": {"ip": address},
            "bmcSecretRef": {"name": host.bmc_secret},
            "protocol": {"name": "Redfish", "scheme": scheme, "port": port},
        },
    )


def _endpoint(bmc: str) -> tuple[str, str, int]:
    """Return scheme, address and port of a BMC that is written in Metal3's form, ``redfish+https://10.1.0.1/...``."""
    url = urlsplit(bmc)
    _, _, transport = url.scheme.partition("+")
    scheme = transport or "https"
    return scheme, url.hostname or "", url.port or _PORTS[scheme]
