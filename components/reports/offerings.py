"""Offerings of a region to tenants, with available capacity."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from components.intents.nodes import intents_of
from components.intents.vm_nodes import Setup, setups
from components.intents.vm_room import vms_on
from components.lookups.host_use import HostUse, counted_hosts
from components.lookups.network.fabrics import on_roce, partition
from components.lookups.pools import PlacedCluster, clusters, pools, vm_pools, vms_of
from components.render.network import infiniband, rails
from components.render.network.device_plugins import PREFIX, ROCE, resource_of
from components.render.pools import gpu_sharing
from components.reports.capacity import capacity
from components.reports.nvlink_offers import nvlink_offers
from components.reports.offers import (
    BucketOffer,
    CheckpointOffer,
    ImageOffer,
    NodeOffer,
    Offerings,
    PortOffer,
    Room,
    SharedGpuOffer,
    SizeOffer,
    StorageOffer,
)
from components.specs.environment import Environment
from components.specs.hosts.instance_types import InstanceType, PortUse
from components.specs.keys import cluster_of, group_key, pool_key
from components.specs.network.fabrics import FabricSpec
from components.specs.pools.gpu_sharing import GpuSharingSpec
from components.specs.vms.vm_sizes import VmSizeSpec


class _Alike(NamedTuple):
    """Key of nodes with the same capacity for VMs."""

    instance_type: str
    failure_domain: str
    setup: Setup | None


def offerings(environment: Environment) -> Offerings:
    """Return the offerings of ``environment``, with the capacity available according to its data and lock files."""
    return Offerings(
        environment=environment.name,
        vm_sizes=tuple(_sizes(environment)),
        vm_images=tuple(_images(environment)),
        nodes=tuple(_nodes(environment)),
        shared_gpus=tuple(_shared_gpus(environment)),
        nvlink=tuple(nvlink_offers(environment)),
        storage=tuple(_storage(environment)),
        checkpoints=tuple(_checkpoints(environment)),
        buckets=tuple(_buckets(environment)),
        rdma=tuple(_rdma(environment)),
    )


def _sizes(environment: Environment) -> Iterator[SizeOffer]:
    """Yield the VM sizes that are offered to at least one tenant."""
    offering = [placed for placed in clusters(environment) if _offered(placed)]
    nodes = _in_service(environment, offering)
    for size in environment.vm_catalog.sizes:
        rooms = tuple(
            _room(environment, placed, size, nodes[placed.cluster.name])
            for placed in offering
            if size.name in _offered(placed)
        )
        if rooms:
            yield SizeOffer(
                size=size.name,
                cpus=size.cpus,
                memory=size.memory,
                root_disk=size.root_disk,
                gpu=size.gpu,
                dedicated_cpus=size.dedicated_cpus,
                emulator_cpu=size.emulator_cpu,
                huge_pages=size.huge_pages,
                numa=size.numa,
                room=rooms,
            )


def _offered(placed: PlacedCluster) -> tuple[str, ...]:
    vms = placed.tenant.vms
    return vms.offerings if vms and vms.cluster == placed.cluster.name else ()


def _in_service(environment: Environment, offering: list[PlacedCluster]) -> dict[str, Counter[_Alike]]:
    """Return the number of nodes in service that run VMs, by cluster of ``offering`` and by equal capacity."""
    in_service: dict[str, Counter[_Alike]] = {placed.cluster.name: Counter() for placed in offering}
    chosen = {
        pool_key(placed.cluster.name, pool.name): setups(environment, placed.cluster.name, pool.name)
        for placed in offering
        if placed.tenant.vms
        for pool in vm_pools(environment, placed.tenant.vms, placed.cluster)
    }
    for counted in counted_hosts(environment):
        if counted.use is HostUse.NODE and counted.pool in chosen:
            setup = chosen[counted.pool].get(group_key(counted.pool, counted.failure_domain))
            key = _Alike(counted.host.instance_type, counted.failure_domain, setup)
            in_service[cluster_of(counted.pool)][key] += 1
    return in_service


def _room(environment: Environment, placed: PlacedCluster, size: VmSizeSpec, nodes: Counter[_Alike]) -> Room:
    domains, holding = Counter[str](), 0
    for key, count in nodes.items():
        each = vms_on(environment.instance_types.by_name[key.instance_type], size, key.setup)
        if each:
            holding += count
            domains[key.failure_domain] += count * each
    return Room(
        cluster=placed.cluster.name,
        tenant=placed.tenant.tenant,
        nodes=holding,
        vms=sum(domains.values()),
        failure_domains=dict(domains),
        ordered=sum(vm.count or 1 for _, vm in vms_of(placed.tenant) if vm.size == size.name),
    )


def _images(environment: Environment) -> Iterator[ImageOffer]:
    for image in environment.vm_catalog.images:
        names = tuple(
            tenant.vms.cluster for tenant in environment.tenants if tenant.vms and image.name in tenant.vms.images
        )
        if names:
            yield ImageOffer(image=image.name, version=image.version, size=image.size, os=image.os, clusters=names)
    for vms in (tenant.vms for tenant in environment.tenants if tenant.vms):
        for own in vms.own_images:
            yield ImageOffer(image=own.name, version=own.version, size=own.size, os=own.os, clusters=(vms.cluster,))


def _nodes(environment: Environment) -> Iterator[NodeOffer]:
    for row in capacity(environment).types:
        kind = environment.instance_types.by_name[row.instance_type]
        yield NodeOffer(
            instance_type=kind.name,
            cpus=kind.cpus,
            memory=kind.memory,
            gpu=kind.gpu,
            free=row.total.free,
            failure_domains={name: figures.free for name, figures in row.domains.items() if figures.free},
        )


def _shared_gpus(environment: Environment) -> Iterator[SharedGpuOffer]:
    """Yield the GPU resources of nodes according to pins; resources in the data are available after a promotion."""
    for placed in pools(environment):
        gpu, nodes = environment.instance_types.by_name[placed.pool.instance_type].gpu, Counter[GpuSharingSpec]()
        if gpu is None:
            continue
        for group, intent in intents_of(environment, placed.key).items():
            if intent.gpu_sharing:
                nodes[intent.gpu_sharing] += environment.allocations.groups[group].nodes
        for sharing, count in nodes.items():
            resource, each_node = gpu_sharing.offered(gpu, sharing)
            yield SharedGpuOffer(
                cluster=placed.cluster.name,
                pool=placed.pool.name,
                resource=resource,
                each_node=each_node,
                nodes=count,
                walls=sharing.mig is not None,
            )


def _storage(environment: Environment) -> Iterator[StorageOffer]:
    for entry in environment.region.storage:
        names = tuple(placed.cluster.name for placed in clusters(environment) if entry.name in placed.cluster.storage)
        yield StorageOffer(
            storage_class=entry.name,
            driver=entry.driver,
            default=entry.default,
            shared=entry.shared,
            encrypted=entry.encrypted,
            durable=entry.durable,
            snapshots=entry.snapshots,
            clusters=names,
        )


def _rdma(environment: Environment) -> Iterator[PortOffer]:
    """Yield the fabric ports that pods of each cluster can request, or use through the host network."""
    for placed in clusters(environment):
        for kind, fabric in on_roce(environment, placed):
            if kind.roce_functions:
                yield from _on_rails(placed, kind, fabric)
            else:
                yield _joined(placed, kind, fabric)
        part = partition(environment, placed)
        if part is None:
            continue
        for kind in part.instance_types:
            cut = kind.port_use is PortUse.FUNCTIONS
            yield PortOffer(
                cluster=placed.cluster.name,
                instance_type=kind.name,
                fabric=part.fabric.name,
                networks=infiniband.attachment_of(part.fabric.name) if cut else None,
                resource=resource_of(kind.port_use),
                use=kind.port_use,
                host_network=False,
                ports=kind.infiniband_ports,
                functions=kind.infiniband_ports * kind.dpu.virtual_functions if cut else None,
                exclusive=kind.rdma_exclusive,
            )


def _on_rails(placed: PlacedCluster, kind: InstanceType, fabric: FabricSpec) -> Iterator[PortOffer]:
    """Yield the offer of a node's virtual functions on each rail."""
    for rail in range(kind.roce_ports):
        yield PortOffer(
            cluster=placed.cluster.name,
            instance_type=kind.name,
            fabric=fabric.name,
            networks=rails.attachment_of(fabric.name, rail),
            resource=rails.resource_of(rail),
            use=PortUse.FUNCTIONS,
            host_network=False,
            ports=1,
            functions=kind.dpu.virtual_functions,
            exclusive=kind.rdma_exclusive,
        )


