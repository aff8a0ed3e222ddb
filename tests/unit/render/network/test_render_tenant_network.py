"""VPCs on DPUs, with both backends."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv4Network
from typing import Any

import pytest
import yaml

from components.render import labels as keys
from components.render.manifest import Manifest
from components.render.network.nvue import yaml_block
from components.render.network.tenant_network import TenantNetworkInput
from components.render.vms.vm_offering import VmOfferingInput
from components.specs.network.security_groups import SecurityGroupSpec
from components.specs.network.tenant_network import Egress, Ingress, Isolation
from components.specs.struct import replace

VIP = IPv4Address("10.3.0.77")


def network(inputs_of: Any, isolation: Isolation, **changes: Any) -> TenantNetworkInput:
    found: TenantNetworkInput = next(
        item for item in inputs_of(TenantNetworkInput) if item.vpc.spec.isolation is isolation
    )
    spec = found.vpc.spec.model_copy(update=changes)
    return replace(found, vpc=replace(found.vpc, spec=spec, control_planes=(VIP,)))


def one(rendered: tuple[Manifest, ...], kind: str) -> Manifest:
    [item] = [item for item in rendered if item.kind == kind]
    return item


def settings(rendered: tuple[Manifest, ...]) -> dict[str, Any]:
    """Return the startup settings as HBN reads them, with placeholders for template expressions."""
    values = one(rendered, "DPUServiceConfiguration").body["spec"]["serviceConfiguration"]["helmChart"]["values"]
    text = re.sub(r"\{\{.*?\}\}", "X", values["configuration"]["startupYAMLJ2"])
    [header, document] = yaml.safe_load(text)
    assert list(header) == ["header"]
    found: dict[str, Any] = document["set"]
    return found


def test_a_vpc_is_one_vrf_with_its_vni_and_route_target(inputs_of: Any) -> None:
    hbn = network(inputs_of, Isolation.DPF_HBN)
    numbers, name = hbn.vpc.numbers.model_copy(update={"route_target": 777}), hbn.vpc.spec.name

    config = settings(replace(hbn, vpc=replace(hbn.vpc, numbers=numbers)).render())

    bgp = config["vrf"][name]["router"]["bgp"]
    target = {"route-target": {f"{numbers.asn}:777": {}}}
    assert config["vrf"][name]["evpn"] == {"enable": "on", "vni": {str(numbers.vni): {}}}
    assert bgp["route-import"] == {"from-evpn": target}
    assert bgp["route-export"] == {"to-evpn": target}
    assert config["interface"]["pf0hpf_if"]["ip"]["vrf"] == name
    assert set(config["vrf"]) == {"default", name}


@pytest.mark.parametrize("egress", list(Egress))
def test_hosts_reach_their_control_planes_but_no_management_network(inputs_of: Any, egress: Egress) -> None:
    hbn = network(inputs_of, Isolation.DPF_HBN, egress=egress)
    config = settings(hbn.render())
    rules = sorted(config["acl"][hbn.vpc.spec.name]["rule"].items(), key=lambda item: int(item[0]))

    def verdict(address: IPv4Address) -> str:
        for _, rule in rules:
            to = rule["match"]["ip"]["dest-ip"]
            if "X" not in to and address in IPv4Network(to):
                return str(next(iter(rule["action"])))
        return "none"

    networks, numbers = hbn.platform.networks, hbn.vpc.numbers
    assert config["interface"]["pf0hpf_if"]["acl"] == {hbn.vpc.spec.name: {"inbound": {}}}
    assert verdict(VIP) == "permit"
    for denied in (networks.management, networks.bmc, networks.dpu_loopbacks, networks.control_plane_vips):
        assert verdict(denied[-1]) == "deny"
    for allowed in (numbers.hosts, numbers.pods, networks.storage):
        assert verdict(allowed[-1]) == "permit"
    assert verdict(IPv4Address("198.51.100.1")) == ("permit" if egress is Egress.PUBLIC else "deny")


@pytest.mark.parametrize("ingress", list(Ingress))
def test_hosts_announce_internal_prefixes_and_their_public_addresses_with_ingress(
    inputs_of: Any, ingress: Ingress
) -> None:
    hbn = network(inputs_of, Isolation.DPF_HBN, ingress=ingress)
    numbers, name = hbn.vpc.numbers, hbn.vpc.spec.name
    public = replace(hbn.vpc, public_addresses=(IPv4Address("203.0.113.7"),))

    config = settings(replace(hbn, vpc=public).render())

    inside = [(numbers.pods, 32), (numbers.services, 32), (numbers.load_balancers, 32)]
    own = [("203.0.113.7/32", None)] if ingress is Ingress.PUBLIC else []
    policy = config["router"]["policy"]
    assert policy["prefix-list"] == {
        name: {
            "rule": {
                str(10 * place): {
                    "match": {str(prefix): {"max-prefix-len": longest} if longest else {}},
                    "action": "permit",
                }
                for place, (prefix, longest) in enumerate([*inside, *own], start=1)
            }
        }
    }
    [rule] = policy["route-map"][name]["rule"].values()
    assert rule["match"] == {"type": "ipv4", "ip-prefix-list": name}
    peer_group = config["vrf"][name]["router"]["bgp"]["peer-group"]["host"]
    assert peer_group["address-family"]["ipv4-unicast"]["policy"] == {"inbound": {"route-map": name}}


def test_a_host_announces_no_more_than_its_load_balancers_and_the_pods_of_one_node(inputs_of: Any) -> None:
    hbn = network(inputs_of, Isolation.DPF_HBN)
    public = replace(hbn.vpc, public_addresses=(IPv4Address("203.0.113.7"),))

    config = settings(replace(hbn, vpc=public).render())

    family = config["vrf"][hbn.vpc.spec.name]["router"]["bgp"]["peer-group"]["host"]["address-family"]["ipv4-unicast"]
    most = hbn.vpc.numbers.load_balancers.num_addresses + 1 + 256 + 1
    assert family["prefix-limits"] == {"inbound": {"maximum": most, "reestablish-wait": 60}}


def test_routes_of_hosts_lose_their_communities_of_all_kinds(inputs_of: Any) -> None:
    hbn = network(inputs_of, Isolation.DPF_HBN)
    name = hbn.vpc.spec.name

    config = settings(hbn.render())

    [(number, rule)] = config["router"]["policy"]["route-map"][name]["rule"].items()
    assert rule["set"] == {"community": {"none": {}}, "large-community": {"none": {}}}
    snippet = config["system"]["config"]["snippet"]["frr.conf"]
    assert snippet == f"route-map {name} permit {number}\n set extcommunity none\n"


def test_hosts_only_send_bgp_and_icmp_to_their_dpu(inputs_of: Any) -> None:
    hbn = network(inputs_of, Isolation.DPF_HBN)

    rules = settings(hbn.render())["acl"][hbn.vpc.spec.name]["rule"]

    gateway = {"dest-ip": "X/32"}
    assert [rules[number] for number in ("10", "20", "30")] == [
        {
            "match": {"ip": {**gateway, "protocol": "tcp", "tcp": {"dest-port": {"179": {}}}}},
            "action": {"permit": {}},
        },
        {"match": {"ip": {**gateway, "protocol": "icmp"}}, "action": {"permit": {}}},
        {"match": {"ip": gateway}, "action": {"deny": {}}},
    ]


GROUP = SecurityGroupSpec.model_validate(
    {
        "name": "edge",
        "ingress": [{"cidr": "0.0.0.0/0", "protocol": "tcp", "ports": [443]}],
        "egress": [{"cidr": "198.51.0.0/16"}],
    }
)
OPENS, ANSWERS = {"new": {}, "established": {}}, {"established": {}}


def grouped(inputs_of: Any, tag: str) -> dict[str, Any]:
    """Return the settings of a VPC with ``GROUP`` and an image of HBN with ``tag``."""
    hbn = network(inputs_of, Isolation.DPF_HBN, egress=Egress.PUBLIC)
    image = hbn.platform.hbn_image
    assert image is not None
    platform = replace(hbn.platform, hbn_image=image.model_copy(update={"tag": tag}))
    return settings(replace(hbn, platform=platform, vpc=replace(hbn.vpc, group=GROUP)).render())


def about(config: dict[str, Any], acl: str, network: str) -> list[tuple[Any, Any, str]]:
    """Return the protocol, states and action of the rules of an access list about a network."""
    found = []
    for rule in config["acl"][acl]["rule"].values():
        packets = rule["match"]["ip"]
        if network in (packets.get("dest-ip"), packets.get("source-ip")):
            found.append((packets.get("protocol"), rule["match"].get("conntrack"), *rule["action"]))
    return found


def test_a_security_group_permits_answers_of_connections_only(inputs_of: Any) -> None:
    config = grouped(inputs_of, "3.2.1-doca3.2.1")
    [sent, received] = config["acl"]

    assert config["system"]["reflexive-acl"] == {"enable": "on"}
    assert about(config, sent, "0.0.0.0/0") == [("tcp", ANSWERS, "permit"), (None, None, "deny")]
    assert about(config, received, "0.0.0.0/0") == [("tcp", OPENS, "permit"), (None, None, "deny")]
    tracked = ("tcp", "udp", "icmp")
    for acl, states in ((sent, OPENS), (received, ANSWERS)):
        assert about(config, acl, "198.51.0.0/16") == [
            *((protocol, states, "permit") for protocol in tracked),
            *((protocol, None, "deny") for protocol in tracked),
            (None, None, "permit"),
        ]


def test_a_release_of_hbn_without_connection_tracking_has_a_list_without_states(inputs_of: Any) -> None:
    config = grouped(inputs_of, "2.2.0-doca2.7.0")

    assert "reflexive-acl" not in config["system"]
    for acl in config["acl"]:
        assert about(config, acl, "0.0.0.0/0") == [("tcp", None, "permit"), (None, None, "deny")]
        assert about(config, acl, "198.51.0.0/16") == [(None, None, "permit")]


def test_paths_by_both_leaf_switches_are_equal(inputs_of: Any) -> None:
    hbn = network(inputs_of, Isolation.DPF_HBN)

    config = settings(hbn.render())

    for vrf in ("default", hbn.vpc.spec.name):
        chosen = config["vrf"][vrf]["router"]["bgp"]["path-selection"]
        assert chosen == {"multipath": {"aspath-ignore": "on"}}
    assert config["vrf"]["default"]["router"]["bgp"]["address-family"]["ipv4-unicast"]["multipaths"] == {"ebgp": 16}
    assert config["router"]["bgp"]["graceful-restart"] == {"mode": "full"}
    assert config["nve"]["vxlan"]["arp-nd-suppress"] == "on"


def test_a_vpc_has_the_public_addresses_of_the_vms_in_its_own_cluster(inputs_of: Any) -> None:
    with_vms = {
        item.tenant: tuple(machine.public_address for machine in item.machines if machine.public_address)
        for item in inputs_of(VmOfferingInput)
    }
    networks = {item.vpc.spec.name: item.vpc for item in inputs_of(TenantNetworkInput)}

    assert {vpc.tenant: vpc.public_addresses for vpc in networks.values() if vpc.public_addresses} == with_vms
    assert with_vms


def test_each_dpu_has_a_separate_asn(inputs_of: Any) -> None:
    hbn = network(inputs_of, Isolation.DPF_HBN)
    fabric = hbn.platform.fabric
    text = one(hbn.render(), "DPUServiceConfiguration").body["spec"]["serviceConfiguration"]["helmChart"]
    [expression] = set(
        re.findall(r"autonomous-system: \{\{ (.*) \}\}", str(text["values"]["configuration"]["startupYAMLJ2"]))
    )

    def asn(loopback: IPv4Address) -> int:
        arithmetic = re.sub(r'ipaddresses\.ip_lo\.ip\.split\("\."\)\[(\d)\]\|int', r"int(octets[\1])", expression)
        return int(eval(arithmetic, {"octets": str(loopback).split("."), "int": int}))  # noqa: S307 - our own arithmetic

    asns = [asn(loopback) for loopback in fabric.loopbacks]

    assert asns == [fabric.asns.last - place for place in range(len(asns))]
    assert asns[-1] in fabric.asns
    assert hbn.vpc.numbers.asn not in asns  # Hosts of the VPC peer with their DPU, which has another AS number.


def test_immutable_fields_of_a_virtual_network_change_its_name(inputs_of: Any) -> None:
    old = network(inputs_of, Isolation.DPF_OVN)
    numbers = old.vpc.numbers.model_copy(update={"hosts": IPv4Network("10.99.0.0/24")})
    new = replace(old, vpc=replace(old.vpc, numbers=numbers))

    for kind in ("DPUVirtualNetwork", "DPUServiceInterface"):
        assert one(old.render(), kind).name != one(new.render(), kind).name
    assert one(old.render(), "DPUVPC").body == one(new.render(), "DPUVPC").body


@pytest.mark.parametrize(
    "value",
    [
        {"a": {"b": 1, "c": {}}},
        {"on": "off", "1": "2"},
        {"x": "no", "y": "1.0", "z": 'a "b": c'},
        {"10.0.0.0/8": {"d,e": 1.5}},
    ],
)
def test_written_yaml_reads_back_as_it_was(value: dict[str, Any]) -> None:
    assert yaml.safe_load(yaml_block(value, 2)) == value


@pytest.mark.parametrize("isolation", [Isolation.DPF_HBN, Isolation.DPF_OVN])
def test_host_packets_with_overlay_headers_fit_the_uplink_mtu(inputs_of: Any, isolation: Isolation) -> None:
    found = network(inputs_of, isolation)
    control = found.platform.control.model_copy(update={"mtu_bytes": 8000, "uplink_mtu_bytes": 8100})
    rendered = replace(found, platform=replace(found.platform, control=control)).render()

    chains = one(rendered, "DPUDeployment").body["spec"]["serviceChains"]["switches"]
    uplinks = [{"serviceInterface": {"matchLabels": {keys.INTERFACE: name}}} for name in ("p0", "p1")]
    mtus = [(any(port in uplinks for port in switch["ports"]), switch["serviceMTU"]) for switch in chains]
    if isolation is Isolation.DPF_HBN:
        ports = settings(rendered)["interface"]
        assert (ports["p0_if,p1_if"]["link"]["mtu"], ports["pf0hpf_if"]["link"]["mtu"]) == (8100, 8000)
        assert mtus == [(True, 8100), (True, 8100), (False, 8000)]
    else:
        assert mtus == [(True, 8100)]
