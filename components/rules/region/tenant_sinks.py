"""Reachability of sinks of tenants, for logs and for metrics, from the pods of their clusters."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from components.lookups.add_ons import gives
from components.lookups.pools import DataPath, clusters_of, place, problem, tenant_file
from components.specs.add_ons.add_ons import Capability
from components.specs.base import Address
from components.specs.environment import Environment
from components.specs.network.security_groups import Protocol, SecurityGroupSpec
from components.specs.network.tenant_network import Egress
from components.specs.reading.problems import Problem
from components.specs.region.tenant import TenantSpec

_HTTPS = 443


def unreachable(
    environment: Environment, tenant: TenantSpec, sink: DataPath, endpoint: str, sender: Capability
) -> Iterator[Problem]:
    """Report VPCs whose pods do not reach ``endpoint`` of ``sink``, which is outside the region.

    Only VPCs count in which a cluster has an add-on that provides ``sender``, because only its pods send. Without an
    address, any network of a security group may contain the server of the endpoint.
    """
    border = environment.region.networks.border
    if border is not None and border.networks:
        return  # A network behind the edge may have the sink.
    file = tenant_file(tenant)
    groups = {group.name: (index, group) for index, group in enumerate(tenant.security_groups)}
    sending = {placed.cluster.vpc for placed in clusters_of(tenant) if gives(environment, placed, sender)}
    for vpc in tenant.vpcs:
        if vpc.name not in sending:
            continue
        at = (*sink, "endpoint")
        if vpc.egress is Egress.NONE:
            text = f"pods of VPC {vpc.name} do not reach it, because its egress is none; write egress: public there"
            yield problem(environment, file, at, text)
        elif vpc.security_group in groups:
            index, group = groups[vpc.security_group]
            host, port = _server(endpoint)
            if not _permits(group, host, port):
                there = place(environment, file, ("security_groups", index))
                text = (
                    f"pods of VPC {vpc.name} do not reach it, because no rule in egress of security group {group.name}"
                    f" ({there}) permits {host}; permit TCP port {port} there"
                )
                yield problem(environment, file, at, text)


def _server(endpoint: str) -> tuple[str, int]:
    parts = urlsplit(endpoint)
    return str(parts.hostname), parts.port or _HTTPS


def _permits(group: SecurityGroupSpec, host: str, port: int) -> bool:
    try:
        address = Address(host)
    except ValueError:
        address = None
    return any(
        rule.cidr is not None
        and (address is None or address in rule.cidr)
        and rule.protocol in {Protocol.ANY, Protocol.TCP}
        and (not rule.ports or port in rule.ports)
        for rule in group.egress
    )
