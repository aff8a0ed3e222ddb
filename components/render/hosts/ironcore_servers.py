"""Hosts for IronCore metal: a BMC object per host, from which metal-operator creates the Server ``<host>-system-0``.

A Server contains the UUID of its system, which is unknown until the BMC is queried, so Jacquard renders no Servers. A
Server copies the labels of its BMC on every change, but never removes a label. So a free host has empty labels for
cluster and pool instead of none. The same applies to a host out of service, which no pool then claims.

BMC and Server are cluster-scoped: a host whose owner changes keeps its objects and only changes labels. Its credentials
are a BMCSecret with the name from the inventory, which the operator of the region provides.
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
"""Value of the owner labels of a host without an owner; it is not a valid name of a cluster or pool."""


def render(placed: PlacedHost, _updates: FirmwareUpdate) -> Iterator[Manifest]:
    """Yield the BMC by which the host is discovered and powered on."""
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
