"""Capabilities of a region that orders can require."""

from components.specs.environment import Environment
from components.specs.fleet.fleet import STORAGE, FleetRegionSpec
from components.specs.network.fabrics import FabricKind


def capabilities(environment: Environment, entry: FleetRegionSpec | None = None) -> tuple[str, ...]:
    """Return the sorted capabilities of a region: from its own data, and from its ``entry`` in the fleet.

    A region offers VMs if a storage class keeps their images beyond the life of a node.
    """
    region = environment.region
    names = {f"{STORAGE}{item.driver}" for item in region.storage}
    names |= {"infiniband" for fabric in region.fabrics if fabric.kind is FabricKind.INFINIBAND}
    names |= {"roce" for fabric in region.fabrics if fabric.roce}
    names |= {"vms" for item in region.storage if item.durable}
    return tuple(sorted(names | set(entry.capabilities if entry else ())))
