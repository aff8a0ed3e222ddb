"""Rules about virtual machines: offerings fit on nodes, and VMs match the offerings."""

from collections import Counter
from collections.abc import Iterable, Iterator

from components.intents.vm_room import node_resources, ordered, vms_in, vms_on
from components.lookups.pools import most_nodes, place, problem, system_of, tenant_file, vm_pools, vms_of
from components.render.vms.virtual_machine import MOST_INLINE, user_data
from components.rules.rule import Rules
from components.specs.base import GIBIBYTE, bytes_of
from components.specs.control_planes.hosted_control_plane import ClusterSpec
from components.specs.environment import Environment
from components.specs.hosts.instance_types import InstanceType
from components.specs.pools.huge_pages import PageSize
from components.specs.pools.node_pool import NodePoolSpec
from components.specs.reading.loader import REGION, VM_OFFERINGS
from components.specs.reading.problems import Problem, listed, one_of
from components.specs.region.tenant import TenantSpec
from components.specs.vms.guests import GuestSystem
from components.specs.vms.vm_offering import VmsSpec
from components.specs.vms.vm_sizes import EvictionStrategy

AREA = "vms"
"""Prefix of the names of these rules in waivers and reports."""

MOST_NAMED = 5
"""Maximum number of VMs that a message names."""
_MEASURES = {
    "memory": (GIBIBYTE, "Gi of memory"),
    **{str(pages): (GIBIBYTE, f"Gi in huge pages of {pages}") for pages in PageSize},
    "threads": (1, " dedicated CPUs"),
    "gpus": (1, " GPUs"),
    "roots": (GIBIBYTE, "Gi of ephemeral root disks"),
}
"""Resources that VMs use on nodes, with unit and message text."""


def vm_public_ips(environment: Environment) -> Iterator[Problem]:
    """Report VMs with more public addresses than the tenant ordered."""
    for tenant in environment.tenants:
        used = len(tenant.vms.public_names) if tenant.vms else 0
        if tenant.vms and used > tenant.vms.public_ips:
            text = f"{tenant.vms.public_ips} ordered, but VMs use {used}; write at least {used}"
            yield problem(environment, tenant_file(tenant), ("vms", "public_ips"), text)


def vm_user_data(environment: Environment) -> Iterator[Problem]:
    """Report VMs whose users and volumes exceed KubeVirt's maximum size of inline user data."""
    for tenant in environment.tenants:
        for path, vm in vms_of(tenant):
            size = len(user_data(vm).encode())
            reads = system_of(environment, tenant, vm) is not GuestSystem.WINDOWS
            if reads and vm.user_data_secret is None and size > MOST_INLINE:
                text = (
                    f"users and mounts of '{vm.name}' need {size} bytes of user data, but KubeVirt accepts"
                    f" {MOST_INLINE} inline; remove some, or store user data in a Secret, name it as user_data_secret,"
                    " and remove users"
                )
                yield problem(environment, tenant_file(tenant), path, text)


def vm_migration(environment: Environment) -> Iterator[Problem]:
    """Report node-local volumes of VMs whose eviction strategy requires live migration."""
    moving = {size.name for size in environment.vm_catalog.sizes if size.eviction is EvictionStrategy.LIVE_MIGRATE}
    bound = [entry.name for entry in environment.region.storage if entry.LOCAL]
    shared = [entry.name for entry in environment.region.storage if not entry.LOCAL]
    remedy = f"pick {one_of(shared)}" if shared else f"add a shared class to storage of {REGION}"
    for tenant in environment.tenants:
        for path, vm in vms_of(tenant):
            for at, volume in enumerate(vm.volumes) if vm.size in moving else ():
                if volume.storage_class in bound:
                    text = (
                        f"'{volume.storage_class}' is on one node, but VMs of {vm.size} are evicted by LiveMigrate only"
                        f" ({VM_OFFERINGS}), so a drain of that node would never end; {remedy}, or a size with another"
                        " eviction"
                    )
                    yield problem(environment, tenant_file(tenant), (*path, "volumes", at, "storage_class"), text)


