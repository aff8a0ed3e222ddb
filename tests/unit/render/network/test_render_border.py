"""Effect of declared edge routers on VPCs: imported routes, and tenants that could be reached by them."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv4Network
from typing import Any

import pytest
import yaml

from components.render.network.nvue import dpu_asns
from components.render.network.tenant_network import TenantNetworkInput
from components.specs.network.border import BorderSpec
from components.specs.network.tenant_network import Egress, Isolation
from components.specs.ranges import NumberRange
from components.specs.struct import replace

DNS = IPv4Network("10.6.0.0/24")
BORDER = BorderSpec(asn=64496, services=100, internet=200, networks=(DNS,))
ROUTERS = BorderSpec(networks=(DNS,))


def network(inputs_of: Any, egress: Egress, border: BorderSpec | None) -> TenantNetworkInput:
    found: TenantNetworkInput = next(
        one for one in inputs_of(TenantNetworkInput) if one.vpc.spec.isolation is Isolation.DPF_HBN
    )
    plan = found.platform.networks.model_copy(update={"border": border})
    spec = found.vpc.spec.model_copy(update={"egress": egress})
    return replace(found, platform=replace(found.platform, networks=plan), vpc=replace(found.vpc, spec=spec))


def text(hbn: TenantNetworkInput) -> str:
    [item] = [item for item in hbn.render() if item.kind == "DPUServiceConfiguration"]
    values = item.body["spec"]["serviceConfiguration"]["helmChart"]["values"]
    return str(values["configuration"]["startupYAMLJ2"])


def settings(hbn: TenantNetworkInput) -> dict[str, Any]:
    return dict(yaml.safe_load(re.sub(r"\{\{.*?\}\}", "X", text(hbn)))[1]["set"])


def verdict(found: dict[str, Any], address: IPv4Address) -> str:
    [rules] = [acl["rule"] for acl in found["acl"].values()]
    for _, rule in sorted(rules.items(), key=lambda item: int(item[0])):
        to = rule["match"]["ip"]["dest-ip"]
        if "X" not in to and address in IPv4Network(to):
            return str(next(iter(rule["action"])))
    return "none"


@pytest.mark.parametrize(
    ("egress", "targets"), [(Egress.PUBLIC, ["64496:100", "64496:200"]), (Egress.NONE, ["64496:100"])]
)
def test_a_vpc_imports_reachable_routes_and_exports_its_own(inputs_of: Any, egress: Egress, targets: list[str]) -> None:
    hbn = network(inputs_of, egress, BORDER)
    own = f"{hbn.vpc.numbers.asn}:{hbn.vpc.numbers.route_target}"

    bgp = settings(hbn)["vrf"][hbn.vpc.spec.name]["router"]["bgp"]

    assert list(bgp["route-import"]["from-evpn"]["route-target"]) == [own, *targets]
    assert list(bgp["route-export"]["to-evpn"]["route-target"]) == [own]


def test_a_border_with_a_vrf_of_each_vpc_has_no_route_target(inputs_of: Any) -> None:
    hbn = network(inputs_of, Egress.PUBLIC, ROUTERS)

    bgp = settings(hbn)["vrf"][hbn.vpc.spec.name]["router"]["bgp"]

    assert bgp["route-import"]["from-evpn"] == bgp["route-export"]["to-evpn"]


@pytest.mark.parametrize("border", [BORDER, ROUTERS])
@pytest.mark.parametrize("egress", list(Egress))
def test_no_border_leads_to_another_tenant(inputs_of: Any, egress: Egress, border: BorderSpec) -> None:
    hbn = network(inputs_of, egress, border)
    networks, numbers, found = hbn.platform.networks, hbn.vpc.numbers, settings(hbn)

    assert verdict(found, networks.tenants[-1]) == "deny"
    assert {verdict(found, one[-1]) for one in (numbers.hosts, numbers.pods, networks.storage, DNS)} == {"permit"}
    assert verdict(found, IPv4Address("198.51.100.1")) == ("permit" if egress is Egress.PUBLIC else "deny")
    assert verdict(found, networks.management[9]) == "deny"


def test_without_a_border_nothing_of_it_is_rendered(inputs_of: Any) -> None:
    hbn = network(inputs_of, Egress.PUBLIC, None)
    found = settings(hbn)

    assert verdict(found, DNS[-1]) == "permit"
    assert verdict(found, hbn.platform.networks.tenants[-1]) == "deny"
    assert len(found["vrf"][hbn.vpc.spec.name]["router"]["bgp"]["route-import"]["from-evpn"]["route-target"]) == 1


def test_dpus_have_the_numbers_that_the_contract_says(inputs_of: Any) -> None:
    hbn = network(inputs_of, Egress.PUBLIC, None)
    fabric = hbn.platform.fabric
    [expression] = {*re.findall(r"autonomous-system: \{\{ (.*?) \}\}", text(hbn))}
    base = int(expression.split(" - ")[0])

    def asn(address: IPv4Address) -> int:
        _, second, third, fourth = map(int, str(address).split("."))
        return base - second * 65536 - third * 256 - fourth

    asns = dpu_asns(fabric.asns, fabric.loopbacks)

    assert asns == NumberRange(first=asn(fabric.loopbacks[-1]), last=asn(fabric.loopbacks[0]))
