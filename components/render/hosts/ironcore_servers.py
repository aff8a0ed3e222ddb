"""Hosts for IronCore metal: a BMC object per host. metal-operator creates the Server ``<host>-system-0`` from it.

Jacquard renders no Servers, because a Server contains the UUID of its system, which only the BMC reports. A Server
copies the labels of its BMC on every change, but never removes a label. An unassigned host therefore has empty labels
for cluster and pool. A host out of service also has empty labels, so that no pool claims it.

BMC and Server are cluster-scoped: if the owner of a host changes, only the labels of its objects change. The
credentials are a BMCSecret with the name in the inventory, created by the operator of the region.
"""

from collections.abc import Iterator

from components.render import labels as keys
from components.render.hosts.hosts import PlacedHost
from components.render.manifest import Manifest
from components.render.objects import manifest
from components.specs.hosts.bmc import parse_bmc
from components.specs.pools.nodes import FirmwareUpdate

_NONE = ""
"""Value of the owner labels of a host without an owner. No cluster or pool can have this name."""


def render(placed: PlacedHost, _updates: FirmwareUpdate) -> Iterator[Manifest]:
    """Yield the BMC object, which metal-operator uses to discover and power on the host."""
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
