"""Configuration of host-based networking (HBN) on a DPU: NVUE documents, built from typed input and rendered as text.

The startup configuration of HBN is a Jinja template of YAML. Addresses that each DPU gets from a pool are template
expressions. All other values are rendered by this module.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from components.render.network.packets import Rule
from components.specs.base import Network
from components.specs.ranges import NumberRange

LOOPBACK_POOL = "loopback"
UPLINKS = ("p0_if", "p1_if")
HOST_INTERFACE = "pf0hpf_if"
"""Name of the DPU's side of the host's physical function."""
_LOOPBACK = "{{ ipaddresses.ip_lo.ip }}"
_SENT, _RECEIVED = "inbound", "outbound"
"""Directions, from the DPU's perspective, of packets that the host sends and receives."""
_ON = {"enable": "on"}
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./,-]*")
_WORDS = {"on", "off", "yes", "no", "true", "false", "null", "y", "n"}
_EXPRESSION = re.compile(r"\{\{ [^{}]* \}\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fabric:
    """Settings common to all DPUs of a region."""

    loopbacks: Network
    asns: NumberRange
    mtu_bytes: int
    """MTU of hosts."""
    uplink_mtu_bytes: int
    """MTU between DPUs and leaf switches, large enough for encapsulated packets of hosts."""
    release: str
    """Version of HBN."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vrf:
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
    announced: tuple[Network, ...]
    """Prefixes that contain all routes that hosts may announce."""
    imported: tuple[str, ...]
    """Imported route targets in addition to the VRF's route target, in EVPN notation."""

    @property
    def route_target(self) -> str:
        """Return the route target in EVPN notation, ``<asn>:<number>``."""
        return f"{self.asn}:{self.target}"


def startup(fabric: Fabric, vrf: Vrf | None) -> str:
    """Return the startup configuration: the underlay, and ``vrf`` if the DPU's host belongs to a VPC."""
    header = {"model": "BLUEFIELD", "nvue-api-version": "nvue_v1", "rev-id": 1.0, "version": f"HBN {fabric.release}"}
    settings = _underlay(fabric)
    if vrf is not None:
        settings["interface"][HOST_INTERFACE] = _host_interface(fabric, vrf)
        settings["acl"] = {acl: {"type": "ipv4", "rule": _rules(vrf, way)} for acl, way in _filters(vrf).items()}
        settings["vrf"][vrf.name] = _tenant(fabric, vrf)
        settings["router"]["policy"] = {"prefix-list": {vrf.name: {"rule": _routes(vrf.announced)}}}
    return f"- header:\n{yaml_block(header, 4)}- set:\n{yaml_block(settings, 4)}"


def _underlay(fabric: Fabric) -> dict[str, Any]:
    peers = {port: {"peer-group": "underlay", "type": "unnumbered"} for port in UPLINKS}
    return {
        "evpn": _ON,
        "interface": {
            "lo": {"type": "loopback", "ip": {"address": {f"{_LOOPBACK}/32": {}}}},
            ",".join(UPLINKS): {"type": "swp", "link": {"mtu": fabric.uplink_mtu_bytes}},
        },
        "nve": {"vxlan": {**_ON, "source": {"address": _LOOPBACK}}},
        "router": {"bgp": {**_ON, "autonomous-system": _own_asn(fabric), "router-id": _LOOPBACK}},
        "vrf": {
            "default": {
                "router": {
                    "bgp": {
                        **_ON,
                        "address-family": {
                            "ipv4-unicast": {**_ON, "redistribute": {"connected": _ON}},
                            "l2vpn-evpn": _ON,
                        },
                        "neighbor": peers,
                        "peer-group": {"underlay": {"remote-as": "external", "address-family": {"l2vpn-evpn": _ON}}},
                    }
                }
            }
        },
    }


def dpu_asns(asns: NumberRange, loopbacks: Network) -> NumberRange:
    """Return the ASNs of DPUs: the last numbers of ``asns``, one for each address of ``loopbacks``."""
    return NumberRange(first=asns.last - loopbacks.num_addresses + 1, last=asns.last)


def _own_asn(fabric: Fabric) -> str:
    """Return the template expression of a DPU's ASN: the last ASN of the range minus the index of the DPU's loopback.

    VPCs use ASNs from the start of the range. Both ASNs must differ, because hosts of a VPC peer with the DPU.
    """
    base = fabric.asns.last + (int(fabric.loopbacks.network_address) & 0xFFFFFF)
    octets = 'ipaddresses.ip_lo.ip.split(".")'
    return f"{{{{ {base} - ({octets}[1]|int)*65536 - ({octets}[2]|int)*256 - ({octets}[3]|int) }}}}"


def _host_interface(fabric: Fabric, vrf: Vrf) -> dict[str, Any]:
    return {
        "type": "swp",
        "link": {"mtu": fabric.mtu_bytes},
        "ip": {"vrf": vrf.name, "address": {"{{ ipaddresses.ip_host.cidr }}": {}}},
        "acl": {acl: {way: {}} for acl, way in _filters(vrf).items()},
    }


def _filters(vrf: Vrf) -> dict[str, str]:
    """Return the direction of each access list of the host's port, by name."""
    return {vrf.name: _SENT, **({f"{vrf.name}-received": _RECEIVED} if vrf.filters_received else {})}


def _rules(vrf: Vrf, way: str) -> dict[str, Any]:
    return {
        str(10 * number): {"match": {"ip": _match(rule, way)}, "action": {"permit" if rule.permits else "deny": {}}}
        for number, rule in enumerate(vrf.verdicts, start=1)
    }


def _match(rule: Rule, way: str) -> dict[str, Any]:
    far, near = ("dest", "source") if way == _SENT else ("source", "dest")
    ports = {f"{near}-port": rule.ports.near, f"{far}-port": rule.ports.far}
    named: dict[str, Any] = {key: {str(port): {}} for key, port in ports.items() if port is not None}
    protocol = {} if rule.ports.protocol is None else {"protocol": str(rule.ports.protocol)}
    return {f"{far}-ip": str(rule.network), **protocol, **({str(rule.ports.protocol): named} if named else {})}


def _routes(announced: tuple[Network, ...]) -> dict[str, Any]:
    """Return the rules that permit routes inside ``announced``. A prefix list denies all other routes."""
    return {
        str(10 * number): {"match": {str(prefix): _and_inside(prefix)}, "action": "permit"}
        for number, prefix in enumerate(announced, start=1)
    }


def _and_inside(prefix: Network) -> dict[str, int]:
    """Return the option to match routes inside ``prefix``. FRR requires a maximum length above the prefix length."""
    return {"max-prefix-len": prefix.max_prefixlen} if prefix.prefixlen < prefix.max_prefixlen else {}


def _tenant(fabric: Fabric, vrf: Vrf) -> dict[str, Any]:
    exported: dict[str, Any] = {"route-target": {vrf.route_target: {}}}
    imported: dict[str, Any] = {"route-target": {target: {} for target in (vrf.route_target, *vrf.imported)}}
    own_routes = {"ipv4-unicast": {**_ON, "policy": {"inbound": {"prefix-list": vrf.name}}}}
    return {
        "evpn": {**_ON, "vni": {str(vrf.vni): {}}},
        "router": {
            "bgp": {
                **_ON,
                "autonomous-system": _own_asn(fabric),
                "router-id": _LOOPBACK,
                "address-family": {
                    "ipv4-unicast": {
                        **_ON,
                        "redistribute": {"connected": _ON},
                        "route-export": {"to-evpn": _ON},
                    }
                },
                "route-export": {"to-evpn": exported},
                "route-import": {"from-evpn": imported},
                "neighbor": {HOST_INTERFACE: {"peer-group": "host", "type": "unnumbered"}},
                "peer-group": {"host": {"remote-as": "external", "address-family": own_routes}},
            }
        },
    }


def yaml_block(value: Mapping[str, Any], indent: int) -> str:
    """Return ``value`` (nested mappings of scalars) as YAML block text. Each line ends with a newline."""
    lines: list[str] = []
    for key, inner in value.items():
        head = f"{' ' * indent}{_scalar(key)}:"
        if isinstance(inner, Mapping) and inner:
            lines.append(f"{head}\n{yaml_block(inner, indent + 2)}")
        else:
            lines.append(f"{head} {'{}' if isinstance(inner, Mapping) else _scalar(inner)}\n")
    return "".join(lines)


def _scalar(value: object) -> str:
    """Return ``value`` as YAML, quoted unless it is a plain word, a number or a single template expression."""
    if isinstance(value, int | float):
        return str(value)
    text = str(value)
    if _EXPRESSION.fullmatch(text) or (_PLAIN.fullmatch(text) and text.lower() not in _WORDS):
        return text
    return json.dumps(text)
