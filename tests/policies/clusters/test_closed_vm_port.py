"""closed-vm-port."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from components.render.network.dpus import HBN_IMAGE
from components.specs.environment import Environment
from components.specs.network.tenant_network import Ingress
from policies.check import judge
from policies.environment_facts import closed_ports
from policies.facts import Context, object_fact
from policies.rules.clusters.closed_vm_port import RULE
from tests.support.data.environment_data import copy_data
from tests.support.data.workbench import Workbench

GROUP = "egress: public\n    security_group: edge\n\nsecurity_groups:\n  - name: edge\n    "
CLOSED = "ingress: [{cidr: 0.0.0.0/0, protocol: tcp, ports: [443]}, {cidr: 0.0.0.0/0, protocol: udp, ports: [22]}]\n"


@pytest.fixture
def grouped(tmp_path: Path) -> Callable[[str], Environment]:
    """Return a function that returns laptop with security group rules for the VPC of its VM with a public address."""
    bench = Workbench(copy_data(tmp_path / "environments", "laptop"))

    def edit(rules: str) -> Environment:
        bench.edit("tenants/acme.yaml", "egress: public\n", GROUP + rules)
        return bench.load()

    return edit


def test_reports_group_port_and_the_rule_to_add(
    grouped: Callable[..., Environment], text: Callable[..., str], now: dt.datetime
) -> None:
    cluster = {"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster"}
    fact = object_fact({**cluster, "metadata": {"name": "acme-train", "namespace": "acme-train"}}, "management")

    assert text(RULE, fact, Context.of(grouped(CLOSED), now)) == (
        "closed-vm-port: Cluster acme-train/acme-train in cluster management\n"
        "  found:   tcp/22 of VM bastion is blocked by security group edge\n"
        "  allowed: ports that an ingress rule of the VPC's security group allows\n"
        "  why:     a reader of the VM alone would assume that the port is reachable\n"
        "  fix:     add {cidr: 0.0.0.0/0, protocol: tcp, ports: [22]} to ingress of edge (tenants/acme.yaml); or remove"
        " the ports from the VMs\n"
        "  waiver:  add an entry to environments/laptop/waivers.yaml with subject Cluster acme-train/acme-train"
    )


def test_check_advises_once_for_each_cluster(grouped: Callable[..., Environment], now: dt.datetime) -> None:
    found = judge(grouped(CLOSED), now)

    assert [item.rule.name for item in found.advised] == ["closed-vm-port"]
    assert found.refused == ()


@pytest.mark.parametrize(
    "rules",
    [
        "ingress: [{cidr: 0.0.0.0/0, protocol: tcp, ports: [22]}]\n",
        "ingress: [{cidr: 198.51.100.0/24, protocol: tcp, ports: [22]}]\n",
        "ingress: [{cidr: 0.0.0.0/0}]\n",
    ],
    ids=["the port", "for some", "everything"],
)
def test_a_port_is_open_by(rules: str, grouped: Callable[..., Environment]) -> None:
    assert closed_ports(grouped(rules)) == {}


@pytest.mark.parametrize(
    "rules",
    [
        "egress: [{cidr: 0.0.0.0/0, protocol: tcp, ports: [22]}]\n",
        "egress: [{cidr: 0.0.0.0/0, protocol: tcp}]\n",
        "ingress: [{cidr: 0.0.0.0/0, protocol: icmp}]\n",
    ],
    ids=["the same port outside", "connections from inside", "another protocol"],
)
def test_a_port_is_closed_in_spite_of(rules: str, grouped: Callable[..., Environment]) -> None:
    assert list(closed_ports(grouped(rules))) == ["acme-train"]


def test_unreachable_ports_are_not_reported(grouped: Callable[..., Any]) -> None:
    environment = grouped(CLOSED)
    acme = environment.tenants[0]
    closed = acme.model_copy(update={"vpcs": (acme.vpcs[0].model_copy(update={"ingress": Ingress.NONE}),)})

    assert closed_ports(environment.model_copy(update={"tenants": (closed,)})) == {}


def test_without_connection_tracking_a_rule_for_connections_from_inside_opens_ports(
    grouped: Callable[..., Environment],
) -> None:
    environment = grouped("egress: [{cidr: 0.0.0.0/0, protocol: tcp}]\n")
    tools = [
        tool.model_copy(update={"tag": "2.2.0-doca2.7.0"}) if tool.name == HBN_IMAGE else tool
        for tool in environment.versions.tools
    ]
    versions = environment.versions.model_copy(update={"tools": tuple(tools)})

    assert closed_ports(environment.model_copy(update={"versions": versions})) == {}
