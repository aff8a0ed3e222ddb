"""Input of VPC backends: the tenant's spec, the allocated numbers, and the reachable networks."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from components.render.add_ons.cni import POD_PREFIX_PER_NODE
from components.render.network.packets import Rule, Service, opened
from components.specs.base import Address, Network
from components.specs.network.security_groups import SecurityGroupSpec, SecurityRuleSpec
from components.specs.network.tenant_network import Egress, Ingress, VpcSpec
from components.specs.network.vpc_allocation import VpcAllocation
from components.specs.region.region import NetworksSpec
from components.specs.region.versions import Chart
from components.specs.struct import Struct, field

ANYWHERE = Network("0.0.0.0/0")
ANNOUNCED = ("pods", "services", "load_balancers")
"""Kinds of prefixes with routes announced by hosts. Host addresses need no route, because DPUs know them."""


class Peer(Struct):
    """Peered VPC, approved by both tenants."""

    vpc: str
    tenant: str
    numbers: VpcAllocation


class Vpc(Struct):
    """One VPC, independent of its backend."""

    spec: VpcSpec
    tenant: str
    numbers: VpcAllocation
    control_planes: tuple[Address, ...]
    """Addresses of the control planes of the VPC's clusters, which hosts must be able to reach."""
    public_addresses: tuple[Address, ...] = ()
    """Public addresses of the VPC's clusters, announced by hosts."""
    host_links: Mapping[str, Mapping[str, Network]] = field(default_factory=dict)
    """Statically allocated host links, by DPU cluster and DPF's name of the host's DPU."""
    services: tuple[Service, ...] = ()
    """Services of the region that every VPC reaches."""
    peers: tuple[Peer, ...] = ()
    """Peered VPCs whose routes are imported, in the order of the data."""
    group: SecurityGroupSpec | None = None
    """Security group that limits traffic to peers and the internet; None for no limit."""
    pins: Mapping[str, Chart] = field(default_factory=dict)
    """Pinned chart releases of the rendered cluster, by chart."""

    @property
    def peer_targets(self) -> dict[str, str]:
        """Return the route target of each peered VPC, by ``TENANT/VPC``."""
        return {f"{peer.tenant}/{peer.vpc}": peer.numbers.evpn_target for peer in self.peers}


class Reach(Struct):
    """Allowed and blocked destinations of a VPC. The first match applies."""

    permit: tuple[Network, ...]
    """Addresses of the control planes of the VPC's clusters."""
    services: tuple[Service, ...]
    """Services of the region that no later entry permits."""
    deny: tuple[Network, ...]
    """Networks that are closed to all tenants, then networks denied by the data. No later entry overlaps these
    networks."""
    inside: tuple[Network, ...]
    """Prefixes of the VPC, the region's storage, and the shared networks behind the network edge."""
    peers: tuple[Rule, ...]
    """Rules for traffic with peered VPCs, in both directions."""
    others: Network
    """Network of all tenants. All addresses outside the prefixes of the VPC belong to other tenants."""
    outside: bool
    """Whether all other destinations (the internet) are allowed."""
    crossing: tuple[Rule, ...] | None
    """Security group rules for other destinations; None to allow all of them."""


def announced(vpc: Vpc) -> tuple[Network, ...]:
    """Return the prefixes that contain all routes that hosts of ``vpc`` may announce, without routes of other tenants.

    With ``ingress: public``, the result includes each public address of the VPC as a /32, since the network of public
    addresses is shared with other tenants. Public addresses are last, so that a new address does not reorder the list.
    """
    first = tuple(getattr(vpc.numbers, kind) for kind in ANNOUNCED)
    more = (prefix for kind in ANNOUNCED for prefix in vpc.numbers.of_kind(kind) if prefix not in first)
    public = vpc.public_addresses if vpc.spec.ingress is Ingress.PUBLIC else ()
    return (*first, *more, *(Network(f"{address}/32") for address in public))


