"""Peerings of VPCs: requests of each tenant, and peerings that both sides request."""

from collections.abc import Iterator

from components.lookups.pools import DataPath, tenant_file
from components.specs.environment import Environment
from components.specs.network.tenant_network import PeerSpec, VpcSpec
from components.specs.region.tenant import TenantSpec
from components.specs.struct import Struct


class PlacedPeer(Struct):
    """One side of a peering, with its place in the data."""

    tenant: TenantSpec
    vpc: VpcSpec
    peer: PeerSpec
    path: DataPath

    @property
    def file(self) -> str:
        """Return the file of the tenant."""
        return tenant_file(self.tenant)

    @property
    def wanted(self) -> tuple[str, str]:
        """Return tenant and name of the other VPC."""
        return other_side(self.tenant, self.peer)


def peers(environment: Environment) -> Iterator[PlacedPeer]:
    """Yield the peerings that all tenants request, in order of file and entry."""
    for tenant in environment.tenants:
        for index, vpc in enumerate(tenant.vpcs):
            for place, peer in enumerate(vpc.peers):
                yield PlacedPeer(tenant=tenant, vpc=vpc, peer=peer, path=("vpcs", index, "peers", place))


def agreed(environment: Environment, tenant: TenantSpec, vpc: VpcSpec) -> Iterator[tuple[str, str]]:
    """Yield tenant and name of each VPC peered with ``vpc`` of ``tenant``: both sides request the peering."""
    for peer in vpc.peers:
        other = other_side(tenant, peer)
        if requests_peering(environment, other, (tenant.tenant, vpc.name)):
            yield other


def requests_peering(environment: Environment, side: tuple[str, str], other: tuple[str, str]) -> bool:
    """Return whether the VPC ``side`` requests a peering with the VPC ``other``, both as tenant and name."""
    return any(
        other_side(tenant, peer) == other
        for tenant in environment.tenants
        for vpc in tenant.vpcs
        if (tenant.tenant, vpc.name) == side
        for peer in vpc.peers
    )


def other_side(tenant: TenantSpec, peer: PeerSpec) -> tuple[str, str]:
    """Return tenant and name of the VPC that ``peer`` in the file of ``tenant`` refers to."""
    return peer.tenant or tenant.tenant, peer.vpc
