"""What the storage of a cluster is made from."""

from __future__ import annotations

from collections.abc import Iterator

from components.plan.pools import PlacedCluster, clusters_of
from components.render import labels as keys
from components.render.storage import StorageCatalogInput
from components.specs.environment import Environment
from components.specs.storage import TopolvmClassSpec
from components.specs.tenant import TenantSpec


def of_cluster(environment: Environment, placed: PlacedCluster) -> Iterator[StorageCatalogInput]:
    """Yield the storage classes of a cluster, in the order that it names them."""
    cluster, tenant = placed.cluster, placed.tenant
    classes = {spec.name: spec.of_tenant(tenant.tenant) for spec in environment.region.storage}
    offered = tuple(classes[name] for name in cluster.storage)
    yield StorageCatalogInput(
        name=cluster.name,
        cluster=cluster.name,
        classes=offered,
        annotations={
            spec.name: _annotations(environment, tenant, spec.name)
            for spec in offered
            if not isinstance(spec, TopolvmClassSpec)
        },
    )


def _annotations(environment: Environment, tenant: TenantSpec, name: str) -> dict[str, str]:
    """Return what the storage system is to know: from where ``tenant`` mounts a class, and how much of it."""
    mounting = dict.fromkeys(placed.cluster.vpc for placed in clusters_of(tenant) if name in placed.cluster.storage)
    networks = [str(environment.allocations.vpcs[vpc].hosts) for vpc in mounting]
    quota = tenant.quotas.storage.get(name)
    return {keys.CLIENT_NETWORKS: ",".join(networks)} | ({keys.TENANT_QUOTA: quota} if quota else {})
