"""From an environment to the inputs of its components: names are looked up, numbers read from the lock files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias, assert_never

from components.plan.pools import PlacedCluster, clusters, failure_domain
from components.plan.slices import Slice, SliceKind
from components.render.dpus import HBN_CHART, OVN_CHART, DpuPlatform
from components.render.hosted_control_plane import HostedControlPlaneInput
from components.render.inventory import Assignment, InventoryInput, PlacedHost
from components.render.node_pool import NodePoolInput, RolloutGroup
from components.render.region import RegionInput
from components.render.storage import StorageCatalogInput
from components.render.tenant_network import TenantNetworkInput
from components.render.virtual_machine import Machine
from components.render.vm_offering import PublicAddresses, VmOfferingInput
from components.render.vpc import Vpc
from components.specs.environment import Environment
from components.specs.inventory import HostSpec
from components.specs.node_pool import NodePoolSpec
from components.specs.tenant import TenantSpec
from components.specs.tenant_network import Isolation, VpcSpec
from components.specs.vm_offering import VirtualMachineSpec, VmsSpec

Input: TypeAlias = (
    RegionInput
    | InventoryInput
    | TenantNetworkInput
    | HostedControlPlaneInput
    | NodePoolInput
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
    return RegionInput(
        name=environment.name,
        region=environment.region,
        versions=environment.versions,
        platform=_platform(environment),
        ovn=any(vpc.isolation is Isolation.DPF_OVN for tenant in environment.tenants for vpc in tenant.vpcs),
        clusters={placed.cluster.name: placed.tenant.tenant for placed in clusters(environment)},
        tenants=tuple(tenant.tenant for tenant in environment.tenants),
    )


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
        f"{placed.cluster.name}/{pool.name}": Assignment(
            cluster=placed.cluster.name, pool=pool.name, vpc=placed.cluster.vpc
        )
        for placed in clusters(environment)
        for pool in placed.cluster.pools
    }
    kinds = {kind.name: kind for kind in environment.instance_types.instance_types}

    def place(host: HostSpec) -> PlacedHost:
        owner = environment.allocations.hosts.get(host.host)
        return PlacedHost(
            host=host,
            failure_domain=failure_domain(environment, host),
            dpu_functions=kinds[host.instance_type].dpu.host_functions,
            assignment=None if owner is None else owners[owner],
        )

    here = sorted((host for host in environment.hosts if host.hall == hall), key=lambda host: (host.rack, host.slot))
    return InventoryInput(name=hall, hosts=tuple(place(host) for host in here))


def _tenant(environment: Environment, tenant: TenantSpec) -> Iterator[Input]:
    for vpc in tenant.vpcs:
        yield TenantNetworkInput(name=vpc.name, vpc=_vpc(environment, tenant, vpc), platform=_platform(environment))
    mine = [placed for placed in clusters(environment) if placed.tenant is tenant]
    for placed in mine:
        yield _control_plane(environment, placed)
    for placed in mine:
        for pool in placed.cluster.pools:
            yield _pool(environment, placed, pool)


def _vpc(environment: Environment, tenant: TenantSpec, vpc: VpcSpec) -> Vpc:
    addresses = environment.allocations.clusters
    return Vpc(
        spec=vpc,
        tenant=tenant.tenant,
        numbers=environment.allocations.vpcs[vpc.name],
        control_planes=tuple(addresses[cluster.name].vip for cluster in tenant.clusters if cluster.vpc == vpc.name),
    )


def _control_plane(environment: Environment, placed: PlacedCluster) -> HostedControlPlaneInput:
    cluster, lock = placed.cluster, environment.allocations
    domains = {key.split("/")[2] for key in lock.groups if key.split("/")[0] == cluster.name}
    return HostedControlPlaneInput(
        name=cluster.name,
        cluster=cluster,
        tenant=placed.tenant.tenant,
        network=lock.vpcs[cluster.vpc],
        vip=lock.clusters[cluster.name].vip,
        failure_domains=tuple(sorted(domains)),
    )


def _pool(environment: Environment, placed: PlacedCluster, pool: NodePoolSpec) -> NodePoolInput:
    images = {image.version: image for image in environment.images.images}
    groups = []
    for key, group in sorted(environment.allocations.groups.items()):
        cluster, name, domain = key.split("/")
        if (cluster, name) == (placed.cluster.name, pool.name):
            pin = environment.image_pins.groups[key]
            groups.append(RolloutGroup(failure_domain=domain, nodes=group.nodes, image=images[pin.image], pin=pin))
    return NodePoolInput(
        name=f"{placed.cluster.name}-{pool.name}",
        cluster=placed.cluster.name,
        tenant=placed.tenant.tenant,
        pool=pool,
        groups=tuple(groups),
    )


def _cluster(environment: Environment, placed: PlacedCluster) -> Iterator[Input]:
    cluster = placed.cluster
    classes = {spec.name: spec for spec in environment.region.storage}
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