def vm_roots(environment: Environment) -> Iterator[Problem]:
    """Report root disks smaller than the golden volume to clone, because CDI rejects such clones."""
    sizes = environment.vm_catalog.sizes_by_name()
    for tenant in environment.tenants:
        for path, vm in vms_of(tenant):
            golden = sizes[vm.size].root_disk if vm.size in sizes else None
            if vm.root and golden and bytes_of(vm.root.size) < bytes_of(golden):
                text = (
                    f"'{vm.root.size}' is smaller than the golden volume it is cloned from ({golden}, root_disk of"
                    f" {vm.size} in {VM_OFFERINGS}); write at least {golden}"
                )
                yield problem(environment, tenant_file(tenant), (*path, "root", "size"), text)


def vm_placement(environment: Environment) -> Iterator[Problem]:
    """Report VMs that fit on no node of their pool."""
    sizes = environment.vm_catalog.sizes_by_name()
    for tenant, vms, cluster in homes(environment):
        chosen = {pool.name: pool for pool in vm_pools(environment, vms, cluster)}
        for path, vm in vms_of(tenant):
            if vm.pool not in chosen or vm.size not in sizes:
                continue
            holding = [name for name, pool in chosen.items() if vms_in(environment, cluster.name, pool, sizes[vm.size])]
            if holding and vm.pool not in holding:  # Another rule reports a size that fits on no node at all.
                kind = chosen[vm.pool].instance_type
                text = f"{vm.size} fits on no node of {vm.pool} ({kind}); remove it, or name {one_of(holding)}"
                yield problem(environment, tenant_file(tenant), (*path, "pool"), text)


def vm_room(environment: Environment) -> Iterator[Problem]:
    """Report VMs that together need more memory, GPUs, dedicated CPUs or root disks than the nodes for VMs have.

    CPUs of VMs without dedicated CPUs are overcommitted and not counted. Ephemeral root disks are counted if the size
    of the kubelet's file system is declared for all nodes.
    """
    kinds = environment.instance_types.by_name
    for tenant, vms, cluster in homes(environment):
        used, room = ordered(environment, vms), Counter[str]()
        chosen = [pool for pool in vm_pools(environment, vms, cluster) if pool.instance_type in kinds]
        for pool in chosen:
            for what, amount in node_resources(environment, cluster.name, pool, kinds[pool.instance_type]).items():
                room[what] += most_nodes(environment, pool) * amount
        used["memory"] -= sum(used[str(pages)] for pages in PageSize)
        if not all(kinds[pool.instance_type].kubelet_disk_size for pool in chosen):
            del used["roots"]
        for what, (unit, measure) in _MEASURES.items():
            if chosen and used[what] > room[what]:
                names = listed(pool.name for pool in chosen)
                text = (
                    f"VMs need {-(-used[what] // unit)}{measure}, but the nodes for them in {cluster.name} have"
                    f" {room[what] // unit} (pools: {names}); lower count of a fleet, or add nodes to the pools"
                )
                yield problem(environment, tenant_file(tenant), ("vms",), text)


def vm_fleets(environment: Environment) -> Iterator[Problem]:
    """Report VMs with the name of a fleet member, because that member could not be created."""
    for tenant in environment.tenants:
        fleets = {vm.name: (path, vm.count) for path, vm in vms_of(tenant) if vm.count is not None}
        for path, vm in vms_of(tenant) if fleets else ():
            name, _, number = vm.name.rpartition("-")
            where, count = fleets.get(name, ((), 0))
            if vm.count is None and number.isdecimal() and int(number) < count:
                there = place(environment, tenant_file(tenant), where)
                text = f"'{vm.name}' is also one of the {count} VMs of {name} ({there}); rename it"
                yield problem(environment, tenant_file(tenant), (*path, "name"), text)


