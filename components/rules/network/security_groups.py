"""Rules about security groups: references, enforcement by the backend, effective rules, and size."""

from collections.abc import Iterator
from itertools import chain

from components.lookups.pools import DataPath, place, problem, tenant_file
from components.render.backends import NETWORK_BACKENDS
from components.rules.network.tenant_network import region_networks
from components.rules.rule import Rules
from components.specs.base import Network
from components.specs.environment import Environment
from components.specs.network.security_groups import SecurityGroupSpec, SecurityRuleSpec
from components.specs.network.tenant_network import Egress, Ingress, Isolation, VpcSpec
from components.specs.network.vpc_allocation import PREFIXES
from components.specs.reading.loader import REGION
from components.specs.reading.problems import Problem, listed, suggestion
from components.specs.region.tenant import TenantSpec

MOST_RULES = 200
"""Maximum number of rules of a group, counted by port and by peer prefix (the default limit of NICo)."""


def references(environment: Environment) -> Iterator[Problem]:
    """Report undeclared groups of VPCs, and rules with a peer that is not a peer of each VPC with the group."""
    for tenant in environment.tenants:
        names = [group.name for group in tenant.security_groups]
        for index, vpc in enumerate(tenant.vpcs):
            if vpc.security_group is not None and vpc.security_group not in names:
                name = vpc.security_group
                text = f"'{name}' is not declared (declared: {listed(names)}); pick one{suggestion(name, names)}"
                if not names:
                    text = f"'{name}' is not declared, and security_groups has none; declare it there, or remove it"
                yield problem(environment, tenant_file(tenant), ("vpcs", index, "security_group"), text)
        for path, group, rule in _rules(tenant):
            for vpc in _with(tenant, group):
                peers = [peer.vpc for peer in vpc.peers]
                if rule.peer is not None and rule.peer not in peers:
                    text = f"'{rule.peer}' is not a peer of VPC {vpc.name}, which uses this group; remove it"
                    yield problem(environment, tenant_file(tenant), path, text)


def backends(environment: Environment) -> Iterator[Problem]:
    """Report security groups of VPCs whose packets are not filtered by DPUs."""
    able = " or ".join(isolation for isolation in Isolation if NETWORK_BACKENDS[isolation].evpn)
    for tenant in environment.tenants:
        for index, vpc in enumerate(tenant.vpcs):
            if vpc.security_group is not None and not NETWORK_BACKENDS[vpc.isolation].evpn:
                text = (
                    f"{vpc.isolation} does not enforce security groups, {able} does; remove it, and use NetworkPolicies"
                    " in the cluster"
                )
                yield problem(environment, tenant_file(tenant), ("vpcs", index, "security_group"), text)


def networks(environment: Environment) -> Iterator[Problem]:
    """Report rules without effect: for a network of the region, or one that is denied, always reachable, or blocked."""
    for tenant in environment.tenants:
        for path, group, rule in _rules(tenant):
            if rule.cidr is None:
                continue
            why = next(
                chain(
                    _of_the_region(environment, rule.cidr),
                    _of_vpcs(environment, tenant, _with(tenant, group), rule.cidr, inward=path[2] == "ingress"),
                ),
                None,
            )
            if why is not None:
                yield problem(environment, tenant_file(tenant), path, why)


def _of_the_region(environment: Environment, cidr: Network) -> Iterator[str]:
    """Yield why rules of security groups cannot open ``cidr`` in any VPC."""
    plan = environment.region.networks
    for path, name, network in region_networks(environment):
        if path[1] != "public" and cidr.subnet_of(network):
            yield f"{cidr} is in {name}, which rules cannot open; name a VPC there as peer, or remove it here"
    for network in plan.deny:
        if cidr.subnet_of(network):
            there = place(environment, REGION, ("networks", "deny"))
            yield f"{cidr} is in {network} of networks.deny ({there}), and denials take precedence; remove it here"
    for network in plan.border.networks if plan.border else ():
        if cidr.subnet_of(network):
            there = place(environment, REGION, ("networks", "border", "networks"))
            yield (
                f"{cidr} is in {network} of networks.border.networks ({there}), which every VPC reaches regardless of"
                " groups; remove it here"
            )


def _of_vpcs(
    environment: Environment, tenant: TenantSpec, vpcs: list[VpcSpec], cidr: Network, *, inward: bool
) -> Iterator[str]:
    """Yield why a rule opens no address of ``cidr`` to ``vpcs``, the VPCs with its group."""
    if vpcs and all(any(cidr.subnet_of(network) for network in vpc.deny) for vpc in vpcs):
        there = place(environment, tenant_file(tenant), ("vpcs", tenant.vpcs.index(vpcs[0]), "deny"))
        yield f"{cidr} is in deny of VPC {vpcs[0].name} ({there}), which takes precedence; remove it here"
    if kept := [vpc for vpc in vpcs if vpc.egress is Egress.NONE]:
        source = _written(environment, tenant, kept, "egress")
        yield f"{source}: neither packets nor replies reach {cidr}; remove it here, or write egress: public there"
    if inward and vpcs and all(vpc.ingress is Ingress.NONE for vpc in vpcs):
        source = _written(environment, tenant, vpcs, "ingress")
        yield f"{source}: it is unreachable from outside; remove it here, or write ingress: public there"


def _written(environment: Environment, tenant: TenantSpec, vpcs: list[VpcSpec], key: str) -> str:
    """Return the message that ``key`` is none for ``vpcs``, with the line in the first VPC."""
    there = place(environment, tenant_file(tenant), ("vpcs", tenant.vpcs.index(vpcs[0]), key))
    return f"{listed(vpc.name for vpc in vpcs)} has {key}: none ({there})"


def size(environment: Environment) -> Iterator[Problem]:
    """Report groups with more rules than a DPU supports."""
    vpcs = (vpc for tenant in environment.tenants for vpc in tenant.vpcs)
    prefixes = {vpc.name: len(PREFIXES) + len(vpc.more_prefixes) for vpc in vpcs}
    for tenant in environment.tenants:
        for index, group in enumerate(tenant.security_groups):
            rules = (*group.ingress, *group.egress)
            count = sum(max(1, len(rule.ports)) * prefixes.get(rule.peer or "", 1) for rule in rules)
            if count > MOST_RULES:
                text = (
                    f"{group.name} has {count} rules, counted by port and by prefix of a peer, but a group may have at"
                    f" most {MOST_RULES}; list fewer ports, or omit ports"
                )
                yield problem(environment, tenant_file(tenant), ("security_groups", index), text)


def _rules(tenant: TenantSpec) -> Iterator[tuple[DataPath, SecurityGroupSpec, SecurityRuleSpec]]:
    for index, group in enumerate(tenant.security_groups):
        for key in ("ingress", "egress"):
            for at, rule in enumerate(getattr(group, key)):
                yield ("security_groups", index, key, at), group, rule


def _with(tenant: TenantSpec, group: SecurityGroupSpec) -> list[VpcSpec]:
    return [vpc for vpc in tenant.vpcs if vpc.security_group == group.name]


RULES = Rules(references=(references,), data=(backends, networks, size))
