"""Facts about an environment that few objects need, for `policies.facts.Context`.

The functions import many modules of lookups and rendering. The policy pack loads them when the first such object is
evaluated.
"""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from components.intents.nodes import intents_of
from components.lookups.add_ons import gives, left_out, own_values
from components.lookups.bmcs import unverified_bmcs as unverified
from components.lookups.network.dpus import filters_track_connections
from components.lookups.network.fabrics import connected, on_roce
from components.lookups.pools import clusters, clusters_of, place, tenant_file, vms_of
from components.render.hosts.bare_metal_hosts import MACHINES, root_device_hints
from components.render.network.packets import Ports, opened
from components.render.region.operator_places import privileged_namespaces
from components.specs.add_ons.add_ons import Capability
from components.specs.base import bytes_of
from components.specs.control_planes.cluster_namespaces import NamespaceQuotaSpec
from components.specs.environment import Environment
from components.specs.keys import pool_key
from components.specs.network.security_groups import Protocol, SecurityGroupSpec
from components.specs.network.tenant_network import Ingress
from components.specs.reading.problems import listed
from components.specs.region.tenant import TenantSpec

__all__ = [
    "closed_ports",
    "declared",
    "host_namespaces",
    "left_out",
    "overcommitted",
    "own_values",
    "scraped",
    "turns",
    "unverified",
]
_LOAD_BALANCERS = "load balancers"


def declared(environment: Environment) -> Mapping[str, Mapping[str, Any]]:
    """Return the host settings in the data beyond identity, by host and field path."""
    kinds, skipped = environment.instance_types.by_name, unverified(environment)
    disks = {name: root_device_hints(kind.root_device) for name, kind in kinds.items() if kind.root_device}
    return {
        host.host: {
            **({"spec.architecture": MACHINES[kind.architecture]} if (kind := kinds.get(host.instance_type)) else {}),
            **({"spec.rootDeviceHints": disks[host.instance_type]} if host.instance_type in disks else {}),
            **({"spec.bmc.disableCertificateVerification": True} if host.host in skipped else {}),
        }
        for host in environment.hosts
    }


def host_namespaces(environment: Environment) -> Mapping[str, bool]:
    """Return the namespaces of the management cluster whose agents use their host."""
    return dict.fromkeys(sorted(privileged_namespaces(environment.region.bare_metal)), True)


def scraped(environment: Environment) -> Mapping[str, bool]:
    """Return the clusters with an add-on that provides monitoring."""
    every = clusters(environment)
    return {placed.cluster.name: True for placed in every if gives(environment, placed, Capability.MONITORING)}


def turns(environment: Environment) -> dict[str, tuple[str, ...]]:
    """Return the pools on InfiniBand or RoCE with GPU time-slicing, pinned or declared, by cluster.

    Multi-node jobs on a fabric do not tolerate time-slicing.
    """
    result: dict[str, tuple[str, ...]] = {}
    for placed in clusters(environment):
        kinds = {kind.name for kind in connected(environment, placed)}
        kinds |= {kind.name for kind, _ in on_roce(environment, placed)}
        names = []
        for pool in placed.cluster.pools if kinds else ():
            intents = intents_of(environment, pool_key(placed.cluster.name, pool.name)).values()
            settings = [pool.gpu_sharing, *(intent.gpu_sharing for intent in intents)]
            if pool.instance_type in kinds and any(sharing and sharing.time_slices for sharing in settings):
                names.append(pool.name)
        if names:
            result[placed.cluster.name] = tuple(names)
    return result


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


def overcommitted(environment: Environment) -> dict[str, tuple[str, ...]]:
    """Return the tenant quotas that the sum of namespace quotas exceeds, by the first cluster with such a namespace.

    Kubernetes enforces the quota of each namespace but not their sum.
    """
    excess: dict[str, list[str]] = {}
    for tenant in environment.tenants:
        for what, path, quota in _quotas(tenant):
            spaces = list(_parts(tenant, what))
            if sum(amount for *_, amount in spaces) > (bytes_of(quota) if isinstance(quota, str) else quota):
                sums = listed([f"{quota_text} in {cluster}/{name}" for cluster, name, quota_text, _ in spaces])
                there = place(environment, tenant_file(tenant), path)
                excess.setdefault(spaces[0][0], []).append(
                    f"of {what} {sums}, more than the quota of {tenant.tenant} ({quota}, {there})"
                )
    return {cluster: tuple(sums) for cluster, sums in excess.items()}


def _quotas(tenant: TenantSpec) -> Iterator[tuple[str, tuple[str, ...], str | int]]:
    """Yield the quotas of ``tenant`` for resources that namespaces can also limit: resource, path and amount."""
    quotas = tenant.quotas
    if quotas.load_balancers is not None:
        yield _LOAD_BALANCERS, ("quotas", "load_balancers"), quotas.load_balancers
    for name, quota in quotas.storage.items():
        yield name, ("quotas", "storage", name), quota


def _parts(tenant: TenantSpec, what: str) -> Iterator[tuple[str, str, str, int]]:
    """Yield cluster, name and quota (as in the data, and as a number) of each namespace that limits ``what``."""
    for placed in clusters_of(tenant):
        for space in placed.cluster.namespaces:
            quota = space.quota or NamespaceQuotaSpec()
            if what == _LOAD_BALANCERS and quota.load_balancers is not None:
                yield placed.cluster.name, space.name, str(quota.load_balancers), quota.load_balancers
            elif amount := quota.storage.get(what):
                yield placed.cluster.name, space.name, amount, bytes_of(amount)
