"""Peerings of VPCs: what they name is there, both tenants want them, and something can carry their packets."""

from __future__ import annotations

from collections.abc import Iterator

from components.lookups.peerings import PlacedPeer, peers, says_so
from components.lookups.pools import place, problem, tenant_file
from components.render.backends import BORDERS
from components.specs.environment import Environment
from components.specs.network.tenant_network import Isolation
from components.specs.reading.problems import Problem, listed, suggestion


def references(environment: Environment) -> Iterator[Problem]:
    """Report peers that no tenant has, and VPCs that would be their own."""
    for one in peers(environment):
        tenant, name = one.wanted
        if (tenant, name) == (one.tenant.tenant, one.vpc.name):
            text = f"{name} is this VPC itself, which reaches itself anyway; remove it"
            yield problem(environment, one.file, one.path, text)
        elif tenant not in (tenants := [item.tenant for item in environment.tenants]):
            text = f"'{tenant}' is no tenant (declared: {listed(tenants)}); pick one{suggestion(tenant, tenants)}"
            yield problem(environment, one.file, (*one.path, "tenant"), text)
        elif name not in _vpcs(environment, tenant):
            yield _unknown(environment, one)


def _unknown(environment: Environment, one: PlacedPeer) -> Problem:
    """Return the problem of a VPC that its tenant does not have."""
    tenant, name = one.wanted
    others = [vpc for vpc in _vpcs(environment, tenant) if (tenant, vpc) != (one.tenant.tenant, one.vpc.name)]
    owner = next((item.tenant for item in environment.tenants if name in _vpcs(environment, item.tenant)), None)
    if not (others or owner):
        text = f"'{name}' is no VPC of {tenant}, which has no other; remove it"
        return problem(environment, one.file, one.path, text)
    if owner and one.peer.tenant is None:
        text = f"'{name}' is a VPC of {owner}, not of {tenant}; add tenant: {owner}"
    else:
        text = f"'{name}' is no VPC of {tenant} (declared: {listed(others)}); pick one{suggestion(name, others)}"
    return problem(environment, one.file, (*one.path, "vpc"), text)


def _vpcs(environment: Environment, tenant: str) -> list[str]:
    return [vpc.name for item in environment.tenants if item.tenant == tenant for vpc in item.vpcs]


def consent(environment: Environment) -> Iterator[Problem]:
    """Report peerings that one side alone wants: the word of both tenants stands in both files."""
    for one in _known(environment):
        this = (one.tenant.tenant, one.vpc.name)
        if not says_so(environment, one.wanted, this):
            owner, name = one.wanted
            tenant = "" if owner == this[0] else f"tenant: {this[0]}, "
            text = (
                f"VPC {name} of {owner} does not name this one, and a peering is the word of both sides; name it"
                f" there too ({_other(environment, one)}: peers: [{{{tenant}vpc: {this[1]}}}]), or remove it here"
            )
            yield problem(environment, one.file, one.path, text)


def backends(environment: Environment) -> Iterator[Problem]:
    """Report peerings of VPCs whose routes no EVPN carries: HBN alone takes another VPC's beside its own."""
    able = " or ".join(isolation for isolation in Isolation if BORDERS[isolation].evpn)
    for one in _known(environment):
        if not BORDERS[one.vpc.isolation].evpn:
            text = (
                f"{one.vpc.isolation} takes no routes of another VPC, so that {one.vpc.name} has no peers; make both"
                f" VPCs with {able}, or remove it here and at {_other(environment, one)}"
            )
            yield problem(environment, one.file, one.path, text)


def _known(environment: Environment) -> Iterator[PlacedPeer]:
    """Yield what names a VPC that is there; what does not is told by `references`."""
    return (one for one in peers(environment) if one.wanted[1] in _vpcs(environment, one.wanted[0]))


def _other(environment: Environment, one: PlacedPeer) -> str:
    """Return ``file:line`` of the VPC on the other side."""
    tenant = next(item for item in environment.tenants if item.tenant == one.wanted[0])
    index = [vpc.name for vpc in tenant.vpcs].index(one.wanted[1])
    return place(environment, tenant_file(tenant), ("vpcs", index))
