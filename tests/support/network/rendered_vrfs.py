"""VRFs of rendered configurations of HBN: packet rules, route targets and announced prefixes.

The first matching rule of an access list decides. A rule on connection state matches the first packet of a connection
if it names ``new``, and an answer if it names ``established``. A host announces what its prefix list permits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from ipaddress import IPv4Address, IPv4Network
from typing import Any

import yaml

from components.render.manifest import Manifest
from components.specs.struct import Struct

GATEWAY = "192.0.2.254"
"""Address of every DPU on the link to its host, which no tested connection uses."""
Json = Mapping[str, Any]
_network = cache(IPv4Network)


class Packet(Struct, kw_only=False):
    """Packet of a connection, in one direction."""

    source: IPv4Address
    dest: IPv4Address
    protocol: str = "other"
    source_port: int = 0
    dest_port: int = 0
    answer: bool = False

    def matches(self, match: Json) -> bool:
        """Return whether a packet meets all conditions of ``match`` in an access list."""
        asked = dict(match)
        rest, states = dict(asked.pop("ip")), asked.pop("conntrack", None)
        assert not asked, match
        if states is not None and ("established" if self.answer else "new") not in states:
            return False
        for end, address in (("source", self.source), ("dest", self.dest)):
            if address not in _network(rest.pop(f"{end}-ip", "0.0.0.0/0")):
                return False
        if rest.pop("protocol", self.protocol) != self.protocol:
            return False
        asked = rest.pop(self.protocol, {})
        assert not rest, match
        ports = {"source-port": self.source_port, "dest-port": self.dest_port}
        return all(str(ports[end]) in listed for end, listed in asked.items())


class Vrf(Struct, kw_only=False):
    """VRF of a VPC on DPUs."""

    sent: list[tuple[Json, bool]]
    received: list[tuple[Json, bool]]
    imports: set[str]
    exports: set[str]
    links: Json
    """Name of the DPF pool from which DPUs get the links to their hosts."""
    permitted: list[tuple[IPv4Network, int]]
    """Prefixes that hosts may announce, with the maximum prefix length."""

    def sends(self, packet: Packet) -> bool:
        return next(verdict for match, verdict in self.sent if packet.matches(match))

    def takes(self, packet: Packet) -> bool:
        return next((verdict for match, verdict in self.received if packet.matches(match)), not self.received)

    def originates(self, address: IPv4Address) -> bool:
        """Return whether it originates a route to ``address``: a link, or a prefix that a host announces."""
        excluded = self.links.get("excludeRanges", [])
        out = any(IPv4Address(one["startIP"]) <= address <= IPv4Address(one["endIP"]) for one in excluded)
        link = address in IPv4Network(self.links["network"]) and not out
        return link or any(address in prefix and longest == 32 for prefix, longest in self.permitted)


def vrfs(objects: Iterable[Manifest]) -> Iterator[tuple[str, Vrf]]:
    """Yield the VRF of each VPC on HBN, which must be equal in all DPU clusters."""
    found = list(objects)
    links = {item.name: item.body["spec"]["ipv4Network"] for item in found if item.kind == "DPUServiceIPAM"}
    for item in found:
        if item.kind != "DPUServiceConfiguration" or item.body["spec"]["deploymentServiceName"] != "hbn":
            continue
        spec = item.body["spec"]["serviceConfiguration"]
        text = spec["helmChart"]["values"]["configuration"]["startupYAMLJ2"]
        text = text.replace("{{ ipaddresses.ip_host.ip }}", GATEWAY)
        loaded = yaml.load(re.sub(r"\{\{.*?\}\}", "X", text), Loader=yaml.CSafeLoader)[1]["set"]
        [pool] = re.findall(r'"poolNames": \["([^"]*-hosts)"\]', str(spec["serviceDaemonSet"]["annotations"]))
        yield _vrf(loaded, links[pool])


def _vrf(loaded: Json, links: Json) -> tuple[str, Vrf]:
    [name] = set(loaded["vrf"]) - {"default"}
    bgp, port = loaded["vrf"][name]["router"]["bgp"], loaded["interface"]["pf0hpf_if"]
    assert port["ip"]["vrf"] == name
    family = bgp["peer-group"]["host"]["address-family"]["ipv4-unicast"]
    policies = loaded["router"]["policy"]
    [permitted] = policies["route-map"][family["policy"]["inbound"]["route-map"]]["rule"].values()
    listed = policies["prefix-list"][permitted["match"]["ip-prefix-list"]]["rule"]
    return name, Vrf(
        sent=_rules(loaded, "inbound"),
        received=_rules(loaded, "outbound"),
        imports=set(bgp["route-import"]["from-evpn"]["route-target"]),
        exports=set(bgp["route-export"]["to-evpn"]["route-target"]),
        links=links,
        permitted=[
            (IPv4Network(prefix), lengths.get("max-prefix-len", IPv4Network(prefix).prefixlen))
            for _, rule in _in_order(listed)
            if rule["action"] == "permit"
            for prefix, lengths in rule["match"].items()
        ],
    )


def _rules(loaded: Json, way: str) -> list[tuple[Json, bool]]:
    """Return the rules for packets in that direction through the host's port, in order."""
    bound = [name for name, ways in loaded["interface"]["pf0hpf_if"]["acl"].items() if way in ways]
    return [
        (rule["match"], "permit" in rule["action"])
        for name in bound
        for _, rule in _in_order(loaded["acl"][name]["rule"])
    ]


def _in_order(rules: Json) -> list[tuple[str, Any]]:
    return sorted(rules.items(), key=lambda item: int(item[0]))
