"""left-out-add-on."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from components.lookups.add_ons import CONSEQUENCES, left_out
from components.specs.add_ons.add_ons import Capability
from components.specs.environment import Environment
from jacquard.machine import paths
from policies.check import judge
from policies.facts import Context, Fact, object_fact
from policies.rules.clusters.left_out_add_on import RULE
from policies.verdict import Verdict
from tests.support.data.environment_data import copy_data
from tests.support.data.workbench import Workbench

OWN = ("add_ons: default", "add_ons: default\n    without_add_ons: {metrics-server: the tenant runs its own}")


@pytest.fixture
def edited(tmp_path: Path) -> Callable[[tuple[str, str]], Environment]:
    """Return a function that returns laptop with an edit of its first tenant."""
    bench = Workbench(copy_data(tmp_path / "environments", "laptop"))

    def edit(change: tuple[str, str]) -> Environment:
        bench.edit("tenants/acme.yaml", *change)
        return bench.load()

    return edit


def test_reports_missing_functions_and_reasons(
    edited: Callable[..., Environment], text: Callable[..., str], now: dt.datetime
) -> None:
    environment = edited(OWN)
    [fact] = [object_fact(body("acme-train"), "management")]

    assert text(RULE, fact, Context.of(environment, now)) == (
        "left-out-add-on: Cluster acme-train/acme-train in cluster management\n  found:   metrics-server is left out"
        " (the tenant runs its own), so kubectl top and autoscaling by CPU have no metrics\n  allowed: all default"
        " add-ons, or add-ons that provide the same capabilities\n  why:     jobs that run in every other cluster wait"
        " or fail in this cluster\n  fix:     remove them from without_add_ons, or inform the tenant and add a waiver"
        " for this cluster\n  waiver:  add an entry to environments/laptop/waivers.yaml with subject Cluster"
        " acme-train/acme-train"
    )


def test_check_advises_once_for_each_cluster(edited: Callable[..., Environment], now: dt.datetime) -> None:
    found = judge(edited(OWN), now)

    assert [item.rule.name for item in found.advised] == ["left-out-add-on"]
    assert found.refused == ()


@pytest.mark.parametrize(
    "data",
    ["add_ons: default", "add_ons: [default, calico]", "add_ons: [cilium]"],
    ids=["all", "another network", "a list that the cluster chose"],
)
def test_nothing_is_left_out_of(data: str, edited: Callable[..., Environment]) -> None:
    assert left_out(edited(("add_ons: default", data))) == {}


def test_clusters_of_another_kind_are_not_evaluated(edited: Callable[..., Environment], now: dt.datetime) -> None:
    other: Fact = object_fact({**body("acme-train"), "apiVersion": "provisioning.example/v1"}, "management")

    assert RULE.judge(other, Context.of(edited(OWN), now)).verdict is Verdict.PASS


def test_every_capability_has_a_consequence_or_is_mandatory() -> None:
    assert CONSEQUENCES.keys() == {*Capability, None} - {Capability.NETWORK}


def test_the_page_lists_the_same_consequences() -> None:
    page = (paths.ROOT / "docs/add-ons/add-ons.md").read_text(encoding="utf-8").replace("`", "")

    assert [consequence for gift, consequence in CONSEQUENCES.items() if gift and consequence not in page] == []


def body(name: str) -> dict[str, Any]:
    return {"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": {"name": name, "namespace": name}}
