"""Rules about names that refer to undeclared entries."""

from collections import Counter
from collections.abc import Iterable, Iterator

from components.intents.images import CHANNEL
from components.lookups.charts import needed_charts, without_values
from components.lookups.control_planes import standing_pins
from components.lookups.pools import (
    DataPath,
    PlacedCluster,
    clusters,
    inventory_file,
    pools,
    problem,
    tenant_file,
    vm_pools,
    vms_of,
)
from components.rules.rule import Rules
from components.specs.base import DEDICATED, PLACED
from components.specs.environment import Environment
from components.specs.hosts.inventory import HostSpec
from components.specs.reading.loader import IMAGES, INSTANCE_TYPES, REGION, VERSIONS, VM_OFFERINGS
from components.specs.reading.problems import Problem, Undeclared, nearest, reported, undeclared
from components.specs.region.tenant import TenantSpec


def dpu_image(environment: Environment) -> Iterator[Problem]:
    """Report a DPU image that is not in the catalogue."""
    declared = [image.version for image in environment.images.dpu_images]
    yield from _missing(environment, REGION, ("dpus", "image"), environment.region.dpus.image, declared, IMAGES)


def image_instance_types(environment: Environment) -> Iterator[Problem]:
    """Report undeclared instance types in ``fits`` of an image."""
    for index, image in enumerate(environment.images.images):
        for place, name in enumerate(image.fits):
            path = ("images", index, "fits", place)
            yield from _missing_type(environment, IMAGES, path, name, image.fits)


def lost_instance_types(environment: Environment) -> Iterator[Problem]:
    """Report instance types that were removed from the catalogue while nodes run on their hosts."""
    count = Counter(host.instance_type for host in environment.hosts)
    for name in lost_types(environment):
        text = (
            f"'{name}' was removed, but {count[name]} hosts with nodes have this type; restore it (git diff shows it),"
            " or rename it in inventories, pools, contracts and the catalogue alike"
        )
        yield problem(environment, INSTANCE_TYPES, ("instance_types",), text)


def lost_types(environment: Environment) -> list[str]:
    """Return undeclared instance types that both pools and the hosts of their nodes have."""
    declared, types = _instance_types(environment), {host.host: host.instance_type for host in environment.hosts}
    wanted = {placed.key: placed.pool.instance_type for placed in pools(environment)}
    assigned = environment.allocations.hosts.items()
    undeclared_types = dict.fromkeys(
        types[host] for host, key in assigned if host in types and types[host] == wanted.get(key)
    )
    return [name for name in undeclared_types if name not in declared]


def _missing_type(
    environment: Environment, file: str, path: DataPath, name: str, taken: Iterable[str] = ()
) -> Iterator[Problem]:
    declared = _instance_types(environment)
    if name not in declared and name not in lost_types(environment):
        yield from _missing(environment, file, path, name, declared, INSTANCE_TYPES, taken)


def host_instance_types(environment: Environment) -> Iterator[Problem]:
    """Report hosts with an undeclared instance type."""
    declared = _instance_types(environment)
    known = {*declared, *lost_types(environment)}
    for host in environment.hosts:
        if host.instance_type not in known:
            yield host_problem(
                environment, host, "instance_type", undeclared(host.instance_type, declared, INSTANCE_TYPES)
            )


def contracts(environment: Environment) -> Iterator[Problem]:
    """Report contracts for undeclared instance types."""
    for tenant in environment.tenants:
        for index, contract in enumerate(tenant.contract):
            path = ("contract", index, "instance_type")
            taken = [other.instance_type for other in tenant.contract]
            yield from _missing_type(environment, tenant_file(tenant), path, contract.instance_type, taken)


