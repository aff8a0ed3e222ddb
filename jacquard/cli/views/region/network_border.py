"""What the border does for VPCs, as text for those who configure its routers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.text import Text

from components.reports.network.border import Accepted, BorderContract, BorderVpc
from components.reports.network.fabric_switches import FabricSwitches
from components.specs.reading.problems import listed
from jacquard.cli.console import plural


def lines(found: BorderContract) -> Iterator[Text]:
    """Yield the contract: what all share first, then a paragraph a VPC."""
    under = found.underlay
    yield Text(f"{found.environment}: what the border does for {plural(len(found.vpcs), 'VPC')}", "bold")
    yield Text(
        f"  underlay    eBGP on unnumbered links, IPv4 and EVPN; DPUs have ASN {under.dpu_asns} and VTEPs in"
        f" {', '.join(map(str, under.vteps))}"
    )
    yield Text(f"  MTU         {under.uplink_mtu_bytes} on all links, {under.mtu_bytes} into VPCs")
    yield Text("  drops       what comes from a VPC and is for")
    for one in found.drops:
        yield Text(f"              {one.prefix}   {one.why}")
    yield Text("  senders     what comes from a VPC with a sender that no imported route leads to is dropped, too")
    if found.control_planes:
        peers = ", ".join(f"{peer.address} (ASN {peer.asn})" for peer in found.control_planes.routers)
        yield Text(f"  takes       a /32 a control plane from ASN {found.control_planes.asn}, by sessions with {peers}")
    for vpc in found.vpcs:
        yield Text()
        yield from _vpc(vpc)
    if found.without_evpn:
        yield Text()
        names = ", ".join(f"{name} ({isolation})" for name, isolation in found.without_evpn.items())
        yield Text(f"no VRF and no route of: {names}")
    for fabric in found.fabrics:
        yield Text()
        yield from _fabric(fabric)


def _fabric(found: FabricSwitches) -> Iterator[Text]:
    roce, halls = found.roce, listed(found.halls)
    yield Text(f"{found.fabric}", "bold").append(f"   what its switches do in halls {halls}", "not bold")
    yield Text(f"  MTU         {roce.mtu_bytes} on ports of hosts, and on links what VXLAN adds to it")
    yield Text(
        f"  RDMA        DSCP {roce.dscp}, trusted; priority {roce.priority} is lossless (PFC), and packets in its queue"
        " are marked (ECN)"
    )
    yield Text(f"  congestion  DSCP {roce.cnp_dscp} goes before all else and is never paused")
    for vrf in found.vrfs:
        yield Text(f"  VRF         {vrf.tenant}/{vrf.vpc}, L3VNI {vrf.vni}, no route to another")
        yield Text(f"              {_ports(vrf.hosts)}")
        for rail in vrf.rails:
            on = f"port {rail.rail} of each host of {rail.cluster}"
            yield Text(f"              {rail.subnet} with gateway {rail.gateway}, on {on}")
    yield Text(f"  no VRF      {_ports(found.unused)}")


def _ports(hosts: Mapping[str, int]) -> str:
    """Return the ports of hosts, all of them by name: somebody configures each."""
    if not hosts:
        return "no port of a host"
    return f"{plural(sum(hosts.values()), 'port')} of {', '.join(hosts)}"


def _vpc(vpc: BorderVpc) -> Iterator[Text]:
    where = f"VRF of its own, L3VNI {vpc.vni}" if vpc.own_vrf else f"in the VRFs of the border, its VNI {vpc.vni}"
    yield Text(f"{vpc.tenant}/{vpc.vpc}", "bold").append(f"   {where}", "not bold")
    yield Text(f"  imports     {vpc.imports}")
    for accepted in vpc.accepts:
        yield Text(f"              {_accepted(accepted)}")
    for target in dict.fromkeys(one.route_target for one in vpc.announces):
        yield Text(f"  exports     {target}")
        for one in vpc.announces:
            if one.route_target == target:
                yield Text(f"              {one.prefix}   {one.why}")
    if vpc.peers:
        named = ", ".join(f"{name} ({target})" for name, target in vpc.peers.items())
        yield Text(f"  peers       {named}: from DPU to DPU by the VNI of the other, past the border")
    if vpc.translates:
        yield Text("  translates  what goes to the internet to public addresses")


def _accepted(one: Accepted) -> str:
    lengths = f" to /{one.longest}" if one.longest > one.prefix.prefixlen else ""
    return f"{one.prefix}{lengths}   {one.why}{', announced to the internet' if one.outside else ''}"
