"""Reachability derived from rendered objects and the contract of the edge router only, with upstream's semantics.

- *HBN* (NVUE, FRR): the first matching rule of an access list decides. A port has a list for packets from its host, and
  optionally one for packets to it. A rule on connection state matches the first packet of a connection if it names
  ``new``, and an answer if it names ``established``. A VRF has the routes whose route targets it imports; the longest
  prefix wins. A host announces what its prefix list permits.
- *Kube-OVN*: a rule of a subnet drops new connections of pods that match all its terms; each term covers packets of its
  address family only. With ``natOutgoing``, pods leave with the address of their node, so that external peers have no
  route to the pods.
- *OVN on DPUs*: a network that is not externally routed has no external connectivity; an externally routed one uses
  masquerading.
- *NetworkPolicies*: `network_policies`.

The contract is read as data, as a network team would implement it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from ipaddress import IPv4Address, IPv4Network, IPv6Address, ip_network

from components.render.manifest import Manifest
from components.specs.struct import Struct, replace
from tests.support.network.network_policies import Pod, PolicyModel
from tests.support.network.rendered_vrfs import Json, Packet, vrfs

OUTSIDE = IPv4Address("8.8.8.8")
EPHEMERAL = 50_000
"""Source port of connections, which no rule names."""
_TERM = re.compile(r"ip([46])\.dst (==|!=) \{([^}]*)\}")
_PROTOCOL = re.compile(r"ip\.proto != ([0-9]+)")
_PORT = re.compile(r"(tcp|udp)\.dst != ([0-9]+)")
_NUMBERS = {"tcp": 6, "udp": 17, "icmp": 1}


class End(Struct):
    """One end of a connection: its address, its VPC if any, and whether it is on the host network."""

    address: IPv4Address
    vpc: str | None = None
    on_host: bool = False
    sends_as: IPv4Address | None = None
    """Source address of its packets, if it differs."""
    cluster: str | None = None
    """Cluster of the pods if a VPC has several; None for the first one."""


class RenderedNetwork:
    """The rendered network of a region.

    Args:
        objects: Objects of all VPCs.
        contract: Contract of the edge router, as JSON.
        vpc_of: VPC by cluster.
    """

    def __init__(self, objects: Iterable[Manifest], contract: Json, vpc_of: Mapping[str, str]) -> None:
        found = list(objects)
        self.vrfs = dict(vrfs(found))
        self._ovn = {
            item.body["spec"]["vpcName"]: item.body["spec"]["externallyRouted"]
            for item in found
            if item.kind == "DPUVirtualNetwork"
        }
        self._subnets = {item.body["spec"]["vpc"]: item.body["spec"] for item in found if item.kind == "Subnet"}
        self._policies = defaultdict[str, dict[str, PolicyModel]](dict)
        for item in found:
            if item.kind == "NetworkPolicy":
                self._policies[vpc_of[item.cluster]][item.cluster] = PolicyModel([item.body], pods_by_address=False)
        self._border = {one["vpc"]: one for one in contract["vpcs"]}
        self._drops = [IPv4Network(one["prefix"]) for one in contract["drops"]]
        router = contract["ovn"] or {"permits": [], "drops": []}
        self._ovn_rules = [
            (IPv4Network(one["prefix"]), passes)
            for passes, rules in ((True, router["permits"]), (False, router["drops"]))
            for one in rules
        ]

    def reaches(self, source: End, target: End, port: tuple[str, int] = ("other", 1)) -> bool:
        """Return whether a connection from ``source`` to ``port`` of ``target`` opens, including the answers."""
        source = replace(source, address=source.sends_as or source.address)
        seen, (protocol, number) = self._translated(source, target), port
        there = Packet(seen.address, target.address, protocol, EPHEMERAL, number)
        back = Packet(target.address, seen.address, protocol, number, EPHEMERAL, answer=True)
        return (
            self._goes(source, target, replace(there, source=source.address), answer=False)
            and self._taken(target, there)
            and self._goes(target, seen, back, answer=True)
            and self._taken(source, replace(back, dest=source.address))
        )

    def _taken(self, target: End, packet: Packet) -> bool:
        """Return whether the filters of ``target`` accept ``packet``, after address translation."""
        return target.vpc not in self.vrfs or self.vrfs[target.vpc].takes(packet)

    def _goes(self, source: End, target: End, packet: Packet, *, answer: bool) -> bool:
        if not self._sent(source, target, packet, answer=answer):
            return False
        if source.vpc and source.vpc == target.vpc:
            # The default route covers public addresses that hosts may not announce, but there is no route back to them.
            return source.vpc not in self.vrfs or self._route(source.vpc, target.address) == source.vpc
        if source.vpc in self.vrfs and target.vpc and self._route(source.vpc, target.address) == target.vpc:
            return True  # Both have a common route target, so no edge router is in between.
        if not self._carried(source, target):
            return False
        seen = self._translated(source, target)
        return not target.vpc or self._received(seen, target, answer=answer)

    def _sent(self, source: End, target: End, packet: Packet, *, answer: bool) -> bool:
        """Return whether the filters of ``source`` permit its packet."""
        if source.vpc in self.vrfs:
            return self.vrfs[source.vpc].sends(packet)
        asked = packet.protocol, packet.dest_port
        return answer or source.on_host or source.vpc is None or self.lets_out(source, target.address, asked)

    def lets_out(self, pod: End, address: IPv4Address | IPv6Address, asked: tuple[str, int] = ("other", 1)) -> bool:
        """Return whether pod filters permit ``pod`` to open a connection to a protocol and port of ``address``."""
        if pod.vpc in self._subnets:
            return not any(_matches(acl["match"], address, asked) for acl in self._subnets[pod.vpc]["acls"])
        if pod.vpc in self._policies:
            protocol, port = asked
            return self._policy(pod).reaches(Pod(namespace="default"), address, port, protocol.upper())
        return True

    def _policy(self, end: End) -> PolicyModel:
        """Return the policies of the cluster of ``end``."""
        policies = self._policies[end.vpc or ""]
        return policies[end.cluster or next(iter(policies))]

    def _carried(self, source: End, target: End) -> bool:
        """Return whether a packet outside VPCs reaches the network of the other end."""
        if source.vpc in self.vrfs:
            return self._route(source.vpc, target.address) == "border" and not self._dropped(target.address)
        if source.vpc in self._ovn:
            passes = next((passes for prefix, passes in self._ovn_rules if target.address in prefix), True)
            return bool(self._ovn[source.vpc]) and passes
        tenant = source.vpc is not None and self._translated(source, target) is source
        return not (tenant and target.vpc in self.vrfs and self._dropped(target.address))

    def _received(self, source: End, target: End, *, answer: bool) -> bool:
        """Return whether a packet from outside reaches the VPC of ``target``."""
        assert target.vpc
        if target.vpc in self.vrfs:
            return self._into_vrf(source, target.vpc, target.address)
        if answer or (target.on_host and target.vpc not in self._ovn):
            return True
        if target.vpc in self._policies:
            return self._policy(target).reaches(source.address, Pod(namespace="default"), 443)
        return not self._subnets[target.vpc]["natOutgoing"] if target.vpc in self._subnets else False

    def _into_vrf(self, source: End, vpc: str, address: IPv4Address) -> bool:
        contract, vrf = self._border[vpc], self.vrfs[vpc]
        if contract["imports"] not in vrf.exports or not vrf.originates(address):
            return False
        taken = [one for one in contract["accepts"] if address in IPv4Network(one["prefix"])]
        return any(one["outside"] or not source.address.is_global for one in taken)

    def _route(self, vpc: str, address: IPv4Address) -> str | None:
        """Return the target of the longest matching route of a VRF: a VPC, the edge router, or none."""
        vrf, found = self.vrfs[vpc], list[tuple[int, str]]()
        for name, other in self.vrfs.items():
            if other.exports & vrf.imports and other.originates(address):
                found.append((32, name))
        for one in self._border[vpc]["announces"]:
            prefix = IPv4Network(one["prefix"])
            if one["route_target"] in vrf.imports and address in prefix:
                found.append((prefix.prefixlen, "border"))
        return max(found)[1] if found else None

    def _translated(self, source: End, target: End) -> End:
        """Return the source that ``target`` sees, which differs from ``source`` after NAT by a router or node."""
        if source.vpc is None or source.vpc == target.vpc:
            return source
        masked = source.vpc in self._ovn or (source.vpc in self._subnets and not source.on_host)
        if source.vpc in self.vrfs and self._border[source.vpc]["translates"]:
            served = [one for one in self._border[source.vpc]["announces"] if not one["prefix"].endswith("/0")]
            inside = any(target.address in IPv4Network(one["prefix"]) for one in served)
            masked = not inside and not self._dropped(target.address)
            masked = masked and self._route(source.vpc, target.address) in {"border", None}
        return End(address=OUTSIDE) if masked else source

    def _dropped(self, address: IPv4Address) -> bool:
        return any(address in prefix for prefix in self._drops)


def _matches(match: str, address: IPv4Address | IPv6Address, asked: tuple[str, int]) -> bool:
    """Return whether all terms of an OVN match hold; terms of an unknown form do not match."""
    return all(_holds(term, address, *asked) for term in match.split(" && "))


def _holds(term: str, address: IPv4Address | IPv6Address, protocol: str, port: int) -> bool:
    if found := _TERM.fullmatch(term):
        within = any(address in ip_network(one) for one in found[3].split(", "))
        return int(found[1]) == address.version and within == (found[2] == "==")
    if found := _PROTOCOL.fullmatch(term):
        return _NUMBERS.get(protocol) != int(found[1])
    found = _PORT.fullmatch(term)
    assert found, term
    return protocol == found[1] and port != int(found[2])
