"""Rules about VPC peerings: existing peers, consent of both tenants, and a backend that supports them."""

from collections.abc import Iterator

from components.lookups.network.peerings import PlacedPeer, peers, requests_peering
from components.lookups.pools import place, problem, tenant_file
from components.render.backends import NETWORK_BACKENDS
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.network.tenant_network import Isolation
from components.specs.reading.problems import Problem, listed, suggestion


def references(environment: Environment) -> Iterator[Problem]:
    """Report undeclared peers, and VPCs that peer with themselves."""
    for peer in peers(environment):
        tenant, name = peer.wanted
        if (tenant, name) == (peer.tenant.tenant, peer.vpc.name):
            text = f"{name} is this VPC itself; remove it"
            yield problem(environment, peer.file, peer.path, text)
        elif tenant not in (tenants := [item.tenant for item in environment.tenants]):
            text = f"'{tenant}' is not a tenant (declared: {listed(tenants)}); pick one{suggestion(tenant, tenants)}"
            yield problem(environment, peer.file, (*peer.path, "tenant"), text)
        elif name not in _vpcs(environment, tenant):
            yield _unknown(environment, peer)


def _unknown(environment: Environment, peer: PlacedPeer) -> Problem:
    """Return the problem of a peer VPC that its tenant does not declare."""
    tenant, name = peer.wanted
    others = [vpc for vpc in _vpcs(environment, tenant) if (tenant, vpc) != (peer.tenant.tenant, peer.vpc.name)]
    owner = next((item.tenant for item in environment.tenants if name in _vpcs(environment, item.tenant)), None)
    if not (others or owner):
        text = f"'{name}' is not a VPC of {tenant}, which has no other; remove it"
        return problem(environment, peer.file, peer.path, text)
    if owner and peer.peer.tenant is None:
        text = f"'{name}' is a VPC of {owner}, not of {tenant}; add tenant: {owner}"
    else:
        text = f"'{name}' is not a VPC of {tenant} (declared: {listed(others)}); pick one{suggestion(name, others)}"
    return problem(environment, peer.file, (*peer.path, "vpc"), text)


def _vpcs(environment: Environment, tenant: str) -> list[str]:
    return [vpc.name for item in environment.tenants if item.tenant == tenant for vpc in item.vpcs]


def consent(environment: Environment) -> Iterator[Problem]:
    """Report peerings that only one side lists: both tenants must list them in their files."""
    for peer in _known(environment):
        this = (peer.tenant.tenant, peer.vpc.name)
        if not requests_peering(environment, peer.wanted, this):
            owner, name = peer.wanted
            tenant = "" if owner == this[0] else f"tenant: {this[0]}, "
            text = (
                f"VPC {name} of {owner} does not list this one, but a peering requires both sides; list it there too"
                f" ({_other(environment, peer)}: peers: [{{{tenant}vpc: {this[1]}}}]), or remove it here"
            )
            yield problem(environment, peer.file, peer.path, text)


def backends(environment: Environment) -> Iterator[Problem]:
    """Report peerings of VPCs without EVPN routes: only HBN imports routes of other VPCs."""
    able = " or ".join(isolation for isolation in Isolation if NETWORK_BACKENDS[isolation].evpn)
    for peer in _known(environment):
        if not NETWORK_BACKENDS[peer.vpc.isolation].evpn:
            text = (
                f"{peer.vpc.isolation} cannot import routes of another VPC, so {peer.vpc.name} cannot have peers;"
                f" create both VPCs with {able}, or remove it here and at {_other(environment, peer)}"
            )
            yield problem(environment, peer.file, peer.path, text)


def _known(environment: Environment) -> Iterator[PlacedPeer]:
    """Yield peers whose VPC exists; rule `references` reports all other peers."""
    return (peer for peer in peers(environment) if peer.wanted[1] in _vpcs(environment, peer.wanted[0]))


def _other(environment: Environment, peer: PlacedPeer) -> str:
    """Return ``file:line`` of the peer VPC."""
    tenant = next(item for item in environment.tenants if item.tenant == peer.wanted[0])
    index = [vpc.name for vpc in tenant.vpcs].index(peer.wanted[1])
    return place(environment, tenant_file(tenant), ("vpcs", index))


RULES = Rules(references=(references,), data=(consent, backends))
