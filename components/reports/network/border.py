"""What the border must do so that VPCs reach what they may: a contract with those who configure its routers.

A permit in an access list is no route. VPCs on DPUs have routes by EVPN only, each in a VRF of its own: what
lies outside is reached by what the border announces into it. The data say how: by route targets of the border
(``networks.border``) that VPCs import, or by a VRF of each VPC on the border, with the VPC's own route target.
"""

from __future__ import annotations

from collections.abc import Iterator

from components.inputs.tenant_network import PlacedVpc, vpcs
from components.render.backends import BORDERS
from components.render.network.dpf_hbn import POINT_TO_POINT
from components.render.network.nvue import dpu_asns
from components.render.network.vpc import ANYWHERE, announced, border_targets, reach
from components.reports.network.fabric_switches import FabricSwitches, fabric_switches
from components.specs.base import Network, Spec
from components.specs.environment import Environment
from components.specs.network.tenant_network import Isolation
from components.specs.ranges import Numbers
from components.specs.region.announcements import AnnouncementSpec, BgpPeerSpec
from components.specs.region.region import NetworksSpec

FORMAT = 1


class Announced(Spec):
    """A route of the border into a VPC."""

    prefix: Network
    route_target: str
    why: str


class Accepted(Spec):
    """Routes of a VPC that the border takes, and no others."""

    prefix: Network
    longest: int
    """Length of the longest prefix inside ``prefix`` that it takes."""
    why: str
    outside: bool
    """Whether the border announces it to the internet; all else stays between the VPC and what serves it."""


class Dropped(Spec):
    """Packets of VPCs that the border drops."""

    prefix: Network
    """Network that they are for."""
    why: str


class BorderVpc(Spec):
    """What the border does for one VPC."""

    vpc: str
    tenant: str
    vni: int
    """VNI that packets into the VPC carry; also of its VRF on the border, where it has one there."""
    own_vrf: bool
    """Whether the border has a VRF of the VPC; if not, it has one for services and one for the internet."""
    imports: str
    """Route target of the VPC's routes, which the border imports."""
    announces: tuple[Announced, ...]
    """Routes that lead out of the VPC; it reaches nothing outside that is in none of them."""
    accepts: tuple[Accepted, ...]
    """Routes that lead into the VPC. No packet out of it has a sender that none of them leads to (reverse path): DPUs
    do not ask who sends."""
    peers: dict[str, str]
    """Route targets that DPUs of the VPC import from peers, by ``TENANT/VPC``: those packets pass no border."""
    translates: bool
    """Whether the border gives packets to the internet public addresses, since those of the VPC are private."""


class Underlay(Spec):
    """What leaf switches and the border agree on with DPUs."""

    dpu_asns: Numbers
    """ASNs of DPUs, one each; their sessions with both leaf switches are eBGP on unnumbered links."""
    vteps: tuple[Network, ...]
    """Networks of the ends of VXLAN tunnels on DPUs, by DPU cluster."""
    uplink_mtu_bytes: int
    """Largest packet between DPUs, switches and border."""
    mtu_bytes: int
    """Largest packet of VPCs, which the border does not exceed into them."""


class ControlPlaneRoutes(Spec):
    """Routes to control planes, a /32 each, as hosts of the management cluster announce them."""

    asn: int
    """ASN of the hosts."""
    routers: tuple[BgpPeerSpec, ...]


class BorderContract(Spec):
    """Everything that ``jacquard show ENV network --border`` says."""

    schema_version: int = FORMAT
    environment: str
    underlay: Underlay
    vpcs: tuple[BorderVpc, ...]
    """VPCs that EVPN tells apart, in the order of the data."""
    without_evpn: dict[str, Isolation]
    """All other VPCs, which the border has no VRF and no route of."""
    drops: tuple[Dropped, ...]
    """What the border drops although it may have a route: packets that come from any VPC."""
    control_planes: ControlPlaneRoutes | None
    """Who announces control planes; None where hosts and addresses share one network, or nothing says who does."""
    fabrics: tuple[FabricSwitches, ...]
    """What switches of Ethernet fabrics do that keep VPCs apart, which no border is part of."""


def contract(environment: Environment) -> BorderContract:
    """Return what the border of ``environment`` does.

    Raises:
        KeyError: the lock files do not fit the data; ``components.rules.checks`` says where.
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
        vpcs=tuple(_vpc(one, plan) for one in placed if BORDERS[one.vpc.spec.isolation].evpn),
        without_evpn={
            one.vpc.spec.name: one.vpc.spec.isolation for one in placed if not BORDERS[one.vpc.spec.isolation].evpn
        },
        drops=tuple(_drops(plan)),
        control_planes=_control_planes(region.control_planes.announcement),
        fabrics=tuple(fabric_switches(environment)),
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
    """Yield the routes out of a VPC: to what the border serves to all of them, or to this one alone."""
    own, targets = placed.vpc.numbers.evpn_target, border_targets(plan)
    services, internet = targets or (own, own)
    if targets:
        yield Announced(prefix=plan.control_plane_vips, route_target=services, why="control planes")
    else:
        for address in placed.vpc.control_planes:
            yield Announced(prefix=Network(f"{address}/32"), route_target=services, why="its control plane")
    yield Announced(prefix=plan.storage, route_target=services, why="storage")
    for network in plan.border.networks if plan.border else ():
        yield Announced(prefix=network, route_target=services, why="behind the border, for every VPC")
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
    yield Dropped(prefix=plan.tenants, why="of another VPC, or of nobody")
    for name in ("management", "bmc", "boot", "dpu_loopbacks", "ovn"):
        prefix: Network | None = getattr(plan, name)
        if prefix is not None:
            yield Dropped(prefix=prefix, why=f"networks.{name}, which no tenant sees")
