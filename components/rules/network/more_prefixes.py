"""Rules about additional prefixes of VPCs: supported by the backend, and immutable after allocation."""

from collections.abc import Iterator

from components.lookups.add_ons import takes_more_pods
from components.lookups.pools import DataPath, clusters, place, problem, tenant_file
from components.render.add_ons.cni import POD_PREFIX_PER_NODE, TAKE_MORE_PODS
from components.render.backends import NETWORK_BACKENDS
from components.render.network.dpf_hbn import POINT_TO_POINT
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.network.tenant_network import PrefixKind, VpcSpec
from components.specs.network.vpc_allocation import VpcAllocation
from components.specs.reading.loader import ALLOCATIONS
from components.specs.reading.problems import Problem, listed
from components.specs.region.tenant import TenantSpec

_SMALLEST = {
    PrefixKind.HOSTS: (POINT_TO_POINT, "a link to a host"),
    PrefixKind.PODS: (POD_PREFIX_PER_NODE, "the pods of a node"),
}
"""Length of the smallest useful prefix by kind, and the user of such a prefix."""


def sizes(environment: Environment) -> Iterator[Problem]:
    """Report prefixes that are too small for their kind."""
    for tenant in environment.tenants:
        for index, vpc in enumerate(tenant.vpcs):
            for at, more in enumerate(vpc.more_prefixes):
                smallest, what = _SMALLEST.get(more.kind, (more.size, ""))
                if more.size > smallest:
                    path = ("vpcs", index, "more_prefixes", at, "size")
                    text = f"/{more.size} is smaller than {what}; write /{smallest}"
                    yield problem(environment, tenant_file(tenant), path, text)


def backends(environment: Environment) -> Iterator[Problem]:
    """Report unused prefixes for hosts: in VPCs whose hosts have no links to DPUs."""
    for tenant in environment.tenants:
        for index, vpc in enumerate(tenant.vpcs):
            for at, more in enumerate(vpc.more_prefixes):
                if more.kind is PrefixKind.HOSTS and not NETWORK_BACKENDS[vpc.isolation].link_per_host:
                    text = (
                        f"'{more.name}' is for links between hosts and DPUs, which {vpc.isolation} does not have;"
                        " remove it"
                    )
                    yield problem(environment, tenant_file(tenant), ("vpcs", index, "more_prefixes", at), text)


def pods(environment: Environment) -> Iterator[Problem]:
    """Report additional prefixes for pods in VPCs with a cluster whose pod network supports only one prefix."""
    for placed in clusters(environment):
        name, vpc = placed.cluster.name, placed.vpc
        if vpc is None or takes_more_pods(environment, placed):
            continue
        holder = name if vpc.has_own(name) else None
        mine = [
            at for at, more in enumerate(vpc.more_prefixes) if (more.kind, more.cluster) == (PrefixKind.PODS, holder)
        ]
        for at in mine if holder is None else mine[1:]:
            text = (
                f"'{vpc.more_prefixes[at].name}' is for pods, but the network of {name} supports one prefix; remove it,"
                f" or use {listed(TAKE_MORE_PODS)} as its network"
            )
            yield problem(environment, placed.file, (*placed.vpc_path, "more_prefixes", at), text)


def kinds(environment: Environment) -> Iterator[Problem]:
    """Report prefixes whose kind or cluster changed after allocation, because the addresses may be in use."""
    for tenant, path, vpc, allocation in _given(environment):
        for at, more in enumerate(vpc.more_prefixes):
            old, there = allocation.more_prefixes.get(more.name), _assigned(environment, vpc, more.name)
            if old and old.kind is not more.kind:
                text = f"'{more.kind}', but {old.prefix} is assigned for {old.kind} ({there}); write {old.kind}"
                yield problem(environment, tenant_file(tenant), (*path, at, "kind"), text)
            if old and old.cluster != more.cluster:
                now, before = (cluster or f"all of VPC {vpc.name}" for cluster in (more.cluster, old.cluster))
                text = f"'{more.name}' is for {now}, but {old.prefix} is assigned to {before} ({there}); rename it"
                yield problem(environment, tenant_file(tenant), (*path, at, "name"), text)


_KEPT = {PrefixKind.HOSTS: "DPUs have links in it", PrefixKind.PODS: "nodes use parts of it"}
"""Reasons why prefixes cannot be removed: DPF only widens a link pool, and Cilium only extends a list."""


def kept(environment: Environment) -> Iterator[Problem]:
    """Report removed prefixes for hosts and pods while their VPC exists."""
    for tenant, path, vpc, allocation in _given(environment):
        named = {more.name for more in vpc.more_prefixes}
        for name, old in allocation.more_prefixes.items():
            if old.cluster is None and old.kind in _KEPT and name not in named:
                there = _assigned(environment, vpc, name)
                text = (
                    f"'{name}' was removed but has {old.prefix} ({there}), and {_KEPT[old.kind]} while the VPC exists;"
                    " restore it"
                )
                yield problem(environment, tenant_file(tenant), path, text)


def _assigned(environment: Environment, vpc: VpcSpec, name: str) -> str:
    """Return the place of an additional prefix in the lock file."""
    return place(environment, ALLOCATIONS, ("vpcs", vpc.name, "more_prefixes", name))


def _given(environment: Environment) -> Iterator[tuple[TenantSpec, DataPath, VpcSpec, VpcAllocation]]:
    """Yield allocated VPCs, each with the path of its additional prefixes."""
    for tenant in environment.tenants:
        for index, vpc in enumerate(tenant.vpcs):
            allocation = environment.allocations.vpcs.get(vpc.name)
            if allocation and allocation.tenant == tenant.tenant:
                yield tenant, ("vpcs", index, "more_prefixes"), vpc, allocation


RULES = Rules(data=(sizes, backends, pods, kinds, kept))
