"""Services of the region in VPCs: the port of each service is open with each backend that filters packets."""

from __future__ import annotations

from ipaddress import IPv4Address
from typing import Any

import pytest

from components.render.network.packets import Ports, Service
from components.render.network.tenant_network import TenantNetworkInput
from components.render.network.vpc import ANYWHERE, Reach, reach, verdicts
from components.specs.base import Network
from components.specs.network.security_groups import Protocol
from components.specs.network.tenant_network import Egress, Isolation
from components.specs.struct import replace

REGISTRY = Service(name="registry", address=IPv4Address("10.3.0.250"), port=443)
METRICS = Service(name="metrics", address=IPv4Address("10.3.0.249"), port=8427)


def vpc(inputs_with: Any, isolation: Isolation, egress: Egress, *services: Service) -> TenantNetworkInput:
    found: TenantNetworkInput = inputs_with(TenantNetworkInput, isolation=isolation)[0]
    spec = found.vpc.spec.model_copy(update={"egress": egress})
    return replace(found, vpc=replace(found.vpc, spec=spec, services=services or (REGISTRY,)))


def allowed(network: TenantNetworkInput) -> Reach:
    return reach(network.vpc, network.platform.networks)


@pytest.mark.parametrize("egress", list(Egress))
def test_a_service_in_a_closed_network_is_permitted_at_its_port_before_the_network_is_denied(
    inputs_with: Any, egress: Egress
) -> None:
    rules = verdicts(allowed(vpc(inputs_with, Isolation.DPF_HBN, egress)))

    def permits(port: Ports) -> bool:
        return next(rule for rule in rules if rule.decides(REGISTRY.network, port)).permits

    assert permits(Ports(protocol=Protocol.TCP, far=443))
    assert not permits(Ports(protocol=Protocol.TCP, far=22))
    assert not permits(Ports(protocol=Protocol.UDP, far=443))


@pytest.mark.parametrize(
    ("address", "egress", "services"),
    [
        ("10.2.0.9", Egress.NONE, 0),  # In the storage network, which every VPC can reach
        ("198.18.0.9", Egress.PUBLIC, 0),
        ("198.18.0.9", Egress.NONE, 1),
        ("10.3.0.250", Egress.PUBLIC, 1),
    ],
)
def test_a_service_that_a_vpc_reaches_anyway_needs_no_rule(
    inputs_with: Any, address: str, egress: Egress, services: int
) -> None:
    service = replace(REGISTRY, address=IPv4Address(address))

    assert len(allowed(vpc(inputs_with, Isolation.DPF_HBN, egress, service)).services) == services


def test_a_policy_opens_the_port(inputs_with: Any) -> None:
    [policy] = vpc(inputs_with, Isolation.POLICY_ONLY, Egress.NONE).render()

    assert policy.body["spec"]["egress"][1:] == [
        {"to": [{"ipBlock": {"cidr": "10.3.0.250/32"}}], "ports": [{"protocol": "TCP", "port": 443}]}
    ]


def test_kube_ovn_drops_all_but_the_port(inputs_with: Any) -> None:
    *_, subnet = vpc(inputs_with, Isolation.KUBE_OVN, Egress.NONE).render()
    closed, others, *of_registry = (rule["match"] for rule in subnet.body["spec"]["acls"])

    assert all("10.3.0.250/32" in match.rpartition("!=")[2] for match in (closed, others))
    assert of_registry == [
        "ip4.dst == {10.3.0.250/32} && ip.proto != 6",
        "ip4.dst == {10.3.0.250/32} && tcp.dst != 443",
    ]


def test_two_services_have_their_own_ports_with_each_backend(inputs_with: Any) -> None:
    [policy] = vpc(inputs_with, Isolation.POLICY_ONLY, Egress.NONE, REGISTRY, METRICS).render()
    *_, subnet = vpc(inputs_with, Isolation.KUBE_OVN, Egress.NONE, REGISTRY, METRICS).render()
    rules = verdicts(allowed(vpc(inputs_with, Isolation.DPF_HBN, Egress.NONE, REGISTRY, METRICS)))

    def permits(service: Service, port: int) -> bool:
        ports = Ports(protocol=Protocol.TCP, far=port)
        return next(rule for rule in rules if rule.decides(service.network, ports)).permits

    assert [
        (rule["to"][0]["ipBlock"]["cidr"], rule["ports"][0]["port"]) for rule in policy.body["spec"]["egress"][1:]
    ] == [
        ("10.3.0.250/32", 443),
        ("10.3.0.249/32", 8427),
    ]
    matches = [rule["match"] for rule in subnet.body["spec"]["acls"]]
    assert {"ip4.dst == {10.3.0.250/32} && tcp.dst != 443", "ip4.dst == {10.3.0.249/32} && tcp.dst != 8427"} < {
        *matches
    }
    assert [permits(REGISTRY, 443), permits(METRICS, 8427)] == [True, True]
    assert [permits(REGISTRY, 8427), permits(METRICS, 443)] == [False, False]


def test_a_region_without_an_address_of_its_registry_changes_nothing(inputs_with: Any) -> None:
    found = vpc(inputs_with, Isolation.DPF_HBN, Egress.NONE)
    before = allowed(replace(found, vpc=replace(found.vpc, services=())))

    assert before.services == ()
    assert verdicts(before)[-1].network == ANYWHERE == Network("0.0.0.0/0")
