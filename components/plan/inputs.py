"""From an environment to the inputs of its components: names are looked up, numbers read from the lock files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias, assert_never

from components.plan.charts import needed_charts, uses_dpf
from components.plan.control_planes import most_nodes_of
from components.plan.dpu_clusters import DpuClusters
from components.plan.fabrics import partition
from components.plan.pool_inputs import firmware_of_hosts, pool_input, pool_windows
from components.plan.pools import PlacedCluster, clusters, failure_domain
from components.plan.slices import Slice, SliceKind
from components.render import labels as keys
from components.render.cluster_access import ClusterAccessInput
from components.render.control_plane import DataStore
from components.render.dpus import HBN_CHART, OVN_CHART, DpuPlatform
from components.render.etcd_backup import SNAPSHOT_TOOL, UPLOAD_TOOL, Backup
from components.render.hosted_control_plane import HostedControlPlaneInput
from components.render.hosts import HostOwner, PlacedHost
from components.render.infiniband import Partition
from components.render.inventory import InventoryInput
from components.render.node_pool import NodePoolInput
from components.render.objects import given
from components.render.pool_rollout import window_text
from components.render.region import FREE_HOSTS, RegionInput
from components.render.storage import StorageCatalogInput
from components.render.tenant_network import TenantNetworkInput, on_dpus
from components.render.virtual_machine import Machine
from components.render.vm_offering import PublicAddresses, VmOfferingInput
from components.render.vpc import Vpc
from components.specs.base import DEDICATED
from components.specs.environment import Environment
from components.specs.inventory import HostSpec
from components.specs.out_of_service import PRODUCTION
from components.specs.region import ControlPlanesSpec
from components.specs.tenant import TenantSpec
from components.specs.tenant_network import Isolation, VpcSpec
from components.specs.vm_offering import VirtualMachineSpec, VmsSpec

Input: TypeAlias = (
    RegionInput
    | InventoryInput
    | TenantNetworkInput
    | HostedControlPlaneInput
    | NodePoolInput
    | ClusterAccessInput
    | StorageCatalogInput
    | VmOfferingInput
)
"""What a component is made from."""


def inputs(environment: Environment, part: Slice) -> tuple[Input, ...]:
    """Return the inputs of the components of ``part``, in the order they are applied.

    Raises:
        KeyError: the lock files do not fit the data; ``components.plan.checks`` says where.
    """
    match part.kind:
        case SliceKind.FOUNDATION:
            return (_region(environment),)
        case SliceKind.INVENTORY:
            return (_inventory(environment, part.subject),)
        case SliceKind.TENANT:
            [tenant] = (tenant for tenant in environment.tenants if tenant.tenant == part.subject)
            return tuple(_tenant(environment, tenant))
        case SliceKind.CLUSTER:
            [placed] = (placed for placed in clusters(environment) if placed.cluster.name == part.subject)
            return tuple(_cluster(environment, placed))
        case _:
            assert_never(part.kind)


def _region(environment: Environment) -> RegionInput:
    needed = needed_charts(environment)
    return RegionInput(
        name=environment.name,
        region=environment.region,
        charts=tuple(chart for chart in environment.versions.charts if chart.name in needed),
        platform=_platform(environment),
        dpf=uses_dpf(environment),
        ovn=any(vpc.isolation is Isolation.DPF_OVN for tenant in environment.tenants for vpc in tenant.vpcs),
        clusters={placed.cluster.name: placed.tenant.tenant for placed in clusters(environment)},
        tenants={tenant.tenant: _about(tenant) for tenant in environment.tenants},
        release=environment.versions.release,
        watched=_watched(environment),
        cluster_api=environment.versions.cluster_api,
    )


def _about(tenant: TenantSpec) -> dict[str, str]:
    """Return what people and alerts find on the namespaces of ``tenant``: whom to tell and ask, when, what it paid."""
    contacts, changes = tenant.contacts, tenant.changes
    contract = ", ".join(f"{part.nodes} {part.instance_type}" for part in tenant.contract)
    return {
        keys.CONTACT_ALERTS: contacts.alerts,
        keys.CONTACT_CHANGES: contacts.changes,
        keys.CONTACT_MAINTENANCE: contacts.maintenance or contacts.changes,
        keys.APPROVAL: changes.approval.value,
        **given(**{keys.WINDOW: changes.window and window_text(changes.window), keys.CONTRACT: contract or None}),
    }


def _watched(environment: Environment) -> dict[str, tuple[str, ...]]:
    """Return the namespaces of the hosts of each bare-metal controller, that of free hosts last."""
    metal, lock = environment.region.bare_metal, environment.allocations.clusters
    every = [placed.cluster.name for placed in clusters(environment)] if metal.controllers else []
    return {
        one.name: (
            *(cluster for cluster in every if lock[cluster].controller == one.name),
            *((FREE_HOSTS,) if one.name == metal.free_hosts else ()),
        )
        for one in metal.controllers
    }


def _platform(environment: Environment) -> DpuPlatform:
    region, versions = environment.region, environment.versions
    images = {image.version: image for image in environment.images.dpu_images}
    return DpuPlatform(
        control=region.dpus,
        networks=region.networks,
        image=images[region.dpus.image],
        virtual_functions=max(kind.dpu.virtual_functions for kind in environment.instance_types.instance_types),
        registry=region.registry,
        hbn_chart=versions.chart(HBN_CHART),
        ovn_chart=versions.chart(OVN_CHART),
    )


def _inventory(environment: Environment, hall: str) -> InventoryInput:
    owners = {
        f"{placed.cluster.name}/{pool.name}": HostOwner(
            cluster=placed.cluster.name, pool=pool.name, vpc=placed.cluster.vpc
        )
        for placed in clusters(environment)
        for pool in placed.cluster.pools
    }
    kinds, away = environment.instance_types.by_name, environment.out_of_service
    firmware, running = firmware_of_hosts(environment), DpuClusters(environment.region.dpus.clusters)

    def place(host: HostSpec) -> PlacedHost:
        owner = environment.allocations.hosts.get(host.host)
        return PlacedHost(
            host=host,
            failure_domain=failure_domain(environment, host),
            dpu_functions=kinds[host.instance_type].dpu.host_functions,
            owner=None if owner is None else owners[owner],
            state=away[host.host].state if host.host in away else PRODUCTION,
            why=str(away[host.host]) if host.host in away else None,
            firmware=firmware.get(host.host),
            dpu_cluster=running.of(host),
        )

    here = sorted((host for host in environment.hosts if host.hall == hall), key=lambda host: (host.rack, host.slot))
    return InventoryInput(
        name=hall,
        backend=environment.region.bare_metal.backend,
        dpf=uses_dpf(environment),
        firmware_updates=environment.region.nodes.firmware_updates,
        hosts=tuple(place(host) for host in here),
    )


def _tenant(environment: Environment, tenant: TenantSpec) -> Iterator[Input]:
    for vpc in filter(on_dpus, tenant.vpcs):
        yield _network(environment, tenant, vpc, None)
    mine = [placed for placed in clusters(environment) if placed.tenant is tenant]
    for placed in mine:
        yield _control_plane(environment, placed)
    for placed in mine:
        for pool in placed.cluster.pools:
            yield pool_input(environment, placed, pool)


def _network(
    environment: Environment, tenant: TenantSpec, vpc: VpcSpec, cluster: str | None, part: Partition | None = None
) -> TenantNetworkInput:
    return TenantNetworkInput(
        name=vpc.name if cluster is None else f"{cluster}-{vpc.name}",
        vpc=_vpc(environment, tenant, vpc),
        platform=_platform(environment),
        cluster=cluster,
        partition=part,
    )


def _vpc(environment: Environment, tenant: TenantSpec, vpc: VpcSpec) -> Vpc:
    addresses = environment.allocations.clusters
    return Vpc(
        spec=vpc,
        tenant=tenant.tenant,
        numbers=environment.allocations.vpcs[vpc.name],
        control_planes=tuple(addresses[cluster.name].vip for cluster in tenant.clusters if cluster.vpc == vpc.name),
    )


def _control_plane(environment: Environment, placed: PlacedCluster) -> HostedControlPlaneInput:
    cluster, lock, region = placed.cluster, environment.allocations, environment.region
    pin = environment.image_pins.control_planes[cluster.name]
    domains = {key.split("/")[2] for key in lock.groups if key.split("/")[0] == cluster.name}
    return HostedControlPlaneInput(
        name=cluster.name,
        cluster=cluster,
        tenant=placed.tenant.tenant,
        version=pin.version,
        network=lock.vpcs[cluster.vpc],
        vip=lock.clusters[cluster.name].vip,
        data_store=_data_store(region.control_planes, pin.data_store),
        nodes=most_nodes_of(environment, cluster),
        domain=region.control_planes.domain,
        backup=_backup(environment, pin.data_store),
        backend=region.control_planes.backend,
        bare_metal=region.bare_metal.backend,
        failure_domains=tuple(sorted(domains)),
        windows=pool_windows(environment, placed),
    )


def _backup(environment: Environment, data_store: str) -> Backup | None:
    dedicated = environment.region.control_planes.dedicated
    if data_store != DEDICATED or dedicated is None or dedicated.backup is None:
        return None
    snapshot, upload = (environment.versions.tool(name) for name in (SNAPSHOT_TOOL, UPLOAD_TOOL))
    return Backup(spec=dedicated.backup, snapshot_image=str(snapshot), upload_image=str(upload))


def _data_store(control_planes: ControlPlanesSpec, name: str) -> DataStore:
    if name == DEDICATED and control_planes.dedicated is not None:
        return control_planes.dedicated
    return {store.name: store for store in control_planes.data_stores}[name]


def _cluster(environment: Environment, placed: PlacedCluster) -> Iterator[Input]:
    cluster = placed.cluster
    classes = {spec.name: spec for spec in environment.region.storage}
    part = partition(environment, placed)
    for vpc in placed.tenant.vpcs:
        if vpc.name == cluster.vpc and (part or not on_dpus(vpc)):
            yield _network(environment, placed.tenant, vpc, cluster.name, part)
    if cluster.oidc is not None and cluster.oidc.admins is not None:
        yield ClusterAccessInput(name=cluster.name, cluster=cluster.name, admins=cluster.oidc.admins)
    yield StorageCatalogInput(
        name=cluster.name, cluster=cluster.name, classes=tuple(classes[name] for name in cluster.storage)
    )
    vms = placed.tenant.vms
    if vms is not None and vms.cluster == cluster.name:
        yield _vm_offering(environment, placed, vms)


def _vm_offering(environment: Environment, placed: PlacedCluster, vms: VmsSpec) -> VmOfferingInput:
    cluster, catalog, lock = placed.cluster, environment.vm_catalog, environment.allocations
    sizes = {size.name: size for size in catalog.sizes}
    images = {image.name: image for image in catalog.images}

    def machine(spec: VirtualMachineSpec) -> Machine:
        address = lock.public_ips[f"{cluster.name}/{spec.name}"] if spec.public_ip else None
        return Machine(spec=spec, size=sizes[spec.size], image=images[spec.image], public_address=address)

    machines = tuple(machine(spec) for spec in vms.platform)
    return VmOfferingInput(
        name=cluster.name,
        cluster=cluster.name,
        tenant=placed.tenant.tenant,
        sizes=tuple(sizes[name] for name in vms.offerings),
        images=tuple(images[name] for name in vms.images),
        image_storage_class=vms.image_storage_class,
        public=PublicAddresses(
            addresses=tuple(item.public_address for item in machines if item.public_address is not None),
            asn=lock.vpcs[cluster.vpc].asn,
            interface=environment.region.dpus.host_interface,
        ),
        machines=machines,
    )