def cluster_references(environment: Environment) -> Iterator[Problem]:
    """Report undeclared versions, VPCs, data stores and storage classes of clusters."""
    control_planes = environment.region.control_planes
    stores = [store.name for store in control_planes.data_stores]
    if control_planes.dedicated:
        stores.append(DEDICATED)
    classes = [entry.name for entry in environment.region.storage]
    pins = standing_pins(environment)
    for placed in clusters(environment):
        cluster, file, path = placed.cluster, placed.file, placed.path
        vpcs = [vpc.name for vpc in placed.tenant.vpcs]
        versions = environment.versions.kubernetes
        if cluster.name in pins and pins[cluster.name].version == cluster.version not in versions:
            text = f"'{cluster.version}' was removed from {VERSIONS}, but {cluster.name} runs it; restore it there"
            yield problem(environment, file, (*path, "version"), text)
        else:
            yield from _missing(environment, file, (*path, "version"), cluster.version, versions, VERSIONS)
        had = environment.allocations.clusters.get(cluster.name)
        if had is not None and had.tenant == placed.tenant.tenant and had.vpc == cluster.vpc not in vpcs:
            yield problem(environment, file, (*path, "vpc"), _gone(cluster.vpc, "vpcs of this file", cluster.name))
        else:
            yield from _missing(environment, file, (*path, "vpc"), cluster.vpc, vpcs, "vpcs of this file")
        store, store_path = cluster.control_plane.data_store, (*path, "control_plane", "data_store")
        in_use = (
            cluster.name in pins and pins[cluster.name].data_store == store
        )  # Rule control_planes.data_stores_in_use reports this.
        if store != PLACED and not in_use:
            yield from _missing(environment, file, store_path, store, stores, REGION)
        for index, name in enumerate(cluster.storage):
            at, users = (*path, "storage", index), _users(placed, name)
            yield from _missing(environment, file, at, name, classes, REGION, cluster.storage, users)


def _users(placed: PlacedCluster, storage_class: str) -> Iterator[str]:
    """Yield the entries of the data that use ``storage_class`` of a cluster."""
    vms = placed.tenant.vms
    if vms is None or vms.cluster != placed.cluster.name:
        return
    if vms.image_storage_class == storage_class:
        yield "images of VMs"
    for vm in vms.machines:
        if any(volume.storage_class == storage_class for volume in (*vm.volumes, *((vm.root,) if vm.root else ()))):
            yield f"VM {vm.name}"


def pool_references(environment: Environment) -> Iterator[Problem]:
    """Report undeclared instance types and images of pools."""
    images = [image.version for image in environment.images.images]
    for placed in pools(environment):
        pool, file, path = placed.pool, placed.file, placed.path
        yield from _missing_type(environment, file, (*path, "instance_type"), pool.instance_type)
        if pool.image != CHANNEL:
            yield from _missing(environment, file, (*path, "image"), pool.image, images, IMAGES)


def vm_references(environment: Environment) -> Iterator[Problem]:
    """Report undeclared clusters, sizes, images and storage classes of a tenant's VMs."""
    for tenant in environment.tenants:
        if not tenant.vms:
            continue
        file, names = tenant_file(tenant), [cluster.name for cluster in tenant.clusters]
        yield from _missing(environment, file, ("vms", "cluster"), tenant.vms.cluster, names, "clusters of this file")
        yield from _vm_pools(environment, tenant)
        yield from _vm_catalog(environment, tenant)
        yield from _vms(environment, tenant)


def _vm_pools(environment: Environment, tenant: TenantSpec) -> Iterator[Problem]:
    for cluster in tenant.clusters:
        if tenant.vms and cluster.name == tenant.vms.cluster:
            names = [pool.name for pool in cluster.pools]
            for index, name in enumerate(tenant.vms.pools):
                path = ("vms", "pools", index)
                there = f"pools of {cluster.name}"
                yield from _missing(environment, tenant_file(tenant), path, name, names, there, tenant.vms.pools)


def _vm_catalog(environment: Environment, tenant: TenantSpec) -> Iterator[Problem]:
    if not tenant.vms:
        return
    file = tenant_file(tenant)
    sizes = [size.name for size in environment.vm_catalog.sizes]
    images = [image.name for image in environment.vm_catalog.images]
    offered = (
        ("offerings", tenant.vms.offerings, sizes, "size"),
        ("images", tenant.vms.images, images, "image"),
    )
    for key, names, declared, field in offered:
        for index, name in enumerate(names):
            users = [f"VM {vm.name}" for vm in tenant.vms.machines if getattr(vm, field) == name]
            path = ("vms", key, index)
            yield from _missing(environment, file, path, name, declared, VM_OFFERINGS, names, users)
    yield from _storage_class(environment, tenant, ("vms", "image_storage_class"), tenant.vms.image_storage_class)


