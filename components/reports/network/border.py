"""Configuration of the network edge for access of VPCs to allowed networks: a contract with its operators.

Permits in access lists do not create routes. A VPC on DPUs has a VRF with EVPN routes only, so external networks are
reachable only through routes that the border routers announce into the VRF. The data select the method: VPCs import
route targets of the edge (``networks.border``), or the border routers have a VRF per VPC, with the VPC's route target.
"""

from collections.abc import Iterator

from components.inputs.tenant_network import PlacedVpc, services, vpcs
from components.render.backends import NETWORK_BACKENDS
from components.render.network.dpf_hbn import POINT_TO_POINT
from components.render.network.nvue import dpu_asns
from components.render.network.ovn_services import NORTHBOUND, SOUTHBOUND, router
from components.render.network.vpc import ANYWHERE, announced, border_targets, reach
from components.reports.network.fabric_switches import FabricSwitches, fabric_switches
from components.reports.network.leaf_sessions import LeafSessions, leaf_sessions
from components.specs.base import Address, Network, Spec
from components.specs.environment import Environment
from components.specs.network.tenant_network import Isolation
from components.specs.ranges import Numbers
from components.specs.region.announcements import AnnouncementSpec, BgpPeerSpec
from components.specs.region.region import NetworksSpec

FORMAT = 1


class Announced(Spec):
    """Route that the border routers announce into a VPC."""

    prefix: Network
    route_target: str
    why: str


class Accepted(Spec):
    """Routes of a VPC that the border routers accept; all other routes are rejected."""

    prefix: Network
    longest: int
    """Longest accepted prefix length inside ``prefix``."""
    why: str
    outside: bool
    """Whether the border routers announce the routes to the internet; other routes are only for services of the VPC."""


class Dropped(Spec):
    """Packets of VPCs that the border routers drop."""

    prefix: Network
    """Destination network of the packets."""
    why: str


class BorderVpc(Spec):
    """Configuration of the border routers for one VPC."""

    vpc: str
    tenant: str
    vni: int
    """VNI of packets into the VPC, and of the VPC's VRF on the border routers, if present."""
    own_vrf: bool
    """Whether the border routers have a VRF per VPC; otherwise they have one VRF for services and one for the
    internet."""
    imports: str
    """Route target of the VPC's routes, which the border routers import."""
    announces: tuple[Announced, ...]
    """Routes out of the VPC. The VPC reaches only external networks with such a route."""
    accepts: tuple[Accepted, ...]
    """Routes into the VPC. The border routers must drop packets from the VPC whose source is in none of these routes
    (reverse path check), because DPUs do not check sources."""
    peers: dict[str, str]
    """Route targets that DPUs of the VPC import from peers, by ``TENANT/VPC``. This traffic bypasses the border
    routers."""
    translates: bool
    """Whether the border routers translate source addresses to public addresses, because addresses of the VPC are
    private."""


class Permitted(Spec):
    """Packets that a router forwards, although a wider network is dropped."""

    prefix: Network
    """Destination network of the packets."""
    why: str


class OvnRouter(Spec):
    """Configuration of the router in the network of OVN (``networks.ovn``), through which VPCs on OVN leave.

    OVN filters no packets, and DPUs replace the source address by their own. The router therefore cannot distinguish
    these VPCs, and forwards packets to the control planes of all of them.
    """

    address: Address
    """Address of the router, the first of ``network``."""
    network: Network
    """Network of the packets' source addresses."""
    vpcs: tuple[str, ...]
    permits: tuple[Permitted, ...]
    drops: tuple[Dropped, ...]
    """Packets that the router drops unless they are permitted; it forwards all other packets."""

    def decision(self, target: Network) -> tuple[str, bool]:
        """Return the rule for packets to ``target`` as text, and whether the router forwards them."""
        rules = [(f"permits {rule.prefix}: {rule.why}", rule.prefix, True) for rule in self.permits]
        rules += [(f"drops {rule.prefix}: {rule.why}", rule.prefix, False) for rule in self.drops]
        matching = ((text, forwards) for text, prefix, forwards in rules if target.subnet_of(prefix))
        return next(matching, (f"leads to {target}", True))


class Underlay(Spec):
    """Parameters that leaf switches and border routers must have in common with DPUs."""

    dpu_asns: Numbers
    """ASNs of DPUs, one per DPU. Sessions with both leaf switches are eBGP on unnumbered links."""
    vteps: tuple[Network, ...]
    """Networks of VXLAN tunnel endpoints on DPUs, by DPU cluster."""
    uplink_mtu_bytes: int
    """Maximum packet size between DPUs, switches and border routers."""
    mtu_bytes: int
    """Maximum packet size in VPCs; the border routers must send no larger packets."""


class ControlPlaneRoutes(Spec):
    """Routes to control planes, one /32 per control plane, announced by hosts of the management cluster."""

    asn: int
    """ASN of the hosts."""
    routers: tuple[BgpPeerSpec, ...]


class BorderContract(Spec):
    """Report of ``jacquard show ENV network --border``."""

    schema_version: int = FORMAT
    environment: str
    underlay: Underlay
    vpcs: tuple[BorderVpc, ...]
    """VPCs with EVPN, in the order of the data."""
    without_evpn: dict[str, Isolation]
    """All other VPCs. These VPCs have no VRF and no routes on the border routers."""
    ovn: OvnRouter | None = None
    """Router of VPCs on OVN; None if there are no such VPCs."""
    drops: tuple[Dropped, ...]
    """Packets of any VPC that the border routers drop, even if they have a route."""
    control_planes: ControlPlaneRoutes | None
    """Routes to control planes; None if hosts and addresses share a network, or if no announcement is defined."""
    leaf_sessions: tuple[LeafSessions, ...] = ()
    """BGP sessions of hosts without DPUs with leaf switches; independent of the border routers."""
    fabrics: tuple[FabricSwitches, ...]
    """Configuration of switches of Ethernet fabrics that isolate VPCs; independent of the border routers."""


