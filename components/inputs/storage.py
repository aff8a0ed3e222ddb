"""Inputs of the storage of a cluster."""

from collections.abc import Iterator

from components.lookups.add_ons import facts
from components.lookups.pools import PlacedCluster, clusters_of
from components.render import labels as keys
from components.render.storage.driver_placement import DriverPlacement
from components.render.storage.storage import DEFAULT_OF_VMS, StorageCatalogInput
from components.specs.environment import Environment
from components.specs.storage.storage import StorageClassSpec


def of_cluster(environment: Environment, placed: PlacedCluster) -> Iterator[StorageCatalogInput]:
    """Yield the storage classes of a cluster, in the order of the data."""
    cluster, tenant = placed.cluster, placed.tenant
    classes = {spec.name: spec.of_tenant(tenant.tenant) for spec in environment.region.storage}
    offered = tuple(classes[name] for name in cluster.storage)
    yield StorageCatalogInput(
        name=cluster.name,
        cluster=cluster.name,
        classes=offered,
        pins=environment.image_pins.charts_of(cluster.name),
        annotations={spec.name: _annotations(environment, placed, spec) for spec in offered if not spec.LOCAL},
        placement=DriverPlacement(
            services=facts(environment, placed).placement, with_disks=_with_disks(environment, placed)
        ),
    )


def _with_disks(environment: Environment, placed: PlacedCluster) -> tuple[str, ...]:
    """Return the instance types with local disks among the pools of a cluster."""
    kinds = environment.instance_types.by_name
    names = {pool.instance_type for pool in placed.cluster.pools}
    return tuple(sorted(name for name in names if name in kinds and kinds[name].nvme_disks))


def _annotations(environment: Environment, placed: PlacedCluster, spec: StorageClassSpec) -> dict[str, str]:
    """Return the annotations of a storage class: export, quota and snapshots of the tenant, and use by VMs."""
    tenant, name = placed.tenant, spec.name
    mounting = dict.fromkeys(other.cluster.vpc for other in clusters_of(tenant) if name in other.cluster.storage)
    networks = [str(prefix) for vpc in mounting for prefix in environment.allocations.vpcs[vpc].of_kind("hosts")]
    quota = tenant.quotas.storage.get(name)
    vms = tenant.vms
    of_vms = vms is not None and (vms.cluster, vms.image_storage_class) == (placed.cluster.name, name)
    return {
        keys.CLIENT_NETWORKS: ",".join(networks),
        **({keys.TENANT_QUOTA: quota} if quota else {}),
        **({keys.TREE_SNAPSHOTS: spec.snapshots.schedule} if spec.snapshots else {}),
        **({DEFAULT_OF_VMS: "true"} if of_vms else {}),
    }
