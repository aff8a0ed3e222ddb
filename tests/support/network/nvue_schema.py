"""A closed schema of the NVUE settings that HBN gets, and a check of the names in them.

NVIDIA publishes no schema of NVUE. This one is written by hand from the Cumulus Linux guide, in which each word of ``nv
set ...`` is a key. It has rendered keys only, so a misspelt key is reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema
import yaml

from tests.support.network.frr_configuration import filled

Json = dict[str, Any]
LOOPBACK, LINK = "10.4.0.7", "10.65.16.9/30"
"""Values that one DPU has from its pools."""
_ADDRESS = r"\d{1,3}(\.\d{1,3}){3}"
_NETWORK, _NUMBER, _NAME, _TARGET = rf"^{_ADDRESS}/\d{{1,2}}$", r"^[1-9]\d*$", r"^[a-z0-9][a-z0-9_-]*$", r"^\d+:\d+$"


def _closed(required: tuple[str, ...] = (), **keys: Json) -> Json:
    properties = {key.replace("_", "-"): value for key, value in keys.items()}
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def _each(name: str, value: Json, **more: Any) -> Json:
    return {"type": "object", "patternProperties": {name: value}, "additionalProperties": False, **more}


def _one_of(*words: str) -> Json:
    return {"enum": list(words)}


def _number(least: int, most: int) -> Json:
    return {"type": "integer", "minimum": least, "maximum": most}


def _named(*words: str) -> Json:
    """Return the schema of a mapping with one of ``words`` as key and an empty value."""
    return _closed(**dict.fromkeys(words, _NOTHING)) | {"minProperties": 1, "maxProperties": 1}


_NOTHING = _closed()
_ON = _closed(("enable",), enable=_one_of("on"))
_ASN, _ROUTER = _number(1, 4_294_967_295), {"type": "string", "pattern": f"^{_ADDRESS}$"}
_NETWORK_VALUE, _WORD = {"type": "string", "pattern": _NETWORK}, {"type": "string", "pattern": _NAME}
_TARGETS = _closed(("route-target",), route_target=_each(_TARGET, _NOTHING, minProperties=1))
_PORTS = _closed(source_port=_each(_NUMBER, _NOTHING), dest_port=_each(_NUMBER, _NOTHING)) | {"minProperties": 1}
_PACKETS = _closed(
    source_ip=_NETWORK_VALUE, dest_ip=_NETWORK_VALUE, protocol=_one_of("tcp", "udp", "icmp"), tcp=_PORTS, udp=_PORTS
)
_STATES = _closed(("established",), new=_NOTHING, established=_NOTHING)
_POLICY = _closed(("inbound",), inbound=_closed(("route-map",), route_map=_WORD))
_LIMITS = _closed(
    ("inbound",),
    inbound=_closed(
        ("maximum", "reestablish-wait"), maximum=_number(1, 4_294_967_295), reestablish_wait=_number(1, 4_294_967_295)
    ),
)
_MULTIPATH = _closed(("multipath",), multipath=_closed(("aspath-ignore",), aspath_ignore=_one_of("on")))
_FAMILIES = _closed(
    ipv4_unicast=_closed(
        ("enable",),
        enable=_one_of("on"),
        redistribute=_closed(connected=_ON),
        route_export=_closed(to_evpn=_ON),
        policy=_POLICY,
        prefix_limits=_LIMITS,
        multipaths=_closed(("ebgp",), ebgp=_number(1, 128)),
    ),
    l2vpn_evpn=_ON,
)
_BGP = _closed(
    ("enable",),
    enable=_one_of("on"),
    autonomous_system=_ASN,
    router_id=_ROUTER,
    graceful_restart=_closed(("mode",), mode=_one_of("full")),
    path_selection=_MULTIPATH,
    address_family=_FAMILIES,
    route_export=_closed(to_evpn=_TARGETS),
    route_import=_closed(from_evpn=_TARGETS),
    neighbor=_each(_NAME, _closed(("peer-group", "type"), peer_group=_WORD, type=_one_of("unnumbered"))),
    peer_group=_each(_NAME, _closed(("remote-as",), remote_as=_one_of("external"), address_family=_FAMILIES)),
)
_PREFIX = _closed(
    ("match", "action"),
    match=_each(_NETWORK, _closed(max_prefix_len=_number(1, 32)), minProperties=1),
    action=_one_of("permit"),
)
_STRIPPED = _named("none")
_ROUTE_RULE = _closed(
    ("match", "set", "action"),
    match=_closed(("type", "ip-prefix-list"), type=_one_of("ipv4"), ip_prefix_list=_WORD),
    set=_closed(community=_STRIPPED, large_community=_STRIPPED),
    action=_named("permit", "deny"),
)
_POLICIES = _closed(
    ("prefix-list", "route-map"),
    prefix_list=_each(_NAME, _closed(("rule",), rule=_each(_NUMBER, _PREFIX))),
    route_map=_each(_NAME, _closed(("rule",), rule=_each(_NUMBER, _ROUTE_RULE, minProperties=1))),
)
_SNIPPET = _closed(("frr.conf",), **{"frr.conf": {"type": "string", "pattern": "^route-map "}})
SETTINGS = _closed(
    ("evpn", "interface", "nve", "router", "vrf"),
    evpn=_ON,
    interface=_each(
        r"^[a-z0-9_]+(,[a-z0-9_]+)*$",
        _closed(
            ("type",),
            type=_one_of("swp", "loopback"),
            link=_closed(("mtu",), mtu=_number(1280, 9216)),
            ip=_closed(("address",), vrf=_WORD, address=_each(_NETWORK, _NOTHING, minProperties=1)),
            acl=_each(_NAME, _named("inbound", "outbound")),
        ),
    ),
    nve=_closed(
        ("vxlan",),
        vxlan=_closed(
            ("enable",), enable=_one_of("on"), arp_nd_suppress=_one_of("on"), source=_closed(address=_ROUTER)
        ),
    ),
    router=_closed(("bgp",), bgp=_BGP, policy=_POLICIES),
    system=_closed(reflexive_acl=_ON, config=_closed(("snippet",), snippet=_SNIPPET)),
    acl=_each(
        _NAME,
        _closed(
            ("type", "rule"),
            type=_one_of("ipv4"),
            rule=_each(
                _NUMBER,
                _closed(
                    ("match", "action"),
                    match=_closed(("ip",), ip=_PACKETS, conntrack=_STATES),
                    action=_named("permit", "deny"),
                ),
                minProperties=1,
            ),
        ),
    ),
    vrf=_each(
        _NAME,
        _closed(
            ("router",),
            evpn=_closed(("enable",), enable=_one_of("on"), vni=_each(_NUMBER, _NOTHING, maxProperties=1)),
            router=_closed(("bgp",), bgp=_BGP),
        ),
    ),
)
HEADER = _closed(
    ("model", "nvue-api-version", "rev-id", "version"),
    model=_one_of("BLUEFIELD"),
    nvue_api_version=_one_of("nvue_v1"),
    rev_id={"type": "number"},
    version={"type": "string", "pattern": r"^HBN \d"},
)


def settings(text: str) -> Json:
    """Return the mapping under ``set`` of a startup document for one DPU."""
    header, document = yaml.safe_load(filled(text, loopback=LOOPBACK, link=LINK))
    jsonschema.validate(header, _closed(("header",), header=HEADER))
    [(key, found)] = document.items()
    assert key == "set"
    return dict(found)


def faults(found: Mapping[str, Any]) -> list[str]:
    """Return the errors of settings: unknown keys and values, and names without a definition."""
    wrong = sorted(jsonschema.Draft202012Validator(SETTINGS).iter_errors(found), key=str)
    return [f"{error.json_path}: {error.message}" for error in wrong] or list(_dangling(found))


def _dangling(found: Mapping[str, Any]) -> Iterator[str]:
    ports = {port for names in found["interface"] for port in names.split(",")}
    maps = found["router"].get("policy", {}).get("route-map", {})
    yield from _unrouted(found, maps)
    for name, interface in found["interface"].items():
        used = {"vrf": [interface.get("ip", {}).get("vrf", "default")], "acl": list(interface.get("acl", {}))}
        yield from (f"{name}: no {key} {one}" for key, ones in used.items() for one in ones if one not in found[key])
    for name, vrf in found["vrf"].items():
        bgp = vrf["router"]["bgp"]
        for port, neighbor in bgp["neighbor"].items():
            if port not in ports or neighbor["peer-group"] not in bgp["peer-group"]:
                yield f"{name}: neighbor {port} of {neighbor['peer-group']}"
        for group, peers in bgp["peer-group"].items():
            policy = peers["address-family"].get("ipv4-unicast", {}).get("policy")
            if policy and policy["inbound"]["route-map"] not in maps:
                yield f"{name}: no route-map of {group}"
    for name, acl in found.get("acl", {}).items():
        if (
            any("conntrack" in rule["match"] for rule in acl["rule"].values())
            and "reflexive-acl" not in found["system"]
        ):
            yield f"{name}: conntrack without reflexive-acl"
        last = acl["rule"][max(acl["rule"], key=int)]["match"]["ip"]
        if set(last.values()) != {"0.0.0.0/0"}:
            yield f"{name}: packets that no rule is about"


def _unrouted(found: Mapping[str, Any], maps: Mapping[str, Any]) -> Iterator[str]:
    """Yield route maps with an undefined list, and additions of snippets to undefined rules."""
    numbered = ((name, *entry) for name, one in maps.items() for entry in one["rule"].items())
    rules = {f"route-map {name} permit {number}": rule for name, number, rule in numbered}
    for name, rule in rules.items():
        if rule["match"]["ip-prefix-list"] not in found["router"]["policy"]["prefix-list"]:
            yield f"no prefix-list of {name}"
    snippet = found.get("system", {}).get("config", {}).get("snippet", {}).get("frr.conf", "")
    yield from (f"no rule of snippet {line}" for line in snippet.splitlines() if line[0] != " " and line not in rules)
