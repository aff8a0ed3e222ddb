"""Inputs of bucket access in a cluster."""

from collections.abc import Iterator

from components.lookups.pools import PlacedCluster
from components.render.storage.buckets import BucketsInput, OfferedBucket
from components.specs.environment import Environment


def of_cluster(environment: Environment, placed: PlacedCluster) -> Iterator[BucketsInput]:
    """Yield the input with the buckets that a cluster can access, in the order of the tenant's file."""
    offered = tuple(_offered(environment, placed))
    if offered:
        yield BucketsInput(name=placed.cluster.name, cluster=placed.cluster.name, offered=offered)


def _offered(environment: Environment, placed: PlacedCluster) -> Iterator[OfferedBucket]:
    stores = {store.name: store for store in environment.region.object_stores}
    vpc, tenant = environment.allocations.vpcs[placed.cluster.vpc], placed.tenant
    numbers = vpc.of_cluster(placed.cluster.name)
    for spec in tenant.buckets:
        for access in spec.access:
            if access.cluster == placed.cluster.name:
                yield OfferedBucket(
                    spec=spec,
                    store=stores[spec.store],
                    access=access,
                    bucket=spec.name_in_store(tenant.tenant),
                    networks=tuple(str(prefix) for kind in ("hosts", "pods") for prefix in numbers.of_kind(kind)),
                )
