"""Hosts for IronCore metal: the BMC of each, from which metal-operator makes the Server ``<host>-system-0``.

A Server carries the UUID of its system, which nobody knows before the BMC was asked: it is not ours to write. It takes
over the labels of its BMC, whenever they change, and never gives one up. So a free host says of cluster and pool that
they are none, instead of saying nothing; so does a host that is out of service, and no pool claims it.

BMC and Server are cluster-scoped: a host that changes its owner changes labels and stays where it is. Its credentials
are a BMCSecret of the name in the inventory, put there by whoever holds them.
"""

from __future__ import annotations

from collections.abc import Iterator

from components.render import labels as keys
from components.render.hosts.hosts import PlacedHost
from components.render.manifest import Manifest
from components.render.objects import manifest
from components.specs.hosts.bmc import parse_bmc
from components.specs.pools.nodes import FirmwareUpdate

_NONE = ""
"""Value of an owner's label on a host that nobody owns; no cluster and no pool can be called so."""


def render(placed: PlacedHost, _updates: FirmwareUpdate) -> Iterator[Manifest]:
    """Yield the BMC through which the host is found and started."""
    host, owner = placed.host, placed.owner if placed.in_service else None
    bmc = parse_bmc(host.bmc)
    yield manifest(
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
            "access": {"ip": bmc.host},
            "bmcSecretRef": {"name": host.bmc_secret},
            "protocol": {"name": "Redfish", "scheme": bmc.transport, "port": bmc.port},
        },
    )
