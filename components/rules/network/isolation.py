"""Rules about the isolation of VPCs: immutable while nodes run, and sufficient between hosts of tenants."""

from collections import Counter
from collections.abc import Iterator

from components.lookups.pools import place, problem, tenant_file
from components.render.backends import NETWORK_BACKENDS, Filter
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.keys import cluster_of
from components.specs.network.tenant_network import VpcSpec
from components.specs.reading.loader import ALLOCATIONS, WAIVERS
from components.specs.reading.problems import Problem, listed
from components.specs.region.tenant import TenantSpec

AREA = "networks"
"""Prefix of the names of these rules in waivers and reports."""
_MAX_TENANTS_SHOWN = 3
_SUFFICIENT = " or ".join(
    name for name, backend in NETWORK_BACKENDS.items() if backend.isolates_hosts and backend.filters is Filter.HOSTS
)
"""Backends that isolate hosts from other tenants and from the networks of the platform."""


def isolation_kept(environment: Environment) -> Iterator[Problem]:
    """Report a changed isolation backend of VPCs with running nodes: the isolation would be removed and recreated."""
    for tenant, index, vpc, nodes in _switched(environment):
        there = place(environment, ALLOCATIONS, ("vpcs", vpc.name))
        before = environment.allocations.vpcs[vpc.name].isolation
        text = (
            f"'{vpc.isolation}' instead of {before}, which isolates {nodes} running nodes ({there}): their isolation"
            f" would be removed immediately; write {before}, and {vpc.isolation} in a new VPC with a new cluster"
        )
        yield problem(environment, tenant_file(tenant), ("vpcs", index, "isolation"), text)


def without_isolation(environment: Environment) -> Iterator[Problem]:
    """Report VPCs without host isolation if the tenant and other tenants have whole nodes in the region.

    A single tenant needs no isolation. A waiver for a tenant applies to all of its VPCs.
    """
    for tenant, index, vpc, others, remedy in _shared(environment):
        border = NETWORK_BACKENDS[vpc.isolation]
        if not border.isolates_hosts:
            text = (
                f"{vpc.isolation} isolates no hosts ({border.source}), but {tenant.tenant} has root on its nodes,"
                f" beside nodes of {others}; {remedy}"
            )
            yield problem(environment, tenant_file(tenant), ("vpcs", index, "isolation"), text, tenant.tenant)


def unfiltered_hosts(environment: Environment) -> Iterator[Problem]:
    """Report VPCs whose hosts send to networks of the platform if the tenant and other tenants have whole nodes.

    With such a backend, only the router outside the VPC can drop packets to management networks, BMCs and the databases
    that configure the VPCs of all tenants. A waiver for a tenant applies to all of its VPCs.
    """
    for tenant, index, vpc, others, remedy in _shared(environment):
        border = NETWORK_BACKENDS[vpc.isolation]
        if border.isolates_hosts and border.filters is Filter.NOTHING:
            text = (
                f"{vpc.isolation} filters no packets of hosts ({border.source}), but {tenant.tenant} has root on its"
                f" nodes, beside nodes of {others}, and only the router of networks.ovn keeps it from management"
                f" networks; {remedy}"
            )
            yield problem(environment, tenant_file(tenant), ("vpcs", index, "isolation"), text, tenant.tenant)


def _shared(environment: Environment) -> Iterator[tuple[TenantSpec, int, VpcSpec, str, str]]:
    """Yield VPCs of tenants with whole nodes beside nodes of others: tenant, index, VPC, other tenants, remedy.

    Omit VPCs whose changed isolation `isolation_kept` reports.
    """
    owners = [tenant.tenant for tenant in environment.tenants if any(cluster.pools for cluster in tenant.clusters)]
    switched, nodes = {vpc.name for _, _, vpc, _ in _switched(environment)}, _nodes(environment)
    for tenant in environment.tenants if len(owners) > 1 else ():
        others = listed((name for name in owners if name != tenant.tenant), _MAX_TENANTS_SHOWN)
        for index, vpc in enumerate(tenant.vpcs if tenant.tenant in owners else ()):
            if vpc.name not in switched:
                way = "create a new VPC with" if nodes[vpc.name] else "write"
                remedy = f"{way} {_SUFFICIENT}, use a separate region for {tenant.tenant}, or add a waiver to {WAIVERS}"
                yield tenant, index, vpc, others, remedy


def _switched(environment: Environment) -> Iterator[tuple[TenantSpec, int, VpcSpec, int]]:
    """Yield VPCs with running nodes whose isolation backend changed, with tenant, index and number of nodes."""
    allocations, nodes = environment.allocations, _nodes(environment)
    for tenant in environment.tenants:
        for index, vpc in enumerate(tenant.vpcs):
            old = allocations.vpcs.get(vpc.name)
            if old and old.tenant == tenant.tenant and old.isolation not in {None, vpc.isolation} and nodes[vpc.name]:
                yield tenant, index, vpc, nodes[vpc.name]


def _nodes(environment: Environment) -> Counter[str]:
    """Return the number of running nodes by VPC, including those of clusters that the data no longer contain."""
    allocations, nodes = environment.allocations, Counter[str]()
    for key, group in allocations.groups.items():
        cluster = allocations.clusters.get(cluster_of(key))
        nodes[(cluster and cluster.vpc) or ""] += group.nodes
    return nodes


RULES = Rules(
    data=(isolation_kept, without_isolation, unfiltered_hosts), waivable=(without_isolation, unfiltered_hosts)
)
