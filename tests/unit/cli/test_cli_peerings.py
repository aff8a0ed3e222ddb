"""Where a peering is shown: in texts, data and the picture of networks, by a path, and to those who run the border."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from toolchain import paths

Invoke = Callable[..., Any]
REGION = "us-east-04a"
SVG = "{http://www.w3.org/2000/svg}"
TARGETS = {"ember/ember-train": "4200000004:10004", "ember/ember-serve": "4200000005:10005"}


@pytest.fixture
def everywhere(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """Run ``jacquard`` on the reference environments, which nothing here writes to."""
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(paths.ROOT / "environments"))
    return invoke


def test_both_vpcs_of_a_peering_tell_the_other(everywhere: Invoke) -> None:
    train, serve = TARGETS
    text = everywhere("show", REGION, "network").stdout
    data = json.loads(everywhere("show", REGION, "network", "--format", "json").stdout)

    assert f"  peers   {serve} by route target {TARGETS[serve]}\n" in text
    peers = {f"{vpc['tenant']}/{vpc['vpc']}": vpc["peers"] for vpc in data["vpcs"] if vpc["peers"]}
    assert peers == {train: {serve: TARGETS[serve]}, serve: {train: TARGETS[train]}}


def test_the_picture_names_peers(everywhere: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "network.svg"
    everywhere("show", REGION, "network", "--svg", str(file))

    heads = [text.text or "" for text in ET.parse(file).iter(f"{SVG}text")]  # noqa: S314 - our own output

    assert [head.split(" ")[0] for head in heads if " · peers " in head] == list(TARGETS)


def test_a_path_names_the_peering_as_its_rule_there_and_back(everywhere: Invoke) -> None:
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


def test_the_border_is_told_that_peers_pass_it_by(everywhere: Invoke) -> None:
    text = everywhere("show", REGION, "network", "--border").stdout
    data = json.loads(everywhere("show", REGION, "network", "--border", "--format", "json").stdout)

    told = (
        "  peers       ember/ember-serve (4200000005:10005): from DPU to DPU by the VNI of the other, past the border\n"
    )
    assert told in text
    assert {vpc["vpc"]: vpc["peers"] for vpc in data["vpcs"] if vpc["peers"]}["ember-serve"] == {
        "ember/ember-train": TARGETS["ember/ember-train"]
    }