def _vms(environment: Environment, tenant: TenantSpec) -> Iterator[Problem]:
    if not tenant.vms:
        return
    file, vms = tenant_file(tenant), tenant.vms
    home = next((cluster for cluster in tenant.clusters if cluster.name == vms.cluster), None)
    pools_for_vms = [pool.name for pool in vm_pools(environment, vms, home)] if home else []
    images = [*vms.images, *(image.name for image in vms.own_images)]
    listed_in = "vms.images and vms.own_images" if vms.own_images else "vms.images"
    for path, vm in vms_of(tenant):
        yield from _missing(environment, file, (*path, "size"), vm.size, vms.offerings, "vms.offerings of this file")
        yield from _missing(environment, file, (*path, "image"), vm.image, images, f"{listed_in} of this file")
        if vm.pool is not None and home:
            where = f"pools for VMs of {home.name}"
            yield from _missing(environment, file, (*path, "pool"), vm.pool, pools_for_vms, where)
        if vm.root is not None:
            yield from _storage_class(environment, tenant, (*path, "root", "storage_class"), vm.root.storage_class)
        for place, volume in enumerate(vm.volumes):
            volume_path = (*path, "volumes", place, "storage_class")
            yield from _storage_class(environment, tenant, volume_path, volume.storage_class)


def charts(environment: Environment) -> Iterator[Problem]:
    """Report required operators and drivers that are missing from the version vector."""
    declared = list(environment.versions.installed(environment.region.image_channel))
    needed, delivered = needed_charts(environment), {manifest.name for manifest in environment.versions.manifests}
    for name, (file, path) in needed.items():
        if name not in {*declared, *delivered}:
            text = f"which is not in charts of {VERSIONS}; add it there"
            if environment.versions.releases(name):
                channel = environment.region.image_channel
                text = f"for which channel {channel} offers no release ({VERSIONS}); add one there"
            near = nearest(name, (candidate for candidate in declared if candidate not in needed))
            text += f", or rename '{near}' if it is the same chart" if near else ""
            yield problem(environment, file, path, f"requires chart '{name}', {text}")


def manifests(environment: Environment) -> Iterator[Problem]:
    """Report manifests for components that are installed with values, because manifests accept no values."""
    needed, plain = needed_charts(environment), without_values(environment)
    for index, manifest in enumerate(environment.versions.manifests):
        if manifest.name in needed and manifest.name not in plain:
            reason = f"'{manifest.name}' is installed with values, which manifests do not accept"
            text = f"{reason}; remove it here, and pin a chart"
            yield problem(environment, VERSIONS, ("manifests", index), text)


def host_problem(
    environment: Environment, host: HostSpec, column: str, text: str | Undeclared, subject: str = ""
) -> Problem:
    """Return a problem in the row of ``host``; waivers match ``subject``."""
    file = inventory_file(host.hall)
    return reported(file, environment.positions.line(file, (host.host,)), column, text, subject=subject)


def _instance_types(environment: Environment) -> list[str]:
    return [entry.name for entry in environment.instance_types.instance_types]


def _storage_class(environment: Environment, tenant: TenantSpec, path: DataPath, name: str) -> Iterator[Problem]:
    for cluster in tenant.clusters:
        if tenant.vms and cluster.name == tenant.vms.cluster:
            where = f"storage of cluster {cluster.name}"
            yield from _missing(environment, tenant_file(tenant), path, name, cluster.storage, where)


def _missing(
    environment: Environment,
    file: str,
    path: DataPath,
    name: str,
    declared: Iterable[str],
    where: str,
    taken: Iterable[str] = (),
    users: Iterable[str] = (),
) -> Iterator[Problem]:
    """Report ``name``, with its ``users``, if it is not in ``declared``. Names in ``taken`` are not suggested."""
    declared = list(declared)
    if name not in declared:
        yield problem(environment, file, path, undeclared(name, declared, where, taken, users))


def _gone(name: str, where: str, cluster: str) -> str:
    """Return the message about a removed entry that a cluster still uses and that has no replacement."""
    return f"'{name}' was removed from {where}, but {cluster} uses it; restore it there"


RULES = Rules(
    references=(
        dpu_image,
        image_instance_types,
        lost_instance_types,
        host_instance_types,
        contracts,
        cluster_references,
        pool_references,
        vm_references,
        charts,
        manifests,
    )
)
