"""Configuration of host-based networking (HBN) on a DPU: NVUE documents, built from typed input and rendered as text.

The startup configuration of HBN is a Jinja template of YAML. Addresses that each DPU gets from a pool are template
expressions. All other values are rendered by this module.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from components.render.network.nvue_host import (
    Vrf,
    accepted_routes,
    access_lists,
    directions,
    frr_snippet,
    routing_policy,
)
from components.specs.base import Network
from components.specs.ranges import NumberRange
from components.specs.struct import Struct

LOOPBACK_POOL = "loopback"
UPLINKS = ("p0_if", "p1_if")
HOST_INTERFACE = "pf0hpf_if"
"""Name of the DPU's side of the host's physical function."""
_LOOPBACK = "{{ ipaddresses.ip_lo.ip }}"
_STATEFUL_SINCE = (2, 3)
"""First version of HBN whose stateful access lists use the connection tracking of Open vSwitch (HBN release notes)."""
_PATHS = 16
"""Number of equal paths in the underlay, as in upstream's guide (DPF:docs/public/user-guides/zero-trust/use-cases)."""
_ON = {"enable": "on"}
_ANY_LEAF = {"multipath": {"aspath-ignore": "on"}}
"""Paths of equal length are equal even if their ASNs differ. Both leaf switches of a DPU may have separate ASNs."""
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./,-]*")
_WORDS = {"on", "off", "yes", "no", "true", "false", "null", "y", "n"}
_EXPRESSION = re.compile(r"\{\{ [^{}]* \}\}")


class Fabric(Struct):
    """Settings common to all DPUs of a region."""

    loopbacks: Network
    asns: NumberRange
    mtu_bytes: int
    """MTU of hosts."""
    uplink_mtu_bytes: int
    """MTU between DPUs and leaf switches, large enough for encapsulated packets of hosts."""
    release: str
    """Version of HBN."""


def tracks_connections(release: str) -> bool:
    """Return whether this version of HBN has stateful access lists."""
    numbers = re.match(r"(\d+)\.(\d+)", release)
    return numbers is not None and (int(numbers[1]), int(numbers[2])) >= _STATEFUL_SINCE


def startup(fabric: Fabric, vrf: Vrf | None) -> str:
    """Return the startup configuration: the underlay, and ``vrf`` if the DPU's host belongs to a VPC."""
    header = {"model": "BLUEFIELD", "nvue-api-version": "nvue_v1", "rev-id": 1.0, "version": f"HBN {fabric.release}"}
    settings = _underlay(fabric)
    if vrf is not None:
        settings["interface"][HOST_INTERFACE] = _host_interface(fabric, vrf)
        settings["acl"] = access_lists(vrf)
        settings["system"] = {
            "config": {"snippet": {"frr.conf": frr_snippet(vrf)}},
            **({"reflexive-acl": _ON} if vrf.tracks and vrf.filters_received else {}),
        }
        settings["vrf"][vrf.name] = _tenant(fabric, vrf)
        settings["router"]["policy"] = routing_policy(vrf)
    return f"- header:\n{yaml_block(header, 4)}- set:\n{yaml_block(settings, 4)}"


def _underlay(fabric: Fabric) -> dict[str, Any]:
    peers = {port: {"peer-group": "underlay", "type": "unnumbered"} for port in UPLINKS}
    return {
        "evpn": _ON,
        "interface": {
            "lo": {"type": "loopback", "ip": {"address": {f"{_LOOPBACK}/32": {}}}},
            ",".join(UPLINKS): {"type": "swp", "link": {"mtu": fabric.uplink_mtu_bytes}},
        },
        "nve": {"vxlan": {"arp-nd-suppress": "on", **_ON, "source": {"address": _LOOPBACK}}},
        "router": {
            "bgp": {
                **_ON,
                "autonomous-system": _own_asn(fabric),
                # Leaf switches keep the routes of a DPU while HBN starts again.
                "graceful-restart": {"mode": "full"},
                "router-id": _LOOPBACK,
            }
        },
        "vrf": {
            "default": {
                "router": {
                    "bgp": {
                        **_ON,
                        "address-family": {
                            "ipv4-unicast": {
                                **_ON,
                                "multipaths": {"ebgp": _PATHS},
                                "redistribute": {"connected": _ON},
                            },
                            "l2vpn-evpn": _ON,
                        },
                        "neighbor": peers,
                        "path-selection": _ANY_LEAF,
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
        "acl": {acl: {way: {}} for acl, way in directions(vrf).items()},
    }


def _tenant(fabric: Fabric, vrf: Vrf) -> dict[str, Any]:
    exported: dict[str, Any] = {"route-target": {vrf.route_target: {}}}
    imported: dict[str, Any] = {"route-target": {target: {} for target in (vrf.route_target, *vrf.imported)}}
    own_routes = {"ipv4-unicast": {**_ON, **accepted_routes(vrf)}}
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
                "path-selection": _ANY_LEAF,
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
