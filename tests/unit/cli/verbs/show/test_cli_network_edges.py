"""Peerings and security groups in the output of networks: text, data, picture, paths, and edge router contract."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from jacquard.machine import paths

Invoke = Callable[..., Any]
REGION = "us-east-04a"
SVG = "{http://www.w3.org/2000/svg}"
TARGETS = {"ember/ember-train": "4200000004:10004", "ember/ember-serve": "4200000005:10005"}


@pytest.fixture
def everywhere(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """Run ``jacquard`` on the reference environments, which these tests only read."""
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(paths.ROOT / "environments"))
    return invoke


def test_both_vpcs_of_a_peering_name_the_other(everywhere: Invoke) -> None:
    train, serve = TARGETS
    text = everywhere("show", REGION, "network").stdout
    data = json.loads(everywhere("show", REGION, "network", "--format", "json").stdout)

    assert f"  peers   {serve} (route target {TARGETS[serve]})\n" in text
    peers = {f"{vpc['tenant']}/{vpc['vpc']}": vpc["peers"] for vpc in data["vpcs"] if vpc["peers"]}
    assert peers == {train: {serve: TARGETS[serve]}, serve: {train: TARGETS[train]}}


def test_the_picture_names_peers(everywhere: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "network.svg"
    everywhere("show", REGION, "network", "--svg", str(file))

    heads = [text.text or "" for text in ET.parse(file).iter(f"{SVG}text")]  # noqa: S314 - our own output

    assert [head.split(" ")[0] for head in heads if " · peers " in head] == list(TARGETS)


def test_a_path_names_the_peering_as_its_rule_in_both_directions(everywhere: Invoke) -> None:
    ends = ("host:ember-train/h200", "pod:ember-serve")
    found = json.loads(everywhere("show", REGION, "network", "--path", *ends, "--format", "json").stdout)

    assert found["reached"]
    assert [(step["way"], step["device"], step["rule"], step["kept_by"]) for step in found["steps"]] == [
        (
            "there",
            "DPU of the host in ember-train",
            "permits 10.81.0.0/16: pods of its peer ember/ember-serve",
            "rendered",
        ),
        (
            "there",
            "VRF ember-train",
            f"peering with ember/ember-serve: routes of route target {TARGETS['ember/ember-serve']}",
            "rendered",
        ),
        (
            "back",
            "DPU of the host in ember-serve",
            "permits 10.72.144.0/22: hosts of its peer ember/ember-train",
            "rendered",
        ),
        (
            "back",
            "VRF ember-serve",
            f"peering with ember/ember-train: routes of route target {TARGETS['ember/ember-train']}",
            "rendered",
        ),
    ]


def test_the_edge_router_contract_states_that_peers_bypass_it(everywhere: Invoke) -> None:
    text = everywhere("show", REGION, "network", "--border").stdout
    data = json.loads(everywhere("show", REGION, "network", "--border", "--format", "json").stdout)

    message = (
        "  peers       ember/ember-serve (4200000005:10005): between DPUs over the VNI of the peer, bypassing the "
        "border routers\n"
    )
    assert message in text
    assert {vpc["vpc"]: vpc["peers"] for vpc in data["vpcs"] if vpc["peers"]}["ember-serve"] == {
        "ember/ember-train": TARGETS["ember/ember-train"]
    }


@pytest.mark.parametrize(("port", "reached"), [("tcp/443", True), ("tcp/22", False), ("icmp", False), (None, False)])
def test_a_path_to_a_port_applies_the_security_group(everywhere: Invoke, port: str | None, *, reached: bool) -> None:
    options = ("--path", "pod:halcyon-train", "internet", *(("--port", port) if port else ()))
    found = json.loads(everywhere("show", REGION, "network", *options, "--format", "json").stdout)

    assert found["reached"] is reached
    deciding = "permits 0.0.0.0/0, tcp port 443 there" if reached else "denies 0.0.0.0/0"
    assert found["steps"][0]["rule"] == f"{deciding}: security group edge"


def test_the_group_of_a_vpc_is_shown(everywhere: Invoke) -> None:
    assert "  security group   edge\n" in everywhere("show", REGION, "network").stdout


def test_denied_networks_are_shown(everywhere: Invoke) -> None:
    assert "  denied   192.0.2.0/24\n" in everywhere("show", REGION, "network").stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--path", "internet", "pod:halcyon-train", "--port", "443"),
            "--port: '443' is not a protocol and port; write tcp/443 or udp/443",
        ),
        (("--path", "internet", "pod:halcyon-train", "--port", "tcp/0"), "'tcp/0' is not a protocol and port"),
        (
            ("--port", "tcp/443"),
            "--port requires --path; use: jacquard show us-east-04a network --path FROM TO --port tcp/443",
        ),
    ],
)
def test_a_port_that_means_nothing_is_refused(everywhere: Invoke, options: tuple[str, ...], message: str) -> None:
    found = everywhere("show", REGION, "network", *options)

    assert found.exit_code == 2
    assert message in found.stderr
