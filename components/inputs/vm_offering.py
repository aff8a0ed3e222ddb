"""Inputs of the virtual machines of a cluster."""

from collections.abc import Iterator

from components.lookups.add_ons import add_ons
from components.lookups.pools import PlacedCluster, vm_pools
from components.render.add_ons.add_on_monitors import monitoring_of
from components.render.platform_pods import KUBECTL
from components.render.region.dns import domain_of
from components.render.region.kustomizations import ByManifests
from components.render.vms.virtual_machine import Machine
from components.render.vms.vm_offering import VM_OPERATORS, VmOfferingInput
from components.render.vms.vm_snapshots import VmSnapshots
from components.rollout.replacement import replacements
from components.specs.control_planes.hosted_control_plane import ClusterSpec
from components.specs.environment import Environment
from components.specs.keys import pool_key, pool_of, vm_key
from components.specs.pools.node_pool import NodePoolSpec
from components.specs.vms.vm_chart import ChartAddressSpec
from components.specs.vms.vm_offering import VirtualMachineSpec, VmImage, VmsSpec


def of_cluster(environment: Environment, placed: PlacedCluster) -> Iterator[VmOfferingInput]:
    """Yield the VM offering of a cluster that runs its tenant's VMs; nothing for other clusters."""
    vms = placed.tenant.vms
    if vms is not None and vms.cluster == placed.cluster.name:
        yield _offering(environment, placed, vms)


def _offering(environment: Environment, placed: PlacedCluster, vms: VmsSpec) -> VmOfferingInput:
    cluster, catalog, lock = placed.cluster, environment.vm_catalog, environment.allocations
    sizes = catalog.sizes_by_name()
    images: dict[str, VmImage] = {image.name: image for image in catalog.images}
    images |= {image.name: image for image in vms.own_images}
    classes = {spec.name: spec for spec in environment.region.storage if spec.name in cluster.storage}
    dns = environment.region.dns
    domain = domain_of(cluster.name, dns) if dns else None

    def host_name(name: str) -> str | None:
        return f"{name}.{domain}" if domain else None

    def machine(spec: VirtualMachineSpec) -> Machine:
        address = lock.public_ips[vm_key(cluster.name, spec.name)] if spec.public_ip else None
        return Machine(
            spec=spec,
            size=sizes[spec.size],
            image=images[spec.image],
            classes=classes,
            public_address=address,
            host_name=host_name(spec.name) if address else None,
        )

    machines = tuple(machine(spec) for spec in vms.machines)
    chosen = vm_pools(environment, vms, cluster)
    return VmOfferingInput(
        name=cluster.name,
        cluster=cluster.name,
        tenant=placed.tenant.tenant,
        pools=tuple(pool.name for pool in chosen),
        taints=tuple(dict.fromkeys(taint for pool in chosen for taint in pool.taints)),
        system_pool=cluster.has_system_pool,
        sizes=tuple(sizes[name] for name in vms.offerings),
        images=(*(images[name] for name in vms.images), *vms.own_images),
        image_storage_class=vms.image_storage_class,
        classes=classes,
        machines=machines,
        public_addresses={
            name: ChartAddressSpec(address=lock.public_ips[vm_key(cluster.name, name)], host_name=host_name(name))
            for name in vms.public_ips_for
        },
        quotas=placed.tenant.quotas,
        migrations_per_node=vms.migrations_per_node,
        drained_nodes=_drained(environment, cluster, chosen),
        emulation=environment.region.vm_emulation,
        snapshots=_snapshots(environment, vms),
        monitoring=monitoring_of(tuple(add_ons(environment, placed))),
        by_manifests=ByManifests.taken(environment.versions, (operator.chart for operator in VM_OPERATORS)),
        pins=environment.image_pins.charts_of(cluster.name),
    )


def _drained(environment: Environment, cluster: ClusterSpec, pools: tuple[NodePoolSpec, ...]) -> int:
    """Return the maximum number of nodes of ``pools`` that rollouts of all their groups drain simultaneously."""
    names = {pool_key(cluster.name, pool.name) for pool in pools}
    plans = (plan for group, plan in replacements(environment).items() if pool_of(group) in names)
    return sum(max(plan.max_surge, plan.max_unavailable) for plan in plans)


def _snapshots(environment: Environment, vms: VmsSpec) -> VmSnapshots | None:
    if vms.snapshots is None:
        return None
    return VmSnapshots(
        spec=vms.snapshots,
        image=str(environment.versions.tool(KUBECTL)),
        machines=tuple(vm.name for vm in vms.machines if vm.snapshots),
    )
