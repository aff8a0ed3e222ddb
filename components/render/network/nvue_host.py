"""Boundary between a DPU and its host in NVUE: the routes that the host may announce, and the packets that may pass."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from components.render.network.packets import Ports, Rule
from components.specs.base import Network
from components.specs.network.security_groups import Protocol
from components.specs.struct import Struct, replace

_SENT, _RECEIVED = "inbound", "outbound"
"""Directions, from the DPU's perspective, of packets that the host sends and receives."""
_GATEWAY = "{{ ipaddresses.ip_host.ip }}/32"
"""Template expression for the DPU's address on the link to its host."""
_BGP_PORT = 179
_TRACKED = (Protocol.TCP, Protocol.UDP, Protocol.ICMP)
"""Protocols whose connections HBN tracks."""
_ROUTE_RULE = 10
"""Number of the only rule of the route map."""
_REESTABLISH_SECONDS = 60
"""Time until the DPU accepts a session again that it closed because of too many routes. FRR otherwise keeps the session
closed until an operator clears it."""


class Vrf(Struct):
    """Representation of a VPC on DPUs: one VRF, one VNI, one route target."""

    name: str
    vni: int
    asn: int
    target: int
    """Number that forms the VRF's route target together with the ASN."""
    host_pool: str
    verdicts: tuple[Rule, ...]
    """Packet filter rules in order. The first matching rule applies."""
    filters_received: bool
    """Whether the rules also apply to packets that hosts receive, in addition to packets that hosts send."""
    tracks: bool
    """Whether HBN tracks connections, so that rules of security groups permit replies only."""
    announced: tuple[Network, ...]
    """Prefixes that contain all routes that hosts may announce."""
    most_routes: int
    """Maximum number of routes from one host."""
    imported: tuple[str, ...]
    """Imported route targets in addition to the VRF's route target, in EVPN notation."""

    @property
    def route_target(self) -> str:
        """Return the route target in EVPN notation, ``<asn>:<number>``."""
        return f"{self.asn}:{self.target}"


def routing_policy(vrf: Vrf) -> dict[str, Any]:
    """Return the policy for routes of hosts: only prefixes of the VPC, without any community.

    FRR exports a route to EVPN with its extended communities (bgpd/bgp_evpn.c, build_evpn_type5_route_extcomm). A host
    could otherwise place its routes in the VRF of any VPC by that VRF's route target.
    """
    permitted = {
        "match": {"type": "ipv4", "ip-prefix-list": vrf.name},
        "set": {"community": {"none": {}}, "large-community": {"none": {}}},
        "action": {"permit": {}},
    }
    return {
        "prefix-list": {vrf.name: {"rule": _routes(vrf.announced)}},
        "route-map": {vrf.name: {"rule": {str(_ROUTE_RULE): permitted}}},
    }


def frr_snippet(vrf: Vrf) -> str:
    """Return the part of the route map that NVUE has no key for, in FRR's syntax.

    NVUE appends it to FRR's configuration (CumulusNetworks/docs, NVUE-Snippets.md). FRR merges both parts, because
    they have the same name and number.
    """
    return f"route-map {vrf.name} permit {_ROUTE_RULE}\n set extcommunity none\n"


def accepted_routes(vrf: Vrf) -> dict[str, Any]:
    """Return the settings of the BGP session with the host for IPv4 routes."""
    limit = {"maximum": vrf.most_routes, "reestablish-wait": _REESTABLISH_SECONDS}
    return {"policy": {"inbound": {"route-map": vrf.name}}, "prefix-limits": {"inbound": limit}}


def _routes(announced: tuple[Network, ...]) -> dict[str, Any]:
    """Return the rules that permit routes inside ``announced``. A prefix list denies all other routes."""
    return {
        str(10 * number): {"match": {str(prefix): _and_inside(prefix)}, "action": "permit"}
        for number, prefix in enumerate(announced, start=1)
    }


def _and_inside(prefix: Network) -> dict[str, int]:
    """Return the option to match routes inside ``prefix``. FRR requires a maximum length above the prefix length."""
    return {"max-prefix-len": prefix.max_prefixlen} if prefix.prefixlen < prefix.max_prefixlen else {}


def access_lists(vrf: Vrf) -> dict[str, Any]:
    """Return the access lists of the host's port, by name."""
    return {
        name: {
            "type": "ipv4",
            "rule": {str(10 * number): rule for number, rule in enumerate(_rules(vrf, way), start=1)},
        }
        for name, way in directions(vrf).items()
    }


def directions(vrf: Vrf) -> dict[str, str]:
    """Return the direction of each access list of the host's port, by name."""
    return {vrf.name: _SENT, **({f"{vrf.name}-received": _RECEIVED} if vrf.filters_received else {})}


def _rules(vrf: Vrf, way: str) -> Iterator[dict[str, Any]]:
    if way == _SENT:
        yield from _to_gateway()
    for rule in _by_protocol(vrf.verdicts) if vrf.tracks else vrf.verdicts:
        states = _states(rule, way) if vrf.tracks else {}
        yield {"match": {"ip": _match(rule, way), **states}, "action": {"permit" if rule.permits else "deny": {}}}


def _to_gateway() -> Iterator[dict[str, Any]]:
    """Yield the rules for packets to the DPU itself: BGP and ICMP, but no other service such as HBN's REST API."""
    bgp = {"protocol": "tcp", "tcp": {"dest-port": {str(_BGP_PORT): {}}}}
    for packets, action in ((bgp, "permit"), ({"protocol": "icmp"}, "permit"), ({}, "deny")):
        yield {"match": {"ip": {"dest-ip": _GATEWAY, **packets}}, "action": {action: {}}}


def _by_protocol(verdicts: Iterable[Rule]) -> Iterator[Rule]:
    """Yield ``verdicts`` with a rule per tracked protocol for rules of security groups for any protocol.

    Such a rule permits all other protocols without tracking, in both directions. The permit rule for these protocols
    follows all rules of the group for the same peers or the internet. After these rules, the list permits no tracked
    protocol for their networks.
    """
    for grouped, rules in groupby(verdicts, key=lambda rule: rule.inward is not None):
        untracked = dict[Network, None]()
        for rule in rules:
            if not grouped or rule.ports.protocol is not None:
                yield rule
                continue
            yield from (replace(rule, ports=Ports(protocol=protocol)) for protocol in _TRACKED)
            untracked[rule.network] = None
        for network in untracked:
            for protocol in _TRACKED:
                yield Rule(network=network, permits=False, ports=Ports(protocol=protocol))
        for network in untracked:
            yield Rule(network=network, permits=True)


def _states(rule: Rule, way: str) -> dict[str, Any]:
    """Return the connection states that ``rule`` matches in direction ``way``; none if it does not track connections.

    Both states are required for packets that may open a connection (NICO:crates/agent/templates/nvue_startup_fnn.conf).
    """
    if rule.inward is None:
        return {}
    opens = rule.inward is (way == _RECEIVED)
    return {"conntrack": {**({"new": {}} if opens else {}), "established": {}}}


def _match(rule: Rule, way: str) -> dict[str, Any]:
    far, near = ("dest", "source") if way == _SENT else ("source", "dest")
    ports = {f"{near}-port": rule.ports.near, f"{far}-port": rule.ports.far}
    named: dict[str, Any] = {key: {str(port): {}} for key, port in ports.items() if port is not None}
    protocol = {} if rule.ports.protocol is None else {"protocol": str(rule.ports.protocol)}
    return {f"{far}-ip": str(rule.network), **protocol, **({str(rule.ports.protocol): named} if named else {})}
