"""Fabrics of VPCs and clusters: partitions, VRFs, ports, and the halls available to a cluster."""

from components.lookups.control_planes import most_nodes_of
from components.lookups.pools import PlacedCluster, PlacedPool, most_nodes
from components.render.network.device_plugins import IMAGES
from components.render.network.infiniband import DAEMON, Partition
from components.render.network.port_functions import MULTUS
from components.render.network.roce import RocePorts
from components.render.pod_placement import services
from components.specs.environment import Environment
from components.specs.hosts.instance_types import InstanceType, PortUse
from components.specs.network.fabrics import FabricKind, FabricSpec
from components.specs.network.tenant_network import VpcSpec


def infiniband(environment: Environment, vpc: VpcSpec | None) -> list[FabricSpec]:
    """Return the InfiniBand fabrics of ``vpc``, by name."""
    return [fabric for fabric in _fabrics(environment, vpc) if fabric.kind is FabricKind.INFINIBAND]


def roce(environment: Environment, vpc: VpcSpec | None) -> list[FabricSpec]:
    """Return the Ethernet fabrics on which ``vpc`` has a VRF, by name."""
    return [fabric for fabric in _fabrics(environment, vpc) if fabric.roce is not None]


def _fabrics(environment: Environment, vpc: VpcSpec | None) -> list[FabricSpec]:
    """Return the fabrics of ``vpc``, by name; empty if the VPC does not exist."""
    fabrics = sorted(environment.region.fabrics, key=lambda fabric: fabric.name)
    return [fabric for fabric in fabrics if vpc is not None and fabric.name in vpc.fabrics]


def ports_on(kind: InstanceType, fabric: FabricSpec) -> int:
    """Return the number of ports of a node of ``kind`` on ``fabric``; DPU ports are not counted."""
    if fabric.kind is FabricKind.INFINIBAND:
        return kind.infiniband_ports
    return kind.roce_ports if fabric.roce else 0


def reached(environment: Environment, fabric: FabricSpec) -> tuple[str, ...]:
    """Return the halls that ``fabric`` reaches."""
    return fabric.halls or tuple(hall for site in environment.region.sites for hall in site.halls)


def halls_for(environment: Environment, placed: PlacedPool, kind: InstanceType) -> tuple[str, ...]:
    """Return the halls where ``placed`` may have hosts of ``kind``: halls of its site that its VPC's fabrics reach."""
    sites = [site for site in environment.region.sites if placed.cluster.site in {None, site.name}]
    fabrics = [fabric for fabric in _fabrics(environment, placed.vpc) if ports_on(kind, fabric)]
    carried = {hall for fabric in fabrics for hall in reached(environment, fabric)}
    return tuple(hall for site in sites for hall in site.halls if not fabrics or hall in carried)


def connected(environment: Environment, placed: PlacedCluster) -> list[InstanceType]:
    """Return the instance types of ``placed`` with ports on InfiniBand fabrics of its VPC, by name."""
    names = {pool.instance_type for pool in placed.cluster.pools}
    kinds = (environment.instance_types.by_name.get(name) for name in sorted(names))
    fabrics = infiniband(environment, placed.vpc)
    return [kind for kind in kinds if kind and kind.infiniband_ports and fabrics]


def on_roce(environment: Environment, placed: PlacedCluster) -> list[tuple[InstanceType, FabricSpec]]:
    """Return the instance types of ``placed`` with ports on RoCE fabrics of its VPC, by name, with each fabric."""
    names = {pool.instance_type for pool in placed.cluster.pools}
    kinds = (environment.instance_types.by_name.get(name) for name in sorted(names))
    fabrics = roce(environment, placed.vpc)
    return [(kind, fabric) for kind in kinds if kind for fabric in fabrics if ports_on(kind, fabric)]


def guids_needed(environment: Environment, placed: PlacedCluster) -> dict[str, int]:
    """Return the number of GUIDs of ``placed`` on each fabric: one for each possible virtual function."""
    kinds = environment.instance_types.by_name
    functions = 0
    for pool in placed.cluster.pools:
        kind = kinds.get(pool.instance_type)
        if kind is not None:
            nodes = most_nodes(environment, pool)
            functions += nodes * kind.infiniband_ports * kind.dpu.virtual_functions
    return {fabric.name: functions for fabric in infiniband(environment, placed.vpc) if functions}


def roce_ports(environment: Environment, placed: PlacedCluster) -> RocePorts | None:
    """Return the device plugin input for shared RDMA devices on RoCE in ``placed``; None if pods share no devices."""
    kinds = {kind.name: kind for kind in _sharing(environment, placed)}
    if not kinds:
        return None
    return RocePorts(
        instance_types=tuple(kinds.values()),
        fabrics=tuple(fabric.name for fabric in roce(environment, placed.vpc)),
        plugin=environment.versions.tool(IMAGES[PortUse.SHARED]),
        has_operator=bool(connected(environment, placed) or cutting(environment, placed)),
        placement=services(system_pool=placed.cluster.has_system_pool),
        nodes=most_nodes_of(environment, placed.cluster),
        pins=environment.image_pins.charts_of(placed.cluster.name),
    )


def handed_out(environment: Environment, placed: PlacedCluster) -> list[InstanceType]:
    """Return the instance types of ``placed`` whose ports pods can request, on any fabric."""
    cut = cutting(environment, placed).values()
    return [*connected(environment, placed), *cut, *_sharing(environment, placed)]


def cutting(environment: Environment, placed: PlacedCluster) -> dict[str, InstanceType]:
    """Return the instance types of ``placed`` whose pods get virtual functions of RoCE ports, by name."""
    return {kind.name: kind for kind, _ in on_roce(environment, placed) if kind.roce_functions}


def _sharing(environment: Environment, placed: PlacedCluster) -> list[InstanceType]:
    """Return the instance types of ``placed`` whose pods share RoCE ports."""
    return [kind for kind, _ in on_roce(environment, placed) if kind.shares_roce]


def partition(environment: Environment, placed: PlacedCluster) -> Partition | None:
    """Return the InfiniBand partition of ``placed``; None if its nodes have no InfiniBand ports.

    Raises:
        KeyError: the lock files do not match the data; ``components.rules.checks`` reports the place.
    """
    kinds, lock, versions = connected(environment, placed), environment.allocations, environment.versions
    if not kinds:
        return None
    [(name, guids)] = lock.clusters[placed.cluster.name].guids.items()
    return Partition(
        fabric=environment.region.fabrics_by_name[name],
        pkey=lock.vpcs[placed.cluster.vpc].pkeys[name],
        guids=guids,
        instance_types=tuple(kinds),
        multus=versions.tool(MULTUS),
        daemon_image=str(versions.tool(DAEMON)),
        placement=services(system_pool=placed.cluster.has_system_pool),
        nodes=most_nodes_of(environment, placed.cluster),
        plugins={use: versions.tool(IMAGES[use]) for use in IMAGES if use in {kind.port_use for kind in kinds}},
        pins=environment.image_pins.charts_of(placed.cluster.name),
    )
