"""shared-control-plane-host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from components.render.control_planes.control_plane import spread
from components.specs.base import Stage
from components.specs.region.policy import Enforcement
from components.specs.struct import replace
from policies.facts import UNKNOWN, Context, Fact, object_fact
from policies.rules.clusters.shared_control_plane_host import RULE
from policies.verdict import Verdict

KINDS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "KamajiControlPlane": lambda constraints: {"deployment": {"topologySpreadConstraints": constraints}},
    "K0smotronControlPlane": lambda constraints: {"topologySpreadConstraints": constraints},
}


def control_plane(kind: str, constraints: Any) -> Fact:
    metadata = {"name": "acme-train", "namespace": "acme-train"}
    return object_fact({"kind": kind, "metadata": metadata, "spec": KINDS[kind](constraints)}, "management")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("hosts", [None, 2])
def test_reports_members_that_can_share_a_host(
    kind: str, hosts: int | None, context: Context, text: Callable[..., str]
) -> None:
    production = replace(context, stage=Stage.PRODUCTION)

    assert text(RULE, control_plane(kind, spread({"app": "a"}, 3, hosts)), production) == (
        f"shared-control-plane-host: {kind} acme-train/acme-train in cluster management\n"
        "  found:   members of an etcd, or replicas, can share a host of the management cluster\n"
        "  allowed: one host for each member of an etcd and for each replica of a control plane\n"
        "  why:     if one host with most members of an etcd fails, the clusters in this etcd have no API\n"
        "  fix:     set control_planes.hosts in region.yaml, at least as many as etcd members and replicas\n"
        f"  waiver:  add an entry to environments/laptop/waivers.yaml with subject {kind} acme-train/acme-train"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_passes_enough_hosts(kind: str, context: Context) -> None:
    assert RULE.judge(control_plane(kind, spread({"app": "a"}, 3, 3)), context).verdict is Verdict.PASS


@pytest.mark.parametrize("kind", KINDS)
def test_unknown_values_are_undecided(kind: str, context: Context) -> None:
    assert RULE.judge(control_plane(kind, UNKNOWN), context).verdict is Verdict.UNDECIDED


def test_is_advice_in_production_only(context: Context) -> None:
    levels = {stage: RULE.level(replace(context, stage=stage)) for stage in Stage}

    assert [stage for stage, level in levels.items() if level] == [Stage.PRODUCTION]
    assert levels[Stage.PRODUCTION] is Enforcement.ADVISORY


def test_a_region_in_production_has_a_host_for_each_member(
    rendered_by_ironcore: Callable[[str], list[Fact]], context: Context
) -> None:
    facts = rendered_by_ironcore("K0smotronControlPlane")

    assert facts
    assert {RULE.judge(fact, context).verdict for fact in facts} == {Verdict.PASS}