def contract(environment: Environment) -> BorderContract:
    """Return the configuration of the border routers of ``environment``.

    Raises:
        KeyError: the lock files do not match the data; ``components.rules.checks`` reports the place.
    """
    region, placed = environment.region, list(vpcs(environment))
    plan = region.networks
    return BorderContract(
        environment=environment.name,
        underlay=Underlay(
            dpu_asns=dpu_asns(plan.asn, plan.dpu_loopbacks),
            vteps=tuple(item.loopbacks for item in region.dpus.every(plan.dpu_loopbacks)),
            uplink_mtu_bytes=region.dpus.uplink_mtu_bytes,
            mtu_bytes=region.dpus.mtu_bytes,
        ),
        vpcs=tuple(_vpc(item, plan) for item in placed if NETWORK_BACKENDS[item.vpc.spec.isolation].evpn),
        without_evpn={
            item.vpc.spec.name: item.vpc.spec.isolation
            for item in placed
            if not NETWORK_BACKENDS[item.vpc.spec.isolation].evpn
        },
        ovn=_ovn_router(environment, [item for item in placed if NETWORK_BACKENDS[item.vpc.spec.isolation].ovn]),
        drops=tuple(_drops(plan)),
        control_planes=_control_planes(region.control_planes.announcement),
        leaf_sessions=tuple(leaf_sessions(environment)),
        fabrics=tuple(fabric_switches(environment)),
    )


def _ovn_router(environment: Environment, placed: list[PlacedVpc]) -> OvnRouter | None:
    plan, central = environment.region.networks, environment.region.dpus.ovn_central
    if plan.ovn is None or not placed:
        return None
    addresses = [(address, item.vpc.spec.name) for item in placed for address in item.vpc.control_planes]
    permits = {f"{address}/32": f"control plane of {vpc}" for address, vpc in addresses}
    permits |= {str(service.network): service.name for service in services(environment.region)}
    drops = [*_drops(plan), Dropped(prefix=plan.control_plane_vips, why="control planes of other VPCs")]
    if central is not None:
        ports = f"TCP ports {NORTHBOUND} and {SOUTHBOUND}"
        drops.append(Dropped(prefix=Network(f"{central}/32"), why=f"databases of OVN, {ports}"))
    return OvnRouter(
        address=router(plan.ovn),
        network=plan.ovn,
        vpcs=tuple(item.vpc.spec.name for item in placed),
        permits=tuple(Permitted(prefix=Network(prefix), why=why) for prefix, why in permits.items()),
        drops=tuple(drops),
    )


def _control_planes(announcement: AnnouncementSpec | None) -> ControlPlaneRoutes | None:
    if announcement is None or announcement.asn is None:
        return None
    return ControlPlaneRoutes(asn=announcement.asn, routers=announcement.peers)


def _vpc(placed: PlacedVpc, plan: NetworksSpec) -> BorderVpc:
    numbers, allowed = placed.vpc.numbers, reach(placed.vpc, plan)
    return BorderVpc(
        vpc=placed.vpc.spec.name,
        tenant=placed.vpc.tenant,
        vni=numbers.vni,
        own_vrf=border_targets(plan) is None,
        imports=numbers.evpn_target,
        announces=tuple(_announces(placed, plan)),
        accepts=tuple(_accepts(placed)),
        peers=placed.vpc.peer_targets,
        translates=allowed.outside and plan.tenants.is_private,
    )


def _announces(placed: PlacedVpc, plan: NetworksSpec) -> Iterator[Announced]:
    """Yield the routes out of a VPC: to services for all VPCs, and to destinations of this VPC."""
    own, targets = placed.vpc.numbers.evpn_target, border_targets(plan)
    services, internet = targets or (own, own)
    if targets:
        yield Announced(prefix=plan.control_plane_vips, route_target=services, why="control planes")
    else:
        for address in placed.vpc.control_planes:
            yield Announced(prefix=Network(f"{address}/32"), route_target=services, why="its control plane")
    yield Announced(prefix=plan.storage, route_target=services, why="storage")
    for service in reach(placed.vpc, plan).services:
        if not (targets and service.address in plan.control_plane_vips):
            yield Announced(prefix=service.network, route_target=services, why=service.name)
    for network in plan.border.networks if plan.border else ():
        yield Announced(prefix=network, route_target=services, why="behind the network edge, for every VPC")
    if reach(placed.vpc, plan).outside:
        yield Announced(prefix=ANYWHERE, route_target=internet, why="egress: public")


def _accepts(placed: PlacedVpc) -> Iterator[Accepted]:
    named = {prefix: name.replace("_", " ") for name, prefix in placed.vpc.numbers.prefixes.items()}
    bits = ANYWHERE.max_prefixlen
    for hosts in placed.vpc.numbers.of_kind("hosts"):
        yield Accepted(prefix=hosts, longest=POINT_TO_POINT, why=named[hosts], outside=False)
    for prefix in announced(placed.vpc):
        public = prefix not in named
        yield Accepted(prefix=prefix, longest=bits, why=named.get(prefix, "public address"), outside=public)


def _drops(plan: NetworksSpec) -> Iterator[Dropped]:
    yield Dropped(prefix=plan.tenants, why="of another VPC, or unassigned")
    for name in ("management", "bmc", "boot", "dpu_loopbacks", "ovn"):
        prefix: Network | None = getattr(plan, name)
        if prefix is not None:
            yield Dropped(prefix=prefix, why=f"networks.{name}, unreachable for tenants")
