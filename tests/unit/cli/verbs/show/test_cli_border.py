"""Output of ``jacquard show ENV network --border``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from components.specs.reading.loader import load_environment
from jacquard.cli.errors import ExitCode
from jacquard.machine import paths
from tests.support.data.environment_data import REFERENCES, root_of_all

Invoke = Callable[..., Any]
Edit = Callable[[Path, str, str], None]
BORDER = "networks:\n  border: {asn: 64496, services: 100, internet: 200, networks: [10.6.0.0/24]}\n"


def test_a_border_without_route_targets_has_a_vrf_of_each_vpc(invoke: Invoke) -> None:
    assert invoke("show", "laptop", "network", "--border").stdout == (
        "laptop: border router contract for 1 VPC\n"
        "  underlay    eBGP on unnumbered links, IPv4 and EVPN; DPUs have ASN 4200008976-4200009999 and VTEPs in"
        " 10.4.0.0/22\n"
        "  MTU         9216 on all links, 9000 into VPCs\n"
        "  drops       packets from a VPC to\n"
        "              10.64.0.0/10   of another VPC, or unassigned\n"
        "              10.0.0.0/16   networks.management, unreachable for tenants\n"
        "              10.1.0.0/16   networks.bmc, unreachable for tenants\n"
        "              10.4.0.0/22   networks.dpu_loopbacks, unreachable for tenants\n"
        "              10.4.4.0/22   networks.ovn, unreachable for tenants\n"
        "  sources     packets from a VPC must be dropped if their source address has no imported route\n"
        "\n"
        "acme/acme   own VRF, L3VNI 10000\n"
        "  imports     4200000000:10000\n"
        "              10.65.16.0/24 to /30   hosts\n"
        "              10.64.0.0/16 to /32   pods\n"
        "              10.65.0.0/20 to /32   services\n"
        "              10.65.17.0/26 to /32   load balancers\n"
        "              203.0.113.1/32   public address, announced to the internet\n"
        "  exports     4200000000:10000\n"
        "              10.3.0.1/32   its control plane\n"
        "              10.2.0.0/17   storage\n"
        "              10.3.0.250/32   registry\n"
        "              0.0.0.0/0   egress: public\n"
        "  translates  source addresses of internet traffic to public addresses (source NAT)\n"
        "\n"
        "no VRF and no routes for: globex (dpf-ovn)\n"
        "\n"
        "router 10.4.4.1   for VPCs on OVN: globex\n"
        "  sources     10.4.4.0/22, addresses of DPUs, which OVN uses for packets of these VPCs\n"
        "  permits     packets from a VPC to\n"
        "              10.3.0.2/32   control plane of globex\n"
        "              10.3.0.250/32   registry\n"
        "  drops       other packets from a VPC to\n"
        "              10.64.0.0/10   of another VPC, or unassigned\n"
        "              10.0.0.0/16   networks.management, unreachable for tenants\n"
        "              10.1.0.0/16   networks.bmc, unreachable for tenants\n"
        "              10.4.0.0/22   networks.dpu_loopbacks, unreachable for tenants\n"
        "              10.4.4.0/22   networks.ovn, unreachable for tenants\n"
        "              10.3.0.0/24   control planes of other VPCs\n"
        "              10.0.0.30/32   databases of OVN, TCP ports 30641 and 30642\n"
    )


def test_a_border_with_route_targets_exports_by_them(invoke: Invoke, data_folder: Path, edit: Edit) -> None:
    edit(data_folder / "laptop" / "region.yaml", "networks:\n", BORDER)

    [vpc] = json.loads(invoke("show", "laptop", "network", "--border", "--format", "json").stdout)["vpcs"]

    assert (vpc["own_vrf"], vpc["imports"]) == (False, "4200000000:10000")
    assert [(one["route_target"], one["prefix"]) for one in vpc["announces"]] == [
        ("64496:100", "10.3.0.0/24"),
        ("64496:100", "10.2.0.0/17"),
        ("64496:100", "10.6.0.0/24"),
        ("64496:200", "0.0.0.0/0"),
    ]


def test_edge_routers_with_vrfs_of_vpcs_lead_to_shared_networks(invoke: Invoke, data_folder: Path, edit: Edit) -> None:
    edit(data_folder / "laptop" / "region.yaml", "networks:\n", "networks:\n  border: {networks: [10.6.0.0/24]}\n")

    [vpc] = json.loads(invoke("show", "laptop", "network", "--border", "--format", "json").stdout)["vpcs"]

    assert vpc["own_vrf"]
    assert {one["route_target"] for one in vpc["announces"]} == {vpc["imports"]}
    assert "10.6.0.0/24" in [one["prefix"] for one in vpc["announces"]]


@pytest.mark.parametrize(
    ("old", "new", "gone"),
    [("egress: public", "egress: none", "0.0.0.0/0"), ("egress: public", "ingress: none", "203.0.113.1/32")],
)
def test_networks_denied_to_a_vpc_have_no_route(
    invoke: Invoke, data_folder: Path, edit: Edit, old: str, new: str, gone: str
) -> None:
    before = invoke("show", "laptop", "network", "--border").stdout
    edit(data_folder / "laptop" / "tenants" / "acme.yaml", old, new)
    after = invoke("show", "laptop", "network", "--border").stdout

    assert gone in before
    assert gone not in after
    assert ("translates" in after) == (new == "egress: public")


@pytest.mark.parametrize("name", REFERENCES)
def test_its_json_keeps_its_schema(invoke: Invoke, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(root_of_all()))
    found = json.loads(invoke("show", name, "network", "--border", "--format", "json").stdout)

    jsonschema.validate(found, json.loads((paths.ROOT / "schemas" / "border.schema.json").read_text(encoding="utf-8")))
    assert {one["vpc"] for one in found["vpcs"]}.isdisjoint(found["without_evpn"])


def test_it_is_of_the_network_only(invoke: Invoke) -> None:
    result = invoke("show", "laptop", "capacity", "--border")

    message = "error: --border requires network without --svg and --path; use: jacquard show laptop network --border\n"
    assert (result.exit_code, result.stderr) == (ExitCode.BAD_DATA, message)


def test_fabric_switches_are_listed_with_networks_and_ports(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(paths.ROOT / "environments"))
    text = invoke("show", "eu-south-03a", "network", "--border").stdout

    fabric = text[text.index("roce-south") :].splitlines()
    assert fabric[:5] == [
        "roce-south   switch configuration in halls a, b",
        "  MTU         9000 on host ports; on links plus the VXLAN overhead",
        "  RDMA        DSCP 26, trusted; priority 3 is lossless (PFC), with ECN marking in its queue",
        "  congestion  DSCP 48 has strict priority and is never paused",
        "  VRF         solstice/solstice, L3VNI 40000, no routes to other VRFs",
    ]
    assert fabric[5].startswith("              200 ports of a01-u01, a01-u02, ")
    assert fabric[5].endswith(", a07-u01")
    assert fabric[6] == "  VRF         vireo/vireo, L3VNI 40001, no routes to other VRFs"
    assert fabric[8:11] == [
        "  VRF         wisent/wisent, L3VNI 40002, no routes to other VRFs",
        "              32 ports of b24-u01, b24-u02, b24-u03, b24-u04",
        "              10.136.0.0/25 with gateway 10.136.0.126, on port 0 of each host of wisent-train",
    ]
    assert fabric[18].startswith("  no VRF      232 ports of ")


def test_leaf_switches_of_hosts_without_dpus_are_listed_with_accepted_routes(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(paths.ROOT / "environments"))
    edge = json.loads(invoke("show", "eu-south-03a", "network", "--border", "--format", "json").stdout)
    lock = load_environment("eu-south-03a", paths.ROOT / "environments").allocations

    assert edge["leaf_sessions"]
    for one in edge["leaf_sessions"]:
        numbers = lock.vpcs[lock.clusters[one["cluster"]].vpc].of_cluster(one["cluster"])
        own = {str(prefix) for prefix in numbers.of_kind("load_balancers")}
        public = {f"{address}/32" for key, address in lock.public_ips.items() if key.startswith(f"{one['cluster']}/")}
        assert (one["asn"], set(one["accepts"])) == (numbers.asn, own | public)
        assert one["hosts"] == [host for host in one["hosts"] if lock.hosts[host].startswith(f"{one['cluster']}/")]
    text = invoke("show", "eu-south-03a", "network", "--border").stdout
    assert "leaf switches   eBGP on unnumbered links with each host; the switches announce no routes" in text
    assert json.loads(invoke("show", "laptop", "network", "--border", "--format", "json").stdout)["leaf_sessions"] == []
