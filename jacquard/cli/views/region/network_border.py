"""Contract of the border routers as text, for the operators of these routers."""

from collections.abc import Iterator, Mapping, Sequence

from rich.text import Text

from components.reports.network.border import Accepted, BorderContract, BorderVpc, OvnRouter
from components.reports.network.fabric_switches import FabricSwitches
from components.reports.network.leaf_sessions import LeafSessions
from components.specs.reading.problems import listed
from jacquard.cli.console import plural


def lines(contract: BorderContract) -> Iterator[Text]:
    """Yield the contract: common settings first, then a paragraph per VPC."""
    under = contract.underlay
    yield Text(f"{contract.environment}: border router contract for {plural(len(contract.vpcs), 'VPC')}", "bold")
    yield Text(
        f"  underlay    eBGP on unnumbered links, IPv4 and EVPN; DPUs have ASN {under.dpu_asns} and VTEPs in"
        f" {', '.join(map(str, under.vteps))}"
    )
    yield Text(f"  MTU         {under.uplink_mtu_bytes} on all links, {under.mtu_bytes} into VPCs")
    yield Text("  drops       packets from a VPC to")
    for dropped in contract.drops:
        yield Text(f"              {dropped.prefix}   {dropped.why}")
    yield Text("  sources     packets from a VPC must be dropped if their source address has no imported route")
    if contract.control_planes:
        peers = ", ".join(f"{peer.address} (ASN {peer.asn})" for peer in contract.control_planes.routers)
        yield Text(
            f"  accepts     a /32 per control plane from ASN {contract.control_planes.asn}, on sessions with {peers}"
        )
    for vpc in contract.vpcs:
        yield Text()
        yield from _vpc(vpc)
    if contract.without_evpn:
        yield Text()
        names = ", ".join(f"{name} ({isolation})" for name, isolation in contract.without_evpn.items())
        yield Text(f"no VRF and no routes for: {names}")
    if contract.ovn:
        yield Text()
        yield from _ovn_router(contract.ovn)
    if contract.leaf_sessions:
        yield Text()
        yield from _leaves(contract.leaf_sessions)
    for fabric in contract.fabrics:
        yield Text()
        yield from _fabric(fabric)


def _leaves(clusters: Sequence[LeafSessions]) -> Iterator[Text]:
    yield Text("leaf switches", "bold").append(
        "   eBGP on unnumbered links with each host; the switches announce no routes and reject all except", "not bold"
    )
    for cluster in clusters:
        networks = ", ".join(map(str, cluster.accepts))
        yield Text(f"  {cluster.tenant}/{cluster.cluster}   ASN {cluster.asn}, /32 routes in {networks}")
        hosts = ", ".join(cluster.hosts) or "no hosts"
        yield Text(f"              at most {plural(cluster.most_routes, 'route')} from each of {hosts}")


def _ovn_router(router: OvnRouter) -> Iterator[Text]:
    yield Text(f"router {router.address}", "bold").append(f"   for VPCs on OVN: {listed(router.vpcs)}", "not bold")
    yield Text(f"  sources     {router.network}, addresses of DPUs, which OVN uses for packets of these VPCs")
    yield Text("  permits     packets from a VPC to")
    for permitted in router.permits:
        yield Text(f"              {permitted.prefix}   {permitted.why}")
    yield Text("  drops       other packets from a VPC to")
    for dropped in router.drops:
        yield Text(f"              {dropped.prefix}   {dropped.why}")


def _fabric(switches: FabricSwitches) -> Iterator[Text]:
    roce, halls = switches.roce, listed(switches.halls)
    yield Text(f"{switches.fabric}", "bold").append(f"   switch configuration in halls {halls}", "not bold")
    yield Text(f"  MTU         {roce.mtu_bytes} on host ports; on links plus the VXLAN overhead")
    yield Text(
        f"  RDMA        DSCP {roce.dscp}, trusted; priority {roce.priority} is lossless (PFC), with ECN marking in its"
        " queue"
    )
    yield Text(f"  congestion  DSCP {roce.cnp_dscp} has strict priority and is never paused")
    for vrf in switches.vrfs:
        yield Text(f"  VRF         {vrf.tenant}/{vrf.vpc}, L3VNI {vrf.vni}, no routes to other VRFs")
        yield Text(f"              {_ports(vrf.hosts)}")
        for rail in vrf.rails:
            on = f"port {rail.rail} of each host of {rail.cluster}"
            yield Text(f"              {rail.subnet} with gateway {rail.gateway}, on {on}")
    yield Text(f"  no VRF      {_ports(switches.unused)}")


def _ports(hosts: Mapping[str, int]) -> str:
    """Return the number of host ports and the names of all hosts, because operators configure each port."""
    if not hosts:
        return "no host ports"
    return f"{plural(sum(hosts.values()), 'port')} of {', '.join(hosts)}"


def _vpc(vpc: BorderVpc) -> Iterator[Text]:
    vrf = f"own VRF, L3VNI {vpc.vni}" if vpc.own_vrf else f"in the VRFs of the border routers, VNI {vpc.vni}"
    yield Text(f"{vpc.tenant}/{vpc.vpc}", "bold").append(f"   {vrf}", "not bold")
    yield Text(f"  imports     {vpc.imports}")
    for accepted in vpc.accepts:
        yield Text(f"              {_accepted(accepted)}")
    for target in dict.fromkeys(route.route_target for route in vpc.announces):
        yield Text(f"  exports     {target}")
        for route in vpc.announces:
            if route.route_target == target:
                yield Text(f"              {route.prefix}   {route.why}")
    if vpc.peers:
        named = ", ".join(f"{name} ({target})" for name, target in vpc.peers.items())
        yield Text(f"  peers       {named}: between DPUs over the VNI of the peer, bypassing the border routers")
    if vpc.translates:
        yield Text("  translates  source addresses of internet traffic to public addresses (source NAT)")


def _accepted(route: Accepted) -> str:
    lengths = f" to /{route.longest}" if route.longest > route.prefix.prefixlen else ""
    return f"{route.prefix}{lengths}   {route.why}{', announced to the internet' if route.outside else ''}"
