"""Addresses of the region's services that every VPC reaches."""

from components.lookups.pools import DataPath
from components.specs.base import Address
from components.specs.region.region import RegionSpec

REGISTRY: DataPath = ("registry", "address")
METRICS: DataPath = ("observability", "metrics", "address")


def served_addresses(region: RegionSpec) -> dict[DataPath, Address]:
    """Return the addresses of services that every VPC of ``region`` reaches, by path in ``region.yaml``."""
    registry, store = region.registry, region.observability.store if region.observability else None
    addresses = {
        REGISTRY: registry.address if registry else None,
        METRICS: store.address if store else None,
    }
    return {path: address for path, address in addresses.items() if address is not None}
