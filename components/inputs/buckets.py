"""Inputs of buckets: those that the operator of a store creates, and the access of a cluster."""

from collections.abc import Callable, Iterator

from components.lookups.pools import PlacedCluster
from components.render.storage.buckets import BucketsInput, OfferedBucket
from components.render.storage.seaweedfs import ProvisionedBucket, ProvisionedBucketsInput, secret_name
from components.render.workloads.slurm_pool import NAMESPACE as SLURM
from components.specs.environment import Environment
from components.specs.region.tenant import TenantSpec


def of_tenant(environment: Environment, tenant: TenantSpec) -> Iterator[ProvisionedBucketsInput]:
    """Yield the input with the tenant's buckets in stores with an operator, in the order of the tenant's file."""
    stores = {store.name: store.seaweedfs for store in environment.region.object_stores}
    buckets = tuple(
        ProvisionedBucket(spec=spec, store=store, bucket=spec.name_in_store(tenant.tenant))
        for spec in tenant.buckets
        if (store := stores[spec.store])
    )
    if buckets:
        yield ProvisionedBucketsInput(name=tenant.tenant, buckets=buckets)


def generated_keys(environment: Environment) -> dict[tuple[str, str], str]:
    """Return the Secrets with keys that operators of stores create in the namespaces of clusters.

    Each is found by the cluster and by the name that the Secret has inside the cluster.
    """
    return {
        (access.cluster, one.spec.found_as): secret_name(one.spec)
        for tenant in environment.tenants
        for concept in of_tenant(environment, tenant)
        for one in concept.buckets
        for access in one.spec.access
    }


def of_cluster(environment: Environment, placed: PlacedCluster) -> Iterator[BucketsInput]:
    """Yield the input with the buckets that a cluster can access, in the order of the tenant's file."""
    offered = tuple(offered_buckets(environment, placed, lambda namespace: namespace != SLURM))
    if offered:
        yield BucketsInput(name=placed.cluster.name, cluster=placed.cluster.name, offered=offered)


def offered_buckets(
    environment: Environment, placed: PlacedCluster, chosen: Callable[[str], bool]
) -> Iterator[OfferedBucket]:
    """Yield the buckets with keys in ``chosen`` namespaces of a cluster.

    Namespace ``slurm-cluster`` exists after other namespaces: Slurm's input has the buckets with keys there.
    """
    stores = {store.name: store for store in environment.region.object_stores}
    cluster = placed.cluster
    for spec in placed.tenant.buckets:
        for access in spec.access:
            namespaces = tuple(filter(chosen, access.namespaces)) if access.cluster == cluster.name else ()
            if namespaces:
                numbers = environment.allocations.vpcs[cluster.vpc].of_cluster(cluster.name)
                yield OfferedBucket(
                    spec=spec,
                    store=stores[spec.store],
                    rights=access.rights,
                    namespaces=namespaces,
                    bucket=spec.name_in_store(placed.tenant.tenant),
                    networks=tuple(str(prefix) for kind in ("hosts", "pods") for prefix in numbers.of_kind(kind)),
                )
