"""A VPC as its backends see it: the tenant's wish, the numbers it was given, and what it may reach."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain

from components.render.network.packets import Rule, opened
from components.specs.base import Address, Network
from components.specs.network.security_groups import SecurityGroupSpec, SecurityRuleSpec
from components.specs.network.tenant_network import Egress, Ingress, VpcSpec
from components.specs.network.vpc_allocation import VpcAllocation
from components.specs.region.region import NetworksSpec
from components.specs.region.versions import Chart

ANYWHERE = Network("0.0.0.0/0")
ANNOUNCED = ("pods", "services", "load_balancers")
"""Kinds of prefixes inside which hosts announce routes; of their own addresses the DPUs know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """Another VPC that exchanges packets with one, by the word of both tenants."""

    vpc: str
    tenant: str
    numbers: VpcAllocation


@dataclass(frozen=True, slots=True, kw_only=True)
class Vpc:
    """One VPC, in the terms that no backend owns."""

    spec: VpcSpec
    tenant: str
    numbers: VpcAllocation
    control_planes: tuple[Address, ...]
    """Addresses of the control planes of the VPC's clusters, which its hosts must reach."""
    public_addresses: tuple[Address, ...] = ()
    """Public addresses of the VPC's clusters, which its hosts announce."""
    host_links: Mapping[str, Mapping[str, Network]] = field(default_factory=dict)
    """Links to hosts whose addresses are given beforehand, by DPU cluster and by what DPF calls the host's DPU."""
    peers: tuple[Peer, ...] = ()
    """VPCs whose routes it has beside its own, in the order of the data."""
    group: SecurityGroupSpec | None = None
    """What alone crosses its edge to peers and the internet; None where nothing bounds it."""
    pins: Mapping[str, Chart] = field(default_factory=dict)
    """Releases of charts that are pinned for the cluster of which the VPC is seen, by chart."""

    @property
    def peer_targets(self) -> dict[str, str]:
        """Return the route target of each VPC that it is peered with, by ``TENANT/VPC``."""
        return {f"{peer.tenant}/{peer.vpc}": peer.numbers.evpn_target for peer in self.peers}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """Where traffic of a VPC may go; what stands first decides."""

    permit: tuple[Network, ...]
    """Addresses of the control planes of the VPC's clusters."""
    deny: tuple[Network, ...]
    """Networks of the region that no tenant may see, then those that the data deny: nothing below has any of them."""
    inside: tuple[Network, ...]
    """Prefixes of the VPC itself, the region's storage, and what every VPC reaches behind the border."""
    peers: tuple[Rule, ...]
    """What crosses its edge to VPCs that are peered with it, and back."""
    others: Network
    """Network of all tenants, in which prefixes of the VPC itself lie: whatever else leads there, it is another's."""
    outside: bool
    """Whether everything else may be reached too."""
    crossing: tuple[Rule, ...] | None
    """What of everything else; None where all of it."""


def announced(vpc: Vpc) -> tuple[Network, ...]:
    """Return the prefixes inside which hosts of ``vpc`` may announce routes: never another's, nor a default route.

    With ``ingress: public`` those are the VPC's public addresses too, one by one: the network that they are taken from
    has those of other tenants. They come last, so that a new one moves no other.
    """
    first = tuple(getattr(vpc.numbers, kind) for kind in ANNOUNCED)
    more = (prefix for kind in ANNOUNCED for prefix in vpc.numbers.of_kind(kind) if prefix not in first)
    public = vpc.public_addresses if vpc.spec.ingress is Ingress.PUBLIC else ()
    return (*first, *more, *(Network(f"{one}/32") for one in public))


def imported(vpc: Vpc, networks: NetworksSpec) -> tuple[str, ...]:
    """Return the route targets that ``vpc`` imports beside its own, as ``<asn>:<number>``: the border's, then peers'.

    A permit is no route: without one of these, or a VRF of the VPC on the border, nothing leads out of the VPC.
    """
    peers, targets = tuple(vpc.peer_targets.values()), border_targets(networks)
    if targets is None:
        return peers
    services, internet = targets
    return (services, internet, *peers) if vpc.spec.egress is Egress.PUBLIC else (services, *peers)


def border_targets(networks: NetworksSpec) -> tuple[str, str] | None:
    """Return the route targets of the border for services and the internet; None where it gives none."""
    return networks.border.targets if networks.border else None


def reach(vpc: Vpc, networks: NetworksSpec) -> Reach:
    """Return where traffic of ``vpc`` may go, whatever backend sees to it."""
    numbers = vpc.numbers
    return Reach(
        permit=tuple(Network(f"{address}/32") for address in vpc.control_planes),
        deny=(*networks.unseen, *denied(vpc, networks)),
        inside=(
            *numbers.prefixes.values(),
            networks.storage,
            *(networks.border.networks if networks.border else ()),
        ),
        peers=tuple(_with_peers(vpc)),
        others=networks.tenants,
        outside=vpc.spec.egress is Egress.PUBLIC,
        crossing=None if vpc.group is None else tuple(_crossing(vpc.group)),
    )


def denied(vpc: Vpc, networks: NetworksSpec) -> tuple[Network, ...]:
    """Return the networks that the data deny to ``vpc``, each once: those of all VPCs, then its own."""
    return tuple(dict.fromkeys((*networks.deny, *vpc.spec.deny)))


def _with_peers(vpc: Vpc) -> Iterator[Rule]:
    """Yield what crosses the edge of ``vpc`` to its peers: everything, or what its group has of them."""
    prefixes = {peer.vpc: tuple(peer.numbers.prefixes.values()) for peer in vpc.peers}
    if vpc.group is None:
        for network in chain.from_iterable(prefixes.values()):
            yield Rule(network=network, permits=True)
        return
    for inward, rule in _rules(vpc.group):
        if rule.peer is not None:
            yield from opened(rule, prefixes.get(rule.peer, ()), inward=inward)


def _crossing(group: SecurityGroupSpec) -> Iterator[Rule]:
    for inward, rule in _rules(group):
        if rule.cidr is not None:
            yield from opened(rule, (rule.cidr,), inward=inward)


def _rules(group: SecurityGroupSpec) -> Iterator[tuple[bool, SecurityRuleSpec]]:
    """Yield the rules of ``group``, each with whether it is about connections into the VPC."""
    yield from ((True, rule) for rule in group.ingress)
    yield from ((False, rule) for rule in group.egress)


def verdicts(allowed: Reach, *, apart: bool = True) -> tuple[Rule, ...]:
    """Return the same as an ordered list: the first rule that is about a packet decides.

    Without ``apart`` nothing is said of other tenants, as by backends whose rules are for pods alone.
    """
    others = (Rule(network=allowed.others, permits=False),) if allowed.outside and apart else ()
    return (
        *(Rule(network=one, permits=True) for one in allowed.permit),
        *(Rule(network=one, permits=False) for one in allowed.deny),
        *(Rule(network=one, permits=True) for one in allowed.inside),
        *allowed.peers,
        *others,
        *((allowed.crossing or ()) if allowed.outside else ()),
        Rule(network=ANYWHERE, permits=allowed.outside and allowed.crossing is None),
    )
