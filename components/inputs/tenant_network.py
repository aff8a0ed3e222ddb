"""Inputs of the VPCs of a tenant."""

from collections.abc import Iterator, Mapping

from components.inputs.node_addresses import Links, host_links
from components.lookups.network.dpus import dpu_platform
from components.lookups.network.fabrics import partition, roce_ports
from components.lookups.network.peerings import agreed
from components.lookups.network.rails import rails_of
from components.lookups.pools import PlacedCluster, clusters_of, public_addresses
from components.render.backends import NETWORK_BACKENDS
from components.render.network.packets import Service
from components.render.network.tenant_network import TenantNetworkInput, on_dpus
from components.render.network.vpc import Peer, Vpc
from components.render.region.metrics_store import PORT as METRICS_PORT
from components.render.region.metrics_store import store_of
from components.specs.environment import Environment
from components.specs.network.tenant_network import VpcSpec
from components.specs.region.region import RegionSpec
from components.specs.region.tenant import TenantSpec
from components.specs.struct import Struct, replace


class PlacedVpc(Struct):
    """A VPC with its tenant."""

    tenant: TenantSpec
    vpc: Vpc


def vpcs(environment: Environment) -> Iterator[PlacedVpc]:
    """Yield all VPCs in order of file and entry.

    Raises:
        KeyError: the lock files do not match the data; ``components.rules.checks`` reports the place.
    """
    links = host_links(environment, {vpc.name for tenant in environment.tenants for vpc in tenant.vpcs})
    for tenant in environment.tenants:
        for vpc in tenant.vpcs:
            yield PlacedVpc(tenant=tenant, vpc=_vpc(environment, tenant, vpc, None, links))


def services(region: RegionSpec) -> tuple[Service, ...]:
    """Return the services of the region that every VPC reaches."""
    registry, store = region.registry, store_of(region)
    found = []
    if registry is not None and registry.address is not None:
        found.append(Service(name="registry", address=registry.address, port=registry.port))
    if store is not None and store.address is not None:
        found.append(Service(name="metrics", address=store.address, port=METRICS_PORT))
    return tuple(found)


def enforced_by(environment: Environment, placed: PlacedVpc) -> tuple[str, ...]:
    """Return the objects that enforce the rules of a VPC, each as kind and name."""
    name, kind = placed.vpc.spec.name, NETWORK_BACKENDS[placed.vpc.spec.isolation].rules_in
    concepts = list(of_tenant(environment, placed.tenant))
    concepts += (network for item in clusters_of(placed.tenant) for network in of_cluster(environment, item))
    rendered = (item for concept in concepts if concept.vpc.spec.name == name for item in concept.render())
    return tuple(f"{item.kind} {item.name}" for item in rendered if item.kind == kind)


def of_tenant(environment: Environment, tenant: TenantSpec) -> Iterator[TenantNetworkInput]:
    """Yield the VPCs of a tenant that DPUs isolate."""
    links = host_links(environment, {vpc.name for vpc in tenant.vpcs})
    for vpc in filter(on_dpus, tenant.vpcs):
        yield _network(environment, _vpc(environment, tenant, vpc, None, links), None)


def of_cluster(environment: Environment, placed: PlacedCluster) -> Iterator[TenantNetworkInput]:
    """Yield the VPC of a cluster if the cluster itself isolates the VPC, or if the VPC has an InfiniBand partition."""
    vpc, part, ports = placed.vpc, partition(environment, placed), roce_ports(environment, placed)
    cut = rails_of(environment, placed)
    if vpc is not None and (part or ports or cut or not on_dpus(vpc)):
        mine = _vpc(environment, placed.tenant, vpc, placed.cluster.name, {})  # Links are omitted: only DPUs use them.
        yield replace(_network(environment, mine, placed.cluster.name), partition=part, rails=cut, roce=ports)


def _network(environment: Environment, vpc: Vpc, cluster: str | None) -> TenantNetworkInput:
    return TenantNetworkInput(
        name=vpc.spec.name if cluster is None else f"{cluster}-{vpc.spec.name}",
        vpc=vpc,
        platform=dpu_platform(environment),
        cluster=cluster,
        partition=None,
    )


def _vpc(
    environment: Environment, tenant: TenantSpec, vpc: VpcSpec, cluster: str | None, links: Mapping[str, Links]
) -> Vpc:
    addresses = environment.allocations.clusters
    return Vpc(
        spec=vpc,
        tenant=tenant.tenant,
        numbers=environment.allocations.vpcs[vpc.name],
        control_planes=tuple(addresses[cluster.name].vip for cluster in tenant.clusters if cluster.vpc == vpc.name),
        public_addresses=tuple(
            address
            for placed in clusters_of(tenant)
            if placed.cluster.vpc == vpc.name
            for address in public_addresses(environment, placed)
        ),
        host_links=links.get(vpc.name, {}),
        services=services(environment.region),
        peers=tuple(
            Peer(vpc=name, tenant=owner, numbers=environment.allocations.vpcs[name])
            for owner, name in agreed(environment, tenant, vpc)
        ),
        group=next((group for group in tenant.security_groups if group.name == vpc.security_group), None),
        pins=environment.image_pins.charts_of(cluster) if cluster else {},
    )
