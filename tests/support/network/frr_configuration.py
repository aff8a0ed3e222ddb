"""FRR configuration: of a DPU as HBN generates it from its NVUE document, of the edge router from its contract."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from jinja2 import StrictUndefined, Template

from components.render.manifest import Manifest

Json = Mapping[str, Any]


def documents(objects: Iterable[Manifest]) -> Iterator[tuple[str, str]]:
    """Yield the startup document template of each VPC on HBN."""
    for item in objects:
        if item.kind != "DPUServiceConfiguration":
            continue
        text = item.body["spec"]["serviceConfiguration"]["helmChart"]["values"]["configuration"]["startupYAMLJ2"]
        [name] = set(yaml.safe_load(filled(text, loopback="10.0.0.1", link="10.0.0.1/30"))[1]["set"]["vrf"]) - {
            "default"
        }
        yield name, text


def filled(text: str, *, loopback: str, link: str) -> str:
    """Return a startup document with the values that one DPU has from its pools."""
    addresses = {"ip_lo": {"ip": loopback}, "ip_host": {"cidr": link, "ip": link.partition("/")[0]}}
    return Template(text, undefined=StrictUndefined).render(ipaddresses=addresses)


@dataclass(frozen=True)
class Dpu:
    """Configuration of one DPU."""

    settings: Json
    """Mapping under ``set`` of its NVUE document."""
    vrf: str

    @property
    def vni(self) -> int:
        """Return the VNI of its VRF."""
        [vni] = self.settings["vrf"][self.vrf]["evpn"]["vni"]
        return int(vni)

    def configuration(self) -> str:
        """Return the FRR configuration that NVUE generates; without FRR's own default of required eBGP policies."""
        default, own = (self.settings["vrf"][name]["router"]["bgp"] for name in ("default", self.vrf))
        common = self.settings["router"]["bgp"]
        lines = [
            *self._prefix_lists(),
            *self._route_maps(),
            f"vrf {self.vrf}",
            f" vni {self.vni}",
            "!",
            *_instance(common["autonomous-system"], common["router-id"], ""),
            *_chosen(common, default),
            *_neighbours(default),
            *_families(default, ("advertise-all-vni",)),
            "!",
            *_instance(own["autonomous-system"], own["router-id"], f" vrf {self.vrf}"),
            *_chosen(common, own),
            *_neighbours(own),
            *_families(own, tuple(_exchanged(own))),
            "!",
            *self._snippet(),
        ]
        return "\n".join(lines) + "\n"

    def _snippet(self) -> Iterator[str]:
        """Yield the text that NVUE appends to the configuration unchanged."""
        text = self.settings.get("system", {}).get("config", {}).get("snippet", {}).get("frr.conf", "")
        yield from (*text.splitlines(), "!")

    def _prefix_lists(self) -> Iterator[str]:
        for name, listed in self.settings["router"].get("policy", {}).get("prefix-list", {}).items():
            for number, rule in listed["rule"].items():
                for prefix, lengths in rule["match"].items():
                    longest = f" le {lengths['max-prefix-len']}" if lengths else ""
                    yield f"ip prefix-list {name} seq {number} {rule['action']} {prefix}{longest}"
        yield "!"

    def _route_maps(self) -> Iterator[str]:
        for name, listed in self.settings["router"].get("policy", {}).get("route-map", {}).items():
            for number, rule in listed["rule"].items():
                [action] = rule["action"]
                yield f"route-map {name} {action} {number}"
                match = dict(rule.get("match", {}))
                assert match.pop("type", "ipv4") == "ipv4"
                if "ip-prefix-list" in match:
                    yield f" match ip address prefix-list {match.pop('ip-prefix-list')}"
                assert not match, match
                for attribute, values in rule.get("set", {}).items():
                    assert values == {"none": {}}
                    yield f" set {attribute} none"
        yield "!"


def _chosen(common: Json, bgp: Json) -> Iterator[str]:
    """Yield the lines of an instance for multipath and graceful restart."""
    if common.get("graceful-restart") == {"mode": "full"}:
        yield " bgp graceful-restart"
    if bgp.get("path-selection", {}).get("multipath", {}).get("aspath-ignore") == "on":
        yield " bgp bestpath as-path multipath-relax"


def _instance(asn: int | str, router_id: str, vrf: str) -> tuple[str, ...]:
    return (f"router bgp {asn}{vrf}", f" bgp router-id {router_id}", " no bgp ebgp-requires-policy")


def _neighbours(bgp: Json) -> Iterator[str]:
    for group, settings in bgp["peer-group"].items():
        yield f" neighbor {group} peer-group"
        yield f" neighbor {group} remote-as {settings['remote-as']}"
    for port, settings in bgp["neighbor"].items():
        assert settings["type"] == "unnumbered"
        yield f" neighbor {port} interface peer-group {settings['peer-group']}"


