"""VPCs on Kube-OVN, in each cluster of their tenant."""

from __future__ import annotations

import json
import re
from ipaddress import IPv4Address, IPv4Network
from typing import Any

import pytest

from components.render.network.tenant_network import TenantNetworkInput
from components.specs.ipv6 import Network6
from components.specs.network.tenant_network import Egress
from components.specs.struct import replace


def acme(inputs_with: Any, **changes: Any) -> TenantNetworkInput:
    found: TenantNetworkInput = inputs_with(TenantNetworkInput)[0]
    return replace(found, vpc=replace(found.vpc, spec=found.vpc.spec.model_copy(update=changes)))


@pytest.mark.parametrize("egress", list(Egress))
def test_pods_reach_their_control_plane_but_no_management_network(inputs_with: Any, egress: Egress) -> None:
    network = acme(inputs_with, egress=egress)
    *_, subnet = network.render()

    def dropped(address: IPv4Address) -> bool:
        return any(
            all(
                any(address in IPv4Network(block) for block in blocks.split(", ")) is (operator == "==")
                for operator, blocks in re.findall(r"ip4\.dst (==|!=) \{([^}]*)\}", rule["match"])
            )
            for rule in subnet.body["spec"]["acls"]
        )

    networks, numbers = network.platform.networks, network.vpc.numbers
    for denied in (networks.management, networks.bmc, networks.dpu_loopbacks, networks.control_plane_vips):
        assert dropped(denied[-1])
    for allowed in (numbers.hosts, numbers.pods, numbers.services, networks.storage):
        assert not dropped(allowed[-1])
    assert not dropped(network.vpc.control_planes[0])
    assert dropped(IPv4Address("198.51.100.1")) is (egress is Egress.NONE)


def test_no_rule_allows_so_that_none_outranks_a_policy_of_the_tenant(inputs_with: Any) -> None:
    for egress in Egress:
        *_, subnet = acme(inputs_with, egress=egress).render()
        assert {rule["action"] for rule in subnet.body["spec"]["acls"]} == {"drop"}


def test_the_chart_and_the_switch_get_both_families_and_a_single_one_as_before(inputs_with: Any) -> None:
    network = acme(inputs_with)
    pods, services = network.vpc.numbers.pods, network.vpc.numbers.services
    ipv6 = {"pods_ipv6": Network6("fd42::/56"), "services_ipv6": Network6("fd42:0:0:100::/112")}
    dual = replace(network, vpc=replace(network.vpc, numbers=network.vpc.numbers.model_copy(update=ipv6)))

    *_, before, _, _ = network.render()
    *_, release, _, subnet = dual.render()

    values, spec = release.body["spec"]["values"], subnet.body["spec"]
    assert before.body["spec"]["values"].keys() ^ values.keys() == {"ipv4", "dual_stack"}
    assert values["networking"]["NET_STACK"] == "dual_stack"
    [removed] = release.body["spec"]["postRenderers"][0]["kustomize"]["patches"]
    assert removed["target"] == {"group": "apps", "kind": "DaemonSet", "name": "kube-ovn-pinger"}
    assert json.loads(removed["patch"])["$patch"] == "delete"
    assert values["dual_stack"] == {
        "POD_CIDR": f"{pods},fd42::/56",
        "POD_GATEWAY": f"{pods[1]},fd42::1",
        "SVC_CIDR": f"{services},fd42:0:0:100::/112",
        "JOIN_CIDR": "100.64.0.0/16,fd00:100:64::/112",
    }
    assert (spec["protocol"], spec["cidrBlock"]) == ("Dual", f"{pods},fd42::/56")
    assert spec["gateway"].split(",") == spec["excludeIps"] == [str(pods[1]), "fd42::1"]
    assert spec["allowSubnets"][-2:] == ["fd42::/56", "fd42:0:0:100::/112"]
    assert [rule["match"] for rule in spec["acls"] if "ip6" in rule["match"]] == [
        "ip6.dst != {fd42::/56, fd42:0:0:100::/112}"
    ]
