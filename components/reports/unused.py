"""Definitions without effect: reported by ``jacquard check`` as advice, without failing.

Catalogues are not included, such as sizes and images of VMs: an entry is a choice for tenants of all regions, also of
other repositories, and renders nothing until a tenant lists it. Entries that a tenant lists are not included either,
because its users order VMs in the cluster, which the data do not contain.
"""

from collections.abc import Iterator
from typing import Any

from components.lookups.add_ons import gives
from components.lookups.network.fabrics import on_roce
from components.lookups.pools import DataPath, clusters, clusters_of, problem, tenant_file, vms_of
from components.render.backends import NETWORK_BACKENDS
from components.render.region.logs import log_store
from components.specs.add_ons.add_ons import Capability
from components.specs.base import Spec
from components.specs.environment import Environment
from components.specs.reading.loader import HOST_TESTS, REGION
from components.specs.reading.problems import Problem
from components.specs.region.tenant import TenantSpec
from components.specs.storage.storage_class import TENANT

RULE = "advice.unused"
"""Rule of the advice in reports."""


def unused(environment: Environment) -> list[Problem]:
    """Return advice on definitions that nothing uses, and on values that have no effect, by file and line."""
    found = [*_storage(environment), *_object_stores(environment), *_networks(environment), *_fabrics(environment)]
    found += [*_tests(environment), *_empty(environment, REGION, environment.region)]
    for tenant in environment.tenants:
        found += _empty(environment, tenant_file(tenant), tenant)
        found += [*_vpcs(environment, tenant), *_security_groups(environment, tenant), *_ports(environment, tenant)]
        found += [*_sinks(environment, tenant), *_partitions(environment, tenant)]
    return sorted(found)


def _storage(environment: Environment) -> Iterator[Problem]:
    """Yield classes that no cluster lists, and classes that would be shared by a second tenant that lists them."""
    tenants: dict[str, set[str]] = {}
    for placed in clusters(environment):
        for name in placed.cluster.storage:
            tenants.setdefault(name, set()).add(placed.tenant.tenant)
    for index, entry in enumerate(environment.region.storage):
        users = tenants.get(entry.name, set())
        if not users and not entry.management:
            text = f"no cluster lists '{entry.name}' in storage; list it there, or remove it"
            yield problem(environment, REGION, ("storage", index), text, rule=RULE)
        common = [key for key in entry.ISOLATION if TENANT not in str(getattr(entry, key))]
        if len(users) == 1 < len(environment.tenants) and common:
            text = (
                f"only tenant {next(iter(users))} lists '{entry.name}', and a second one would share this value; write"
                f" {TENANT} in it before another tenant lists the class"
            )
            yield problem(environment, REGION, ("storage", index, common[0]), text, rule=RULE)


def _object_stores(environment: Environment) -> Iterator[Problem]:
    used = {bucket.store for tenant in environment.tenants for bucket in tenant.buckets}
    for index, store in enumerate(environment.region.object_stores):
        if store.name not in used:
            text = f"no bucket is in '{store.name}'; add one, or remove it"
            yield problem(environment, REGION, ("object_stores", index), text, rule=RULE)


def _networks(environment: Environment) -> Iterator[Problem]:
    """Yield networks of which no VPC can get addresses."""
    plan, vpcs = environment.region.networks, [vpc for tenant in environment.tenants for vpc in tenant.vpcs]
    isolations = {vpc.isolation for vpc in vpcs} | {vpc.isolation for vpc in environment.allocations.vpcs.values()}
    if plan.ovn is not None and not any(NETWORK_BACKENDS[isolation].ovn for isolation in isolations):
        text = "no VPC uses OVN; remove it together with dpus.ovn_central"
        yield problem(environment, REGION, ("networks", "ovn"), text, rule=RULE)
    if plan.tenants_ipv6 is not None and not any(vpc.ipv6 for vpc in vpcs):
        text = "no VPC has ipv6; add it to one, or remove this network"
        yield problem(environment, REGION, ("networks", "tenants_ipv6"), text, rule=RULE)


