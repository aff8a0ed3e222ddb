"""Ports of VMs with public addresses that the security group of their VPC blocks."""

from collections.abc import Iterator
from itertools import chain

from components.lookups.network.dpus import filters_track_connections
from components.lookups.pools import tenant_file, vms_of
from components.render.network.packets import Ports, opened
from components.specs.environment import Environment
from components.specs.network.security_groups import Protocol, SecurityGroupSpec
from components.specs.network.tenant_network import Ingress
from components.specs.region.tenant import TenantSpec


def closed_ports(environment: Environment) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return the blocked ports by cluster: port and security group, and the ingress rule that would open the port."""
    tracked = filters_track_connections(environment)
    closed = {
        tenant.vms.cluster: tuple(_closed(tenant, tracked=tracked))
        for tenant in environment.tenants
        if tenant.vms is not None
    }
    return {cluster: ports for cluster, ports in closed.items() if ports}


def _closed(tenant: TenantSpec, *, tracked: bool) -> Iterator[tuple[str, str]]:
    group = _group(tenant)
    for _, vm in vms_of(tenant) if group else ():
        listed = ((Protocol.TCP, vm.ports), (Protocol.UDP, vm.udp_ports)) if vm.public_ip else ()
        for protocol, port in ((protocol, port) for protocol, ports in listed for port in ports):
            if group and not _lets_in(group, protocol, port, tracked=tracked):
                rule = f"{{cidr: 0.0.0.0/0, protocol: {protocol}, ports: [{port}]}}"
                yield (
                    f"{protocol}/{port} of VM {vm.name} is blocked by security group {group.name}",
                    f"{rule} to ingress of {group.name} ({tenant_file(tenant)})",
                )


def _group(tenant: TenantSpec) -> SecurityGroupSpec | None:
    """Return the security group of the VPC with the VMs of ``tenant``; None without a group or public ingress."""
    homes = {cluster.vpc for cluster in tenant.clusters if tenant.vms and cluster.name == tenant.vms.cluster}
    named = {vpc.security_group for vpc in tenant.vpcs if vpc.name in homes and vpc.ingress is Ingress.PUBLIC}
    return next((group for group in tenant.security_groups if group.name in named), None)


def _lets_in(group: SecurityGroupSpec, protocol: Protocol, port: int, *, tracked: bool) -> bool:
    """Return whether ``group`` opens ``port`` to any address; a rule without ports opens all ports of TCP and UDP.

    ``tracked``: connections are tracked, so egress rules open no port.
    """
    rules = chain(((rule, True) for rule in group.ingress), ((rule, False) for rule in group.egress))
    asked = Ports(protocol=protocol, near=port)
    return any(
        packets.decides(rule.cidr, asked, opens=True if tracked else None)
        for rule, inward in rules
        if rule.cidr is not None
        for packets in opened(rule, (rule.cidr,), inward=inward)
    )