def _joined(placed: PlacedCluster, kind: InstanceType, fabric: FabricSpec) -> PortOffer:
    return PortOffer(
        cluster=placed.cluster.name,
        instance_type=kind.name,
        fabric=fabric.name,
        networks=None,
        resource=f"{PREFIX}/{ROCE}" if kind.shares_roce else None,
        use=PortUse.SHARED if kind.shares_roce else None,
        host_network=True,
        ports=kind.roce_ports,
        functions=None,
        exclusive=False,
    )


def _checkpoints(environment: Environment) -> Iterator[CheckpointOffer]:
    """Yield the checkpoint offers of clusters with storage classes on local disks of nodes."""
    for placed in clusters(environment):
        offered = [entry for entry in environment.region.storage if entry.name in placed.cluster.storage]
        local = tuple(entry.name for entry in offered if entry.LOCAL)
        if local:
            kept = sorted((entry for entry in offered if entry.shared), key=lambda entry: not entry.default)
            names = tuple(entry.name for entry in kept)
            yield CheckpointOffer(cluster=placed.cluster.name, written_to=local, kept_in=names)


def _buckets(environment: Environment) -> Iterator[BucketOffer]:
    endpoints = {store.name: store.endpoint for store in environment.region.object_stores}
    for tenant in environment.tenants:
        for spec in tenant.buckets:
            yield BucketOffer(
                tenant=tenant.tenant,
                bucket=spec.name_in_store(tenant.tenant),
                store=spec.store,
                endpoint=endpoints[spec.store],
                quota=spec.quota,
                found_as=spec.found_as,
                namespaces={access.cluster: access.namespaces for access in spec.access},
            )
