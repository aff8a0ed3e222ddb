"""Prefixes that VPCs have beside the first of their kind: what backends can use, and what stays once it is given."""

from __future__ import annotations

from collections.abc import Iterator

from components.lookups.add_ons import takes_more_pods
from components.lookups.pools import DataPath, clusters, place, problem, tenant_file
from components.render.add_ons.cni import POD_PREFIX_PER_NODE, TAKE_MORE_PODS
from components.render.backends import BORDERS
from components.render.network.dpf_hbn import POINT_TO_POINT
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
"""Length of the smallest prefix that is of any use, by kind, and what takes all of it."""


def sizes(environment: Environment) -> Iterator[Problem]:
    """Report prefixes that hold nothing of what they are for."""
    for tenant in environment.tenants:
        for index, vpc in enumerate(tenant.vpcs):
            for at, more in enumerate(vpc.more_prefixes):
                smallest, what = _SMALLEST.get(more.kind, (more.size, ""))
                if more.size > smallest:
                    path = ("vpcs", index, "more_prefixes", at, "size")
                    text = f"/{more.size} is smaller than {what}; write /{smallest}"
                    yield problem(environment, tenant_file(tenant), path, text)


def backends(environment: Environment) -> Iterator[Problem]:
    """Report prefixes for hosts in VPCs whose hosts have no links to DPUs: nothing would give out their addresses."""
    for tenant in environment.tenants:
        for index, vpc in enumerate(tenant.vpcs):
            for at, more in enumerate(vpc.more_prefixes):
                if more.kind is PrefixKind.HOSTS and not BORDERS[vpc.isolation].link_per_host:
                    text = (
                        f"'{more.name}' is for links between hosts and DPUs, which {vpc.isolation} has not; remove it"
                    )
                    yield problem(environment, tenant_file(tenant), ("vpcs", index, "more_prefixes", at), text)


def pods(environment: Environment) -> Iterator[Problem]:
    """Report prefixes for pods that the network of a cluster in the VPC could not use beside its first."""
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
                f"'{vpc.more_prefixes[at].name}' is for pods, and the network of {name} takes one prefix; remove"
                f" it, or have {listed(TAKE_MORE_PODS)} for its network"
            )
            yield problem(environment, placed.file, (*placed.vpc_path, "more_prefixes", at), text)


def kinds(environment: Environment) -> Iterator[Problem]:
    """Report prefixes that were given for something else, whose addresses may be in use."""
    for tenant, path, vpc, given in _given(environment):
        for at, more in enumerate(vpc.more_prefixes):
            old, there = given.more_prefixes.get(more.name), place(environment, ALLOCATIONS, ("vpcs", vpc.name))
            if old and old.kind is not more.kind:
                text = f"'{more.kind}', and {old.prefix} is given for {old.kind} ({there}); write {old.kind}"
                yield problem(environment, tenant_file(tenant), (*path, at, "kind"), text)
            if old and old.cluster != more.cluster:
                now, before = (one or f"all of VPC {vpc.name}" for one in (more.cluster, old.cluster))
                text = f"'{more.name}' is for {now}, and {old.prefix} is given to {before} ({there}); rename it"
                yield problem(environment, tenant_file(tenant), (*path, at, "name"), text)


_KEPT = {PrefixKind.HOSTS: "DPUs keep links in it", PrefixKind.PODS: "nodes keep parts of it"}
"""Why prefixes never go: DPF lets a pool of links become wider and never smaller, and Cilium a list only longer."""


def kept(environment: Environment) -> Iterator[Problem]:
    """Report prefixes for hosts and pods that are gone while their VPC is there."""
    for tenant, path, vpc, given in _given(environment):
        named = {more.name for more in vpc.more_prefixes}
        for name, old in given.more_prefixes.items():
            if old.cluster is None and old.kind in _KEPT and name not in named:
                there = place(environment, ALLOCATIONS, ("vpcs", vpc.name))
                text = (
                    f"'{name}' is gone, which has {old.prefix} ({there}), and {_KEPT[old.kind]} as long as the VPC is"
                    " there; write it back"
                )
                yield problem(environment, tenant_file(tenant), path, text)


def _given(environment: Environment) -> Iterator[tuple[TenantSpec, DataPath, VpcSpec, VpcAllocation]]:
    """Yield the VPCs that have their numbers, with where their further prefixes stand."""
    for tenant in environment.tenants:
        for index, vpc in enumerate(tenant.vpcs):
            given = environment.allocations.vpcs.get(vpc.name)
            if given and given.tenant == tenant.tenant:
                yield tenant, ("vpcs", index, "more_prefixes"), vpc, given