def vm_root_disks(environment: Environment) -> Iterator[Problem]:
    """Report VM images larger than the root disk of an offered size."""
    images = {image.name: image for image in environment.vm_catalog.images}
    sizes = environment.vm_catalog.sizes_by_name()
    for tenant in environment.tenants:
        if not tenant.vms:
            continue
        offered = [sizes[name] for name in tenant.vms.offerings if name in sizes]
        named = [(("vms", "images", at), images.get(name)) for at, name in enumerate(tenant.vms.images)]
        own = [(("vms", "own_images", at), image) for at, image in enumerate(tenant.vms.own_images)]
        for path, image in (*named, *own):
            small = [size for size in offered if image and bytes_of(size.root_disk) < bytes_of(image.size)]
            if image and small:
                text = (
                    f"'{image.name}' needs {image.size}, more than root_disk of {listed(size.name for size in small)};"
                    " remove one or the other"
                )
                yield problem(environment, tenant_file(tenant), path, text)


def vm_sizes(environment: Environment) -> Iterator[Problem]:
    """Report VM sizes that fit on no node for VMs, for example because nodes have another GPU."""
    sizes = environment.vm_catalog.sizes_by_name()
    for tenant, vms, cluster in homes(environment):
        if any(pool.instance_type not in environment.instance_types.by_name for pool in cluster.pools):
            continue
        if not {pool.name for pool in cluster.pools}.issuperset(vms.pools):
            continue
        chosen = vm_pools(environment, vms, cluster)
        kinds = kinds_of(environment, chosen)
        there = listed(f"{pool.name} of {pool.instance_type}" for pool in chosen) or "none without GPUs"
        for index, name in enumerate(vms.offerings):
            if name in sizes and not any(vms_on(kind, sizes[name]) for kind in kinds):
                text = (
                    f"'{name}' fits on no node for VMs of {cluster.name} (pools: {there}); remove it, or list a pool"
                    " with larger nodes in vms.pools"
                )
                yield problem(environment, tenant_file(tenant), ("vms", "offerings", index), text)


def homes(environment: Environment) -> Iterator[tuple[TenantSpec, VmsSpec, ClusterSpec]]:
    """Yield each tenant with VMs, its offerings, and the cluster that runs the VMs."""
    for tenant in environment.tenants:
        for cluster in tenant.clusters:
            if tenant.vms and cluster.name == tenant.vms.cluster:
                yield tenant, tenant.vms, cluster


def vm_endings(environment: Environment) -> Iterator[Problem]:
    """Report retiring clusters with VMs, and retiring pools whose VMs fit on no other pool."""
    sizes = environment.vm_catalog.sizes_by_name()
    for tenant in environment.tenants:
        for index, cluster in enumerate(tenant.clusters):
            if not tenant.vms or cluster.name != tenant.vms.cluster:
                continue
            file, path = tenant_file(tenant), ("clusters", index)
            there = place(environment, file, ("vms",))
            if cluster.retire:
                own = listed((vm.name for vm in tenant.vms.machines), MOST_NAMED)
                text = (
                    f"VMs run in {cluster.name} ({there}; among them: {own}) and would be deleted with its nodes;"
                    " remove vms and apply that first, or write false"
                )
                yield problem(environment, file, (*path, "retire"), text)
                continue
            chosen = vm_pools(environment, tenant.vms, cluster)
            stay = [pool for pool in chosen if not pool.retire]
            for at, pool in enumerate(cluster.pools):
                unplaced = [
                    name
                    for name in tenant.vms.offerings
                    if name in sizes and vms_in(environment, cluster.name, pool, sizes[name])
                    if not any(vms_in(environment, cluster.name, other, sizes[name]) for other in stay)
                ]
                if pool.retire and pool in chosen and unplaced:
                    text = (
                        f"VMs of {listed(unplaced)} fit on no other pool of {cluster.name} ({there}); remove these"
                        " offerings and apply that first, or write false"
                    )
                    yield problem(environment, file, (*path, "pools", at, "retire"), text)


def kinds_of(environment: Environment, pools: Iterable[NodePoolSpec]) -> list[InstanceType]:
    """Return the distinct known instance types of ``pools``."""
    known = environment.instance_types.by_name
    return [known[name] for name in dict.fromkeys(pool.instance_type for pool in pools) if name in known]


RULES = Rules(
    data=(
        vm_public_ips,
        vm_user_data,
        vm_migration,
        vm_roots,
        vm_placement,
        vm_room,
        vm_fleets,
        vm_root_disks,
        vm_sizes,
        vm_endings,
    )
)
