"""VPCs by Kube-OVN, in each cluster of their tenant."""

from __future__ import annotations

import re
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network
from typing import Any

import pytest

from components.render.node_pool import NodePoolInput
from components.render.tenant_network import TenantNetworkInput
from components.specs.node_pool import PoolRole
from components.specs.tenant_network import Egress

LABELS = {"app.kubernetes.io/managed-by": "jacquard", "jacquard.dev/tenant": "acme"}


def acme(inputs_with: Any, **changes: Any) -> TenantNetworkInput:
    found: TenantNetworkInput = inputs_with(TenantNetworkInput)[0]
    return replace(found, vpc=replace(found.vpc, spec=found.vpc.spec.model_copy(update=changes)))


def test_each_cluster_of_the_tenant_has_the_vpc_once(inputs_with: Any) -> None:
    networks = inputs_with(TenantNetworkInput)

    assert [(item.name, item.cluster) for item in networks] == [
        ("acme-train-acme", "acme-train"),
        ("globex-lab-globex", "globex-lab"),
    ]


def test_the_vpc_and_its_switch_are_these(inputs_with: Any) -> None:
    release, vpc, subnet = acme(inputs_with, egress=Egress.PUBLIC).render()

    assert (release.cluster, release.namespace, release.readiness is not None) == ("management", "acme-train", True)
    assert vpc.cluster == subnet.cluster == "acme-train"
    assert vpc.body == {
        "apiVersion": "kubeovn.io/v1",
        "kind": "Vpc",
        "metadata": {"name": "acme", "labels": LABELS},
        "spec": {"defaultSubnet": "acme-pods"},
    }
    assert subnet.body == {
        "apiVersion": "kubeovn.io/v1",
        "kind": "Subnet",
        "metadata": {"name": "acme-pods", "labels": LABELS},
        "spec": {
            "vpc": "acme",
            "default": True,
            "protocol": "IPv4",
            "cidrBlock": "10.64.0.0/16",
            "gateway": "10.64.0.1",
            "excludeIps": ["10.64.0.1"],
            "gatewayType": "distributed",
            "natOutgoing": True,
            "private": True,
            "allowSubnets": ["10.65.16.0/24", "10.64.0.0/16", "10.65.0.0/20", "10.65.17.0/26", "10.2.0.0/17"],
            "acls": [
                {
                    "action": "drop",
                    "direction": "from-lport",
                    "match": "ip4.dst == {10.0.0.0/16, 10.1.0.0/16, 10.3.0.0/24, 10.4.0.0/22}"
                    " && ip4.dst != {10.3.0.1/32}",
                    "priority": 2500,
                }
            ],
        },
    }


def test_the_cni_takes_the_vpc_for_its_own(inputs_with: Any) -> None:
    release, vpc, subnet = acme(inputs_with).render()

    assert release.body["spec"]["values"] == {
        "MASTER_NODES_LABEL": "node-restriction.kubernetes.io/role=system",
        "networking": {"DEFAULT_VPC": vpc.name, "DEFAULT_SUBNET": subnet.name},
        "ipv4": {"POD_CIDR": "10.64.0.0/16", "POD_GATEWAY": "10.64.0.1", "SVC_CIDR": "10.65.0.0/20"},
    }


def test_its_databases_run_on_nodes_of_a_system_pool(inputs_with: Any) -> None:
    release, *_ = acme(inputs_with).render()
    key, _, value = release.body["spec"]["values"]["MASTER_NODES_LABEL"].partition("=")
    pool = inputs_with(NodePoolInput)[0]

    system = replace(pool, spec=pool.spec.model_copy(update={"role": PoolRole.SYSTEM}))
    [deployment, *_] = [item for item in system.render() if item.kind == "MachineDeployment"]

    assert deployment.body["spec"]["template"]["metadata"]["labels"][key] == value


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
