"""Rules about quotas: for existing storage classes, and not exceeded by the data."""

from collections import Counter
from collections.abc import Iterator

from components.intents.vm_room import ordered
from components.lookups.intervals import usable
from components.lookups.number_kinds import ADDRESS_BITS
from components.lookups.pools import has_public_login, place, problem, public_keys_of, tenant_file, vms_of
from components.rules.rule import Rules
from components.specs.base import bytes_of
from components.specs.environment import Environment
from components.specs.network.tenant_network import PrefixKind
from components.specs.reading.loader import REGION
from components.specs.reading.problems import Problem, listed, suggestion
from components.specs.region.tenant import TenantSpec
from components.specs.workloads.serving import Exposure


def quota_classes(environment: Environment) -> Iterator[Problem]:
    """Report quotas of storage classes that no cluster of the tenant offers."""
    for tenant in environment.tenants:
        offered = list(dict.fromkeys(name for cluster in tenant.clusters for name in cluster.storage))
        for name in tenant.quotas.storage:
            if name not in offered:
                text = (
                    f"'{name}' is not in storage of any cluster of this file (there: {listed(offered)}); add it there"
                    f" or remove the quota{suggestion(name, offered)}"
                )
                yield problem(environment, tenant_file(tenant), ("quotas", "storage", name), text)


def public_addresses(environment: Environment) -> Iterator[Problem]:
    """Report ordered public addresses, and quotas of them, beyond the region's networks."""
    networks = environment.region.networks.public
    room, promised = sum(map(usable, networks)), 0
    there = place(environment, REGION, ("networks", "public"))
    for tenant in environment.tenants:
        file, quota = tenant_file(tenant), tenant.quotas.public_ips
        ordered = _ordered_addresses(tenant)
        before, promised = promised, promised + max(ordered, quota or 0)
        if before <= room < promised:
            text = (
                f"with these {promised - before}, tenants may have {promised}, but networks.public ({there}) has {room}"
                " addresses; lower it, or add a network there"
            )
            order = _ORDER if tenant.vms else next((path for path, _ in public_keys_of(tenant)), _QUOTA)
            yield problem(environment, file, order if ordered >= (quota or 0) else _QUOTA, text)


def _ordered_addresses(tenant: TenantSpec) -> int:
    """Return the number of public addresses of VMs and login nodes."""
    return (tenant.vms.public_ips if tenant.vms else 0) + _logins(tenant)


def _logins(tenant: TenantSpec) -> int:
    """Return the number of public addresses of Slurm's login nodes."""
    return sum(map(has_public_login, tenant.clusters))


_MAX_NAMES = 3
_ORDER = ("vms", "public_ips")
_QUOTA = ("quotas", "public_ips")


def load_balancers(environment: Environment) -> Iterator[Problem]:
    """Report a quota of load balancers that exceeds the addresses in a tenant's VPCs."""
    for tenant in environment.tenants:
        quota = tenant.quotas.load_balancers
        sizes = (size for vpc in tenant.vpcs for size in vpc.sizes(PrefixKind.LOAD_BALANCERS))
        room = sum(2 ** (ADDRESS_BITS - size) for size in sizes)
        if quota is not None and quota > room:
            there = place(environment, tenant_file(tenant), ("vpcs", 0, "load_balancers"))
            text = (
                f"{quota} exceed the addresses of load_balancers in the VPCs ({room}, {there}); lower it, or add one to"
                " more_prefixes of a VPC"
            )
            yield problem(environment, tenant_file(tenant), ("quotas", "load_balancers"), text)


def vms(environment: Environment) -> Iterator[Problem]:
    """Report quotas that VMs, Slurm clusters and endpoints of a tenant exceed.

    They are quotas of machines, CPUs, memory, GPUs, volumes, load balancers and public addresses.

    Several quotas below the same VMs have one cause, so they are one problem.
    """
    for tenant in environment.tenants:
        short = list(_exceeded(environment, tenant))
        if len(short) == 1:
            [(path, fault, need)] = short
            text = f"{fault}; write at least {need}"
            yield problem(environment, tenant_file(tenant), ("quotas", *path), text)
        elif short:
            common = () if len({path[0] for path, _, _ in short}) > 1 else short[0][0][:1]
            needs = listed(f"{'.'.join(path[len(common) :])}: {need}" for path, _, need in short)
            users = "VMs" if tenant.vms else "Slurm clusters and endpoints"
            text = f"{users} need more than these quotas; write at least {needs}"
            yield problem(environment, tenant_file(tenant), ("quotas", *common), text)