def most_routes(vpc: Vpc) -> int:
    """Return the maximum number of routes from one host of ``vpc``.

    MetalLB announces each load balancer address from each node. A network that routes pods announces at most one route
    per pod of its node, and one route per prefix of Services.
    """
    numbers = vpc.numbers
    balancers = sum(prefix.num_addresses for prefix in numbers.of_kind("load_balancers"))
    pods = 1 << (ANYWHERE.max_prefixlen - POD_PREFIX_PER_NODE)
    return balancers + len(vpc.public_addresses) + pods + len(numbers.of_kind("services"))


def imported(vpc: Vpc, networks: NetworksSpec) -> tuple[str, ...]:
    """Return the route targets that ``vpc`` imports, as ``<asn>:<number>``: from the network edge, then from peers.

    A permit rule adds no route. Routes out of the VPC require an import, or a VRF of the VPC on the border routers.
    """
    peers, targets = tuple(vpc.peer_targets.values()), border_targets(networks)
    if targets is None:
        return peers
    services, internet = targets
    return (services, internet, *peers) if vpc.spec.egress is Egress.PUBLIC else (services, *peers)


def border_targets(networks: NetworksSpec) -> tuple[str, str] | None:
    """Return the route targets of the network edge for services and the internet; None without route targets."""
    return networks.border.targets if networks.border else None


def reach(vpc: Vpc, networks: NetworksSpec) -> Reach:
    """Return the allowed and blocked destinations of ``vpc``, independent of its backend."""
    numbers = vpc.numbers
    deny = (*networks.closed_networks, *denied(vpc, networks))
    inside = (
        *numbers.prefixes.values(),
        networks.storage,
        *(networks.border.networks if networks.border else ()),
    )
    outside = vpc.spec.egress is Egress.PUBLIC
    permitted = (ANYWHERE,) if outside and vpc.group is None else inside
    return Reach(
        permit=tuple(Network(f"{address}/32") for address in vpc.control_planes),
        services=tuple(
            service
            for service in vpc.services
            if _within(service.network, deny) or not _within(service.network, permitted)
        ),
        deny=deny,
        inside=inside,
        peers=tuple(_with_peers(vpc)),
        others=networks.tenants,
        outside=outside,
        crossing=None if vpc.group is None else tuple(_crossing(vpc.group)),
    )


def _within(network: Network, networks: Iterable[Network]) -> bool:
    return any(network.subnet_of(other) for other in networks)


def denied(vpc: Vpc, networks: NetworksSpec) -> tuple[Network, ...]:
    """Return the networks that the data deny to ``vpc``, without duplicates: of the region, then of the VPC."""
    return tuple(dict.fromkeys((*networks.deny, *vpc.spec.deny)))


def _with_peers(vpc: Vpc) -> Iterator[Rule]:
    """Yield the rules for traffic between ``vpc`` and its peers: all traffic, or the rules of its security group."""
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
    """Yield the rules of ``group``. The boolean is true for connections into the VPC."""
    yield from ((True, rule) for rule in group.ingress)
    yield from ((False, rule) for rule in group.egress)


def verdicts(allowed: Reach, *, apart: bool = True) -> tuple[Rule, ...]:
    """Return ``allowed`` as an ordered list of rules. The first matching rule applies.

    Without ``apart`` the list has no rule for other tenants, for backends whose rules apply only to pods.
    """
    others = (Rule(network=allowed.others, permits=False),) if allowed.outside and apart else ()
    return (
        *(Rule(network=network, permits=True) for network in allowed.permit),
        *(service.rule for service in allowed.services),
        *(Rule(network=network, permits=False) for network in allowed.deny),
        *(Rule(network=network, permits=True) for network in allowed.inside),
        *allowed.peers,
        *others,
        *((allowed.crossing or ()) if allowed.outside else ()),
        Rule(network=ANYWHERE, permits=allowed.outside and allowed.crossing is None),
    )
