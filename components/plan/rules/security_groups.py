"""Security groups: what names them and what they name is there, something can enforce them, and they fit."""

from __future__ import annotations

from collections.abc import Iterator

from components.plan.pools import DataPath, problem, tenant_file
from components.plan.rules.networks import region_networks
from components.render.backends import BORDERS
from components.specs.environment import Environment
from components.specs.problems import Problem, listed, suggestion
from components.specs.security_groups import SecurityGroupSpec, SecurityRuleSpec
from components.specs.tenant import TenantSpec
from components.specs.tenant_network import Egress, Isolation, VpcSpec
from components.specs.vpc_allocation import PREFIXES

MOST_RULES = 200
"""Most rules of a group, counted by port and peer's prefix: NICo's default, beyond which it refuses one."""


def references(environment: Environment) -> Iterator[Problem]:
    """Report groups that a VPC names in vain, and peers of rules that are none of a VPC with the group."""
    for tenant in environment.tenants:
        names = [group.name for group in tenant.security_groups]
        for index, vpc in enumerate(tenant.vpcs):
            if vpc.security_group is not None and vpc.security_group not in names:
                name = vpc.security_group
                text = f"'{name}' is not declared (declared: {listed(names)}); pick one{suggestion(name, names)}"
                if not names:
                    text = f"'{name}' is not declared, and security_groups of this file has none; remove it"
                yield problem(environment, tenant_file(tenant), ("vpcs", index, "security_group"), text)
        for path, group, rule in _rules(tenant):
            for vpc in _with(tenant, group):
                peers = [peer.vpc for peer in vpc.peers]
                if rule.peer is not None and rule.peer not in peers:
                    text = f"'{rule.peer}' is no peer of VPC {vpc.name}, which has this group; remove it"
                    yield problem(environment, tenant_file(tenant), path, text)


def backends(environment: Environment) -> Iterator[Problem]:
    """Report groups of VPCs whose packets no DPU filters."""
    able = " or ".join(isolation for isolation in Isolation if BORDERS[isolation].evpn)
    for tenant in environment.tenants:
        for index, vpc in enumerate(tenant.vpcs):
            if vpc.security_group is not None and not BORDERS[vpc.isolation].evpn:
                text = f"{vpc.isolation} enforces no security group, {able} does; remove it, and write policies inside"
                yield problem(environment, tenant_file(tenant), ("vpcs", index, "security_group"), text)


def networks(environment: Environment) -> Iterator[Problem]:
    """Report rules that open nothing: about networks of the region, or about what ``egress: none`` keeps in."""
    of_region = [one for one in region_networks(environment) if one[0][1] != "public"]
    for tenant in environment.tenants:
        for path, group, rule in _rules(tenant):
            cidr, file = rule.cidr, tenant_file(tenant)
            if cidr is None:
                continue
            where = next((name for _, name, network in of_region if cidr.subnet_of(network)), None)
            if where is not None:
                text = f"{cidr} is in {where}, where no rule leads; name a VPC there as peer, or remove it here"
                yield problem(environment, file, path, text)
            elif kept := [vpc.name for vpc in _with(tenant, group) if vpc.egress is Egress.NONE]:
                text = f"{listed(kept)} has egress: none: nothing gets out to {cidr}, nor an answer; remove it here"
                yield problem(environment, file, path, text)


def size(environment: Environment) -> Iterator[Problem]:
    """Report groups of more rules than a DPU should have."""
    vpcs = (vpc for tenant in environment.tenants for vpc in tenant.vpcs)
    prefixes = {vpc.name: len(PREFIXES) + len(vpc.more_prefixes) for vpc in vpcs}
    for tenant in environment.tenants:
        for index, group in enumerate(tenant.security_groups):
            rules = (*group.ingress, *group.egress)
            count = sum(max(1, len(rule.ports)) * prefixes.get(rule.peer or "", 1) for rule in rules)
            if count > MOST_RULES:
                text = (
                    f"{group.name} has {count} rules, counted by port and by prefix of a peer,"
                    f" and a group may have at most {MOST_RULES}; list fewer ports, or leave ports out"
                )
                yield problem(environment, tenant_file(tenant), ("security_groups", index), text)


def _rules(tenant: TenantSpec) -> Iterator[tuple[DataPath, SecurityGroupSpec, SecurityRuleSpec]]:
    for index, group in enumerate(tenant.security_groups):
        for key in ("ingress", "egress"):
            for place, rule in enumerate(getattr(group, key)):
                yield ("security_groups", index, key, place), group, rule


def _with(tenant: TenantSpec, group: SecurityGroupSpec) -> list[VpcSpec]:
    return [vpc for vpc in tenant.vpcs if vpc.security_group == group.name]