def _fabrics(environment: Environment) -> Iterator[Problem]:
    """Yield fabrics that no VPC lists, and fabrics with more rails than ports of any node."""
    listed = {name for tenant in environment.tenants for vpc in tenant.vpcs for name in vpc.fabrics}
    ports: dict[str, int] = {}
    for placed in clusters(environment):
        for kind, fabric in on_roce(environment, placed):
            ports[fabric.name] = max(ports.get(fabric.name, 0), kind.roce_ports)
    for index, fabric in enumerate(environment.region.fabrics):
        if fabric.name not in listed:
            text = f"no VPC lists '{fabric.name}' in fabrics; list it there, or remove it"
            yield problem(environment, REGION, ("fabrics", index), text, rule=RULE)
        elif fabric.rails is not None and fabric.rails > (most := ports.get(fabric.name, fabric.rails)):
            text = f"{fabric.rails} rails, but nodes on '{fabric.name}' have at most {most} ports; write {most}"
            yield problem(environment, REGION, ("fabrics", index, "rails"), text, rule=RULE)


def _tests(environment: Environment) -> Iterator[Problem]:
    """Yield test records of hosts that are not in the inventory."""
    known = {host.host for host in environment.hosts}
    for name in environment.host_tests.keys() - known:
        text = f"'{name}' is not in any inventory/hall-*.csv; remove the line"
        yield problem(environment, HOST_TESTS, ("hosts", name), text, rule=RULE)


def _empty(environment: Environment, file: str, value: Any, path: DataPath = ()) -> Iterator[Problem]:
    """Yield keys without a value, such as a feature whose fields are all comments."""
    if isinstance(value, Spec):
        for key in type(value).model_fields:
            inner = getattr(value, key)
            if inner is None and key in value.model_fields_set:
                text = "has no value and no effect; write its value, or remove it"
                yield problem(environment, file, (*path, key), text, rule=RULE)
            yield from _empty(environment, file, inner, (*path, key))
    elif isinstance(value, tuple | dict):
        for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _empty(environment, file, inner, (*path, step))


def _partitions(environment: Environment, tenant: TenantSpec) -> Iterator[Problem]:
    """Yield Slurm clusters without a default partition (slurm.conf(5)): each job must name one."""
    for index, cluster in enumerate(tenant.clusters):
        if cluster.slurm is not None and not any(partition.default for partition in cluster.slurm.partitions):
            text = "none is the default, so Slurm rejects jobs that name no partition; write default: true in one"
            path = ("clusters", index, "slurm", "partitions")
            yield problem(environment, tenant_file(tenant), path, text, rule=RULE)


def _vpcs(environment: Environment, tenant: TenantSpec) -> Iterator[Problem]:
    used = {cluster.vpc for cluster in tenant.clusters}
    for index, vpc in enumerate(tenant.vpcs):
        if vpc.name not in used:
            text = f"no cluster is in VPC '{vpc.name}', which has allocated prefixes; add a cluster, or remove it"
            yield problem(environment, tenant_file(tenant), ("vpcs", index), text, rule=RULE)


def _security_groups(environment: Environment, tenant: TenantSpec) -> Iterator[Problem]:
    used = {vpc.security_group for vpc in tenant.vpcs}
    for index, group in enumerate(tenant.security_groups):
        if group.name not in used:
            text = (
                f"no VPC has security_group: {group.name}, so its rules apply nowhere; name it in a VPC, or remove it"
            )
            yield problem(environment, tenant_file(tenant), ("security_groups", index), text, rule=RULE)


def _sinks(environment: Environment, tenant: TenantSpec) -> Iterator[Problem]:
    """Yield sinks to which no cluster of the tenant sends, in a region where clusters can send."""
    stored = log_store.stored(environment.region)
    for key, capability in (("metrics_sink", Capability.MONITORING), ("log_sink", Capability.LOGS)):
        is_idle = not any(gives(environment, placed, capability) for placed in clusters_of(tenant))
        if getattr(tenant, key) is not None and capability in stored and is_idle:
            text = f"no cluster has an add-on that gives {capability}, so nothing is sent; add one, or remove {key}"
            yield problem(environment, tenant_file(tenant), (key,), text, rule=RULE)


def _ports(environment: Environment, tenant: TenantSpec) -> Iterator[Problem]:
    """Yield open ports of VMs without a public address, where ports are open."""
    for path, vm in vms_of(tenant):
        for key in ("ports", "udp_ports"):
            if not vm.public_ip and getattr(vm, key) and key in vm.model_fields_set:
                text = (
                    f"VM {vm.name} has no public address at which ports are open; write public_ip: true, or remove it"
                )
                yield problem(environment, tenant_file(tenant), (*path, key), text, rule=RULE)