def _families(bgp: Json, evpn: tuple[str, ...]) -> Iterator[str]:
    yield " address-family ipv4 unicast"
    for source, way in bgp["address-family"]["ipv4-unicast"].get("redistribute", {}).items():
        assert way == {"enable": "on"}
        yield f"  redistribute {source}"
    for kind, number in bgp["address-family"]["ipv4-unicast"].get("multipaths", {}).items():
        assert kind == "ebgp"
        yield f"  maximum-paths {number}"
    for group, settings in bgp["peer-group"].items():
        family = settings["address-family"].get("ipv4-unicast", {})
        for direction, policy in family.get("policy", {}).items():
            for kind, name in policy.items():
                yield f"  neighbor {group} {kind} {name} {'in' if direction == 'inbound' else 'out'}"
        if limits := family.get("prefix-limits", {}).get("inbound"):
            restart = f" restart {limits['reestablish-wait']}"
            yield f"  neighbor {group} maximum-prefix {limits['maximum']}{restart}"
        # For tests only: FRR keeps received routes in addition to accepted ones.
        yield f"  neighbor {group} soft-reconfiguration inbound"
    yield " exit-address-family"
    yield " address-family l2vpn evpn"
    for group, settings in bgp["peer-group"].items():
        if settings["address-family"].get("l2vpn-evpn"):
            yield f"  neighbor {group} activate"
    yield from (f"  {line}" for line in evpn)
    yield " exit-address-family"


def _exchanged(own: Json) -> Iterator[str]:
    if own["address-family"]["ipv4-unicast"]["route-export"]["to-evpn"] == {"enable": "on"}:
        yield "advertise ipv4 unicast"
    yield from (f"route-target import {target}" for target in own["route-import"]["from-evpn"]["route-target"])
    yield from (f"route-target export {target}" for target in own["route-export"]["to-evpn"]["route-target"])


@dataclass(frozen=True)
class BorderVrf:
    """A VRF of the edge router: route target of its announcements, and route targets that it imports."""

    name: str
    vni: int
    export: str
    prefixes: tuple[str, ...]
    imports: tuple[str, ...]


def border_vrfs(contract: Json) -> tuple[BorderVrf, ...]:
    """Return the VRFs of an edge router by its contract: one for each export route target."""
    named: dict[str, list[tuple[Json, str]]] = {}
    for vpc in contract["vpcs"]:
        for route in vpc["announces"]:
            named.setdefault(route["route_target"], []).append((vpc, route["prefix"]))
    return tuple(
        BorderVrf(
            name=f"border{number}",
            vni=served[0][0]["vni"] if served[0][0]["own_vrf"] else number,
            export=target,
            prefixes=tuple(sorted({prefix for _, prefix in served})),
            imports=tuple(sorted({vpc["imports"] for vpc, _ in served})),
        )
        for number, (target, served) in enumerate(sorted(named.items()), start=1)
    )


def border_configuration(asn: int, loopback: str, vrfs: Iterable[BorderVrf], uplinks: Iterable[str]) -> str:
    """Return the edge router's configuration: its VRFs announce the prefixes of the contract, existing or not."""
    lines = [
        *_instance(asn, loopback, ""),
        *_uplink(tuple(uplinks)),
        "  advertise-all-vni",
        " exit-address-family",
        "!",
    ]
    for vrf in vrfs:
        lines += [f"vrf {vrf.name}", f" vni {vrf.vni}", "!", *_instance(asn, loopback, f" vrf {vrf.name}")]
        lines += [" no bgp network import-check", " address-family ipv4 unicast"]
        lines += [f"  network {prefix}" for prefix in vrf.prefixes]
        lines += [" exit-address-family", " address-family l2vpn evpn", "  advertise ipv4 unicast"]
        lines += [f"  route-target import {target}" for target in vrf.imports]
        lines += [f"  route-target export {vrf.export}", " exit-address-family", "!"]
    return "\n".join(lines) + "\n"


def leaf_configuration(asn: int, loopback: str, ports: Iterable[str]) -> str:
    """Return the configuration of a leaf switch, which forwards routes of the underlay and of EVPN."""
    return "\n".join([*_instance(asn, loopback, ""), *_uplink(tuple(ports)), " exit-address-family", "!"]) + "\n"


def _uplink(ports: tuple[str, ...]) -> Iterator[str]:
    for port in ports:
        yield f" neighbor {port} interface remote-as external"
    yield from (" address-family ipv4 unicast", "  redistribute connected", " exit-address-family")
    yield " address-family l2vpn evpn"
    yield from (f"  neighbor {port} activate" for port in ports)


def host_configuration(
    asn: int, loopback: str, port: str, announced: Iterable[str], attributes: Iterable[str] = ()
) -> str:
    """Return the configuration of a host that announces arbitrary prefixes with arbitrary ``attributes``."""
    lines = ["route-map all permit 10", *(f" set {attribute}" for attribute in attributes), "!"]
    lines += [
        *_instance(asn, loopback, ""),
        " no bgp network import-check",
        f" neighbor {port} interface remote-as external",
    ]
    lines += [
        " address-family ipv4 unicast",
        f"  neighbor {port} route-map all out",
        *(f"  network {prefix}" for prefix in announced),
        " exit-address-family",
        "!",
    ]
    return "\n".join(lines) + "\n"
