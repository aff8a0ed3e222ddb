"""The real FRR exchanges routes of tenants and an edge router: each route reaches exactly its intended targets.

DPUs have the rendered configuration, the edge router that of ``show ENV network --border``. NVUE, which generates FRR's
configuration on a DPU, is not available: ``frr_configuration`` implements the conversion. FRR has no access lists; no
packet is sent. Hosts announce their own prefixes and many others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import pytest

from components.render.network.nvue import HOST_INTERFACE
from components.reports.network.border import contract
from components.specs.environment import Environment
from components.specs.network.tenant_network import Egress
from components.specs.struct import replace
from tests.support.network.drawn_regions import BORDER, PLAIN, region
from tests.support.network.frr_configuration import (
    BorderVrf,
    border_configuration,
    border_vrfs,
    host_configuration,
    leaf_configuration,
)
from tests.support.network.routed_hosts import PLACES, Place, configurations, place
from tests.support.network.routers import Router, lab, wait

LEAF_ASNS, BORDER_ASN = (4290000001, 4290000003), 4290000002
PORTS = ("p0_if", "p1_if")
"""Ports of each DPU, each connected to a different leaf switch."""
WISHES = {"ant": replace(PLAIN, nodes=2), "bee": replace(PLAIN, egress=Egress.NONE), "cat": PLAIN}
PEERINGS = (("ant", "bee"), ("bee", "cat"))
FORMS = {
    "VRFs of VPCs on the border": (None, ()),
    "VRFs of the border": (BORDER, ()),
    "peers in a chain": (BORDER, PEERINGS),
}


@dataclass(frozen=True)
class Fabric:
    """The running network: two leaf switches, the edge router, and DPUs with their hosts."""

    environment: Environment
    places: tuple[Place, ...]
    vrfs: tuple[BorderVrf, ...]
    border: Router
    dpus: tuple[Router, ...]


@pytest.fixture(scope="module", params=FORMS.values(), ids=FORMS)
def fabric(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fabric]:
    border, peerings = request.param
    environment = region(WISHES, border, peerings=peerings)
    texts = configurations(environment)
    places = tuple(place(environment, number, texts) for number in range(len(PLACES)))
    with lab(tmp_path_factory.mktemp("fabric")) as machine:
        yield wired(environment, places, machine)


def wired(environment: Environment, places: tuple[Place, ...], machine: Callable[[str], Router]) -> Fabric:
    """Build and start the network."""
    border, loopbacks = machine("border"), environment.region.networks.dpu_loopbacks
    leaves = dict(zip(PORTS, (machine("leaf0"), machine("leaf1")), strict=True))
    vrfs, ends = border_vrfs(contract(environment).model_dump(mode="json")), [str(loopbacks[-n]) for n in (2, 3, 4)]
    uplinks = [f"up-{leaf.name}" for leaf in leaves.values()]
    for leaf in leaves.values():
        border.link(f"up-{leaf.name}", leaf, "border")
    border.ip(f"address add {ends[0]}/32 dev lo")
    for vrf in vrfs:
        border.add_vrf(vrf.name, vrf.vni, ends[0])
    border.start(border_configuration(BORDER_ASN, ends[0], vrfs, uplinks))
    dpus: list[Router] = []
    for number, at in enumerate(places):
        dpu, host = machine(f"dpu{number}"), machine(f"host{number}")
        dpu.ip(f"address add {at.loopback}/32 dev lo")
        dpu.add_vrf(at.vpc, at.dpu.vni, at.loopback)
        for port in at.dpu.settings["vrf"]["default"]["router"]["bgp"]["neighbor"]:
            dpu.link(port, leaves[port], dpu.name)
        host.link("dpu", dpu, HOST_INTERFACE)
        host.ip(f"address add {at.link[2]}/{at.link.prefixlen} dev dpu")
        dpu.move(HOST_INTERFACE, at.vpc, at.address)
        dpu.start(at.dpu.configuration())
        asn = environment.allocations.vpcs[at.vpc].asn
        host.start(host_configuration(asn, str(at.link[2]), "dpu", sorted(at.own | at.foreign), at.attributes))
        dpus.append(dpu)
    ports = ["border", *(dpu.name for dpu in dpus)]
    for leaf, asn, end in zip(leaves.values(), LEAF_ASNS, ends[1:], strict=True):
        leaf.start(leaf_configuration(asn, end, ports))
    return Fabric(environment, places, vrfs, border, tuple(dpus))


def routes(router: Router, vrf: str) -> set[str]:
    return set(router.ask(f"show bgp vrf {vrf} ipv4 unicast json").get("routes", {}))


def wait_for_exactly(router: Router, vrf: str, expected: set[str]) -> None:
    """Wait until a VRF has exactly these routes; it imports all routes at the same time, when its VNI is up."""
    wait(f"routes of {vrf} at {router.name}", partial(routes, router, vrf), expected.__eq__)


def received(router: Router, vrf: str) -> set[str]:
    """Return the routes that the host announced to its DPU, accepted or not."""
    answer = router.ask(f"show bgp vrf {vrf} ipv4 unicast neighbors {HOST_INTERFACE} received-routes json")
    return set(answer.get("receivedRoutes", {}))


def carried(router: Router) -> set[str]:
    """Return all prefixes that the router received by EVPN, whatever their route targets."""
    answer = router.ask("show bgp l2vpn evpn route json")
    found = (entry for routes in answer.values() if isinstance(routes, dict) for entry in routes.values())
    return {
        f"{path['ip']}/{path['ipLen']}"
        for one in found
        if isinstance(one, dict)
        for paths in one["paths"]
        for path in paths
    }


def everything(fabric: Fabric) -> set[str]:
    """Return all prefixes that any router may announce."""
    announced = {prefix for vrf in fabric.vrfs for prefix in vrf.prefixes}
    return announced.union(*(at.own | {str(at.link)} for at in fabric.places))


def settled(fabric: Fabric) -> None:
    """Wait until the routes of all hosts have reached every DPU and the edge router."""
    for router, at in zip(fabric.dpus, fabric.places, strict=True):
        wait(f"what {router.name} hears", partial(received, router, at.vpc), (at.own | at.foreign).issubset)
    for router in (*fabric.dpus, fabric.border):
        wait(f"what comes to {router.name}", partial(carried, router), everything(fabric).issubset)


def of_vpc(fabric: Fabric, vpc: str) -> set[str]:
    """Return the routes that a VPC originates: links of its hosts, and permitted announcements of the hosts."""
    return set[str]().union(*(at.own | {str(at.link)} for at in fabric.places if at.vpc == vpc))


def peers(environment: Environment, vpc: str) -> list[str]:
    [found] = [one for tenant in environment.tenants for one in tenant.vpcs if one.name == vpc]
    return [peer.vpc for peer in found.peers]


def test_routes_reach_exactly_their_intended_vrfs(fabric: Fabric) -> None:
    settled(fabric)
    contracts = {one.vpc: one for one in contract(fabric.environment).vpcs}
    for router, at in zip(fabric.dpus, fabric.places, strict=True):
        outside = {str(route.prefix) for route in contracts[at.vpc].announces}
        inside = [of_vpc(fabric, name) for name in (at.vpc, *peers(fabric.environment, at.vpc))]
        wait_for_exactly(router, at.vpc, outside.union(*inside))
    for vrf in fabric.vrfs:
        served = {one.vpc for one in contracts.values() if one.imports in vrf.imports}
        wait_for_exactly(fabric.border, vrf.name, set(vrf.prefixes).union(*(of_vpc(fabric, vpc) for vpc in served)))


def attributes(router: Router, vrf: str, prefix: str) -> set[str]:
    """Return the communities of a route, of all kinds."""
    paths = router.ask(f"show bgp vrf {vrf} ipv4 unicast {prefix} json")["paths"]
    kinds = ("community", "largeCommunity", "extendedCommunity")
    return {f"{kind} {path[kind]['string']}" for path in paths for kind in kinds if kind in path}


def test_attributes_from_hosts_do_not_reach_the_vrf(fabric: Fabric) -> None:
    settled(fabric)
    for router, at in zip(fabric.dpus, fabric.places, strict=True):
        for prefix in at.own:
            assert attributes(router, at.vpc, prefix) == set()


def test_a_dpu_counts_the_routes_of_its_host(fabric: Fabric) -> None:
    lock = fabric.environment.allocations.vpcs
    for router, at in zip(fabric.dpus, fabric.places, strict=True):
        answer = router.ask(f"show bgp vrf {at.vpc} neighbors {HOST_INTERFACE} json")[HOST_INTERFACE]
        most = answer["addressFamilyInfo"]["ipv4Unicast"]["prefixAllowedMax"]
        assert lock[at.vpc].load_balancers.num_addresses < most < lock[at.vpc].load_balancers.num_addresses + 300


def ways(router: Router, prefix: str) -> int:
    """Return the number of paths of the underlay to ``prefix`` that a DPU uses simultaneously."""
    answer = router.ask(f"show bgp ipv4 unicast {prefix} json")
    return sum(bool(path.get("multipath")) for path in answer.get("paths", []))


def test_both_ports_of_a_dpu_are_used_although_their_leaves_have_different_asns(fabric: Fabric) -> None:
    (dpu, *_), (_, *others) = fabric.dpus, fabric.places

    for at in others:
        wait(f"paths to {at.loopback}", partial(ways, dpu, f"{at.loopback}/32"), len(PORTS).__eq__)


def with_default_route(fabric: Fabric) -> set[str]:
    """Return the VPCs with a default route on some DPU."""
    held = [(at.vpc, routes(router, at.vpc)) for router, at in zip(fabric.dpus, fabric.places, strict=True)]
    return {vpc for vpc, found in held if "0.0.0.0/0" in found}


def test_only_vpcs_with_egress_have_a_default_route(fabric: Fabric) -> None:
    settled(fabric)
    wait("VPCs with a default route", partial(with_default_route, fabric), {"ant", "cat"}.__eq__)


def test_a_dpu_without_its_prefix_list_accepts_prefixes_of_others(fabric: Fabric) -> None:
    settled(fabric)
    (dpu, other, *_), at = fabric.dpus, fabric.places[0]
    asn = at.dpu.settings["vrf"][at.vpc]["router"]["bgp"]["autonomous-system"]
    session = (f"router bgp {asn} vrf {at.vpc}", "address-family ipv4 unicast")
    before = routes(other, at.vpc)
    try:
        dpu.configure("route-map open permit 10", "set community none", "set extcommunity none")
        dpu.configure(*session, "neighbor host route-map open in")
        wait(f"routes of {other.name}", partial(routes, other, at.vpc), at.foreign.issubset)
    finally:
        dpu.configure(*session, f"neighbor host route-map {at.vpc} in")
    wait_for_exactly(other, at.vpc, before)


def test_a_dpu_without_its_route_map_lets_a_host_choose_the_vrfs_of_its_routes(fabric: Fabric) -> None:
    settled(fabric)
    dpu, at = fabric.dpus[0], fabric.places[0]
    strangers = [
        (router, place)
        for router, place in zip(fabric.dpus, fabric.places, strict=True)
        if place.vpc not in {at.vpc, *peers(fabric.environment, at.vpc)}
    ]
    before = {router.name: routes(router, place.vpc) for router, place in strangers}
    try:
        dpu.configure(f"route-map {at.vpc} permit 10", "no set extcommunity none")
        for router, place in strangers:
            wait(f"routes of {router.name}", partial(routes, router, place.vpc), at.own.issubset)
    finally:
        dpu.configure(f"route-map {at.vpc} permit 10", "set extcommunity none")
    for router, place in strangers:
        wait_for_exactly(router, place.vpc, before[router.name])