_FIGURES = {"machines": "in number", "cpus": "CPUs", "memory": "of memory", "gpus": "GPUs"}
"""Measures of VMs, with their texts in messages."""


def _exceeded(environment: Environment, tenant: TenantSpec) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Yield each quota that VMs of ``tenant`` exceed: its path in ``quotas``, the fault and the lowest quota."""
    quotas, used = tenant.quotas, ordered(environment, tenant.vms) if tenant.vms else Counter[str]()
    for key, measure in _FIGURES.items():
        most = getattr(quotas.vms, key)
        if most is not None and used[key] > (bytes_of(most) if isinstance(most, str) else most):
            need = _gibibytes(used[key]) if isinstance(most, str) else str(used[key])
            yield ("vms", key), f"VMs need {need} {measure}, more than {most}", need
    of_vms, of_slurm = _storage(tenant), _slurm_storage(tenant)
    for name, quota in quotas.storage.items():
        if of_vms[name] + of_slurm[name] > bytes_of(quota):
            need = _gibibytes(of_vms[name] + of_slurm[name])
            users = " and ".join(user for user, used in (("VMs", of_vms), ("Slurm", of_slurm)) if used[name])
            yield ("storage", name), f"volumes of {users} need {need} of {name}, more than {quota}", need
    balancers = _balancers(tenant)
    if quotas.load_balancers is not None and len(balancers) > quotas.load_balancers:
        users = listed(balancers, _MAX_NAMES)
        fault = f"the data order {len(balancers)} ({users}), more than {quotas.load_balancers}"
        yield ("load_balancers",), fault, str(len(balancers))
    addresses = _ordered_addresses(tenant)
    if quotas.public_ips is not None and addresses > quotas.public_ips:
        there = f" ({place(environment, tenant_file(tenant), _ORDER)})" if tenant.vms else ""
        users = " and ".join((*(("VMs",) if tenant.vms else ()), *(("login nodes",) if _logins(tenant) else ())))
        noun = "address" if addresses == 1 else "addresses"
        fault = f"{users} need {addresses} public {noun}{there}, more than {quotas.public_ips}"
        yield _QUOTA[1:], fault, str(addresses)


def _gibibytes(count: int) -> str:
    return f"{-(-count >> 30)}Gi"


def _storage(tenant: TenantSpec) -> Counter[str]:
    """Return the bytes that VMs of a tenant use, by storage class."""
    used = Counter[str]()
    for _, vm in vms_of(tenant):
        for volume in (*vm.volumes, *((vm.root,) if vm.root else ())):
            used[volume.storage_class] += (vm.count or 1) * bytes_of(volume.size)
    return used


def _slurm_storage(tenant: TenantSpec) -> Counter[str]:
    """Return the bytes that volumes of a tenant's Slurm clusters use, by storage class."""
    used = Counter[str]()
    for spec in (cluster.slurm for cluster in tenant.clusters if cluster.slurm):
        server = spec.database_server
        for volume in (spec.controller, *spec.volumes, *((server,) if server else ())):
            used[volume.storage_class] += bytes_of(volume.size)
    return used


def _balancers(tenant: TenantSpec) -> list[str]:
    """Return the users of load balancers that the data order: endpoints, and login nodes of Slurm."""
    found = []
    for cluster in tenant.clusters:
        if cluster.slurm and cluster.slurm.login:
            found.append(f"login nodes of {cluster.name}")
        endpoints = cluster.serving.endpoints if cluster.serving else ()
        found += [f"endpoint {one.name}" for one in endpoints if one.exposure is Exposure.LOAD_BALANCER]
    return found


RULES = Rules(data=(quota_classes, public_addresses, load_balancers, vms))
