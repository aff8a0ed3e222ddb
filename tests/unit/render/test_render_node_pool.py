"""Pools, rollout groups and templates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from components.render.node_pool import NodePoolInput, RolloutGroup, render_node_pool
from components.render.node_templates import TemplateIntent
from components.render.objects import digest
from components.render.template_revision_1 import build
from components.specs.node_pool import NodePoolSpec, RolloutStrategy

TEMPLATES = {"Metal3MachineTemplate", "KubeadmConfigTemplate"}


@pytest.fixture
def pool(inputs_of: Any) -> NodePoolInput:
    """Return a pool with two rollout groups and a taint."""
    return next(item for item in inputs_of(NodePoolInput) if item.pool.taints and len(item.groups) > 1)


def edited(pool: NodePoolInput, **changes: Any) -> NodePoolInput:
    return replace(pool, pool=pool.pool.model_copy(update=changes))


def templates(pool: NodePoolInput) -> set[str]:
    return {item.key for item in render_node_pool(pool) if item.kind in TEMPLATES}


def deployments(pool: NodePoolInput) -> list[dict[str, Any]]:
    return [dict(item.body["spec"]) for item in render_node_pool(pool) if item.kind == "MachineDeployment"]


def test_revision_1_stays_byte_identical() -> None:
    intent = TemplateIntent(
        pool="train",
        failure_domain="a01",
        image_version="gpu-1",
        image_url="https://images.cloud.example/gpu-1.raw",
        image_sha256="0" * 64,
        taints=(("workload", "training", "NoSchedule"), ("spare", "", "NoExecute")),
    )

    built = build(intent)

    # A new figure here means that every node of every region rolls on the next upgrade: make a revision 2 instead.
    assert (digest(built.machine, 10), digest(built.bootstrap, 10)) == ("c6d1700f95", "779831a551")


def test_a_new_image_in_one_group_changes_that_groups_templates_only(pool: NodePoolInput) -> None:
    first, *others = pool.groups
    pin = first.pin.model_copy(update={"sha256": "f" * 64})
    image = first.image.model_copy(update={"version": "gpu-next"})
    bumped = replace(pool, groups=(replace(first, image=image, pin=pin), *others))

    old, new = templates(pool), templates(bumped)

    assert len(old - new) == len(new - old) == 2
    assert all(f"-{first.failure_domain}-" in key for key in old ^ new)
    assert deployments(bumped)[1:] == deployments(pool)[1:]


def test_a_taint_makes_new_templates_of_all_groups(pool: NodePoolInput) -> None:
    assert templates(edited(pool, taints=())).isdisjoint(
        {key for key in templates(pool) if "KubeadmConfigTemplate" in key}
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"labels": {"workload": "other"}},
        {"nodes": 3},
        {"rollout": NodePoolSpec(name="a", instance_type="a", nodes=1).rollout},
        {"health": NodePoolSpec(name="a", instance_type="a", nodes=1).health.model_copy(update={"max_unhealthy": 1})},
    ],
    ids=["labels", "nodes", "rollout", "health"],
)
def test_what_is_changed_in_place_leaves_templates_alone(pool: NodePoolInput, changes: dict[str, Any]) -> None:
    assert templates(edited(pool, **changes)) == templates(pool)


def test_templates_are_retained_and_referred_to_by_name(pool: NodePoolInput) -> None:
    rendered = render_node_pool(pool)
    names = {(item.kind, item.name) for item in rendered if item.kind in TEMPLATES}

    assert {item.kind for item in rendered if item.retain} == TEMPLATES
    for spec in deployments(pool):
        machine = spec["template"]["spec"]
        references = (machine["infrastructureRef"], machine["bootstrap"]["configRef"])
        assert {(reference["kind"], reference["name"]) for reference in references} <= names


def test_hosts_are_reused_which_needs_no_surge(pool: NodePoolInput) -> None:
    rendered = render_node_pool(pool)

    for spec in deployments(pool):
        assert spec["rollout"]["strategy"]["rollingUpdate"]["maxSurge"] == 0
    for item in rendered:
        if item.kind == "Metal3MachineTemplate":
            assert item.body["spec"]["nodeReuse"] is True


@pytest.mark.parametrize(
    ("amount", "nodes", "unavailable"), [("5%", 8, 1), ("50%", 5, 2), ("50%", 1, 1), ("0%", 8, 1), (0, 8, 1), (2, 8, 2)]
)
def test_no_more_nodes_than_the_limit_but_at_least_one_may_be_away(
    pool: NodePoolInput, amount: int | str, nodes: int, unavailable: int
) -> None:
    rollout = pool.pool.rollout.model_copy(update={"max_unavailable": amount})
    one = replace(edited(pool, rollout=rollout), groups=(replace(pool.groups[0], nodes=nodes),))

    [spec] = deployments(one)

    assert spec["rollout"]["strategy"]["rollingUpdate"]["maxUnavailable"] == unavailable


def test_a_deployment_selects_its_own_machines_and_a_health_check_all_of_the_pool(pool: NodePoolInput) -> None:
    [check] = [item for item in render_node_pool(pool) if item.kind == "MachineHealthCheck"]

    for spec in deployments(pool):
        labels = spec["template"]["metadata"]["labels"]
        assert spec["selector"]["matchLabels"].items() <= labels.items()
        assert check.body["spec"]["selector"]["matchLabels"].items() <= labels.items()
        assert spec["clusterName"] == spec["template"]["spec"]["clusterName"] == pool.cluster
    assert len({str(spec["selector"]) for spec in deployments(pool)}) == len(pool.groups)


@pytest.mark.parametrize(
    ("amount", "nodes", "brake"), [("20%", 4, 1), ("20%", 9, 1), ("20%", 10, 2), ("0%", 4, 0), (0, 4, 0), (3, 4, 3)]
)
def test_the_brake_of_a_small_pool_still_lets_a_node_be_repaired(
    pool: NodePoolInput, amount: int | str, nodes: int, brake: int
) -> None:
    health = pool.pool.health.model_copy(update={"max_unhealthy": amount})
    one = replace(edited(pool, health=health), groups=(replace(pool.groups[0], nodes=nodes),))

    [check] = [item for item in render_node_pool(one) if item.kind == "MachineHealthCheck"]

    assert check.body["spec"]["remediation"]["triggerIf"] == {"unhealthyLessThanOrEqualTo": brake}


def test_remediation_has_a_brake_and_metal_sized_patience(pool: NodePoolInput) -> None:
    [check] = [item for item in render_node_pool(pool) if item.kind == "MachineHealthCheck"]
    spec = check.body["spec"]

    assert 1 <= spec["remediation"]["triggerIf"]["unhealthyLessThanOrEqualTo"] < sum(g.nodes for g in pool.groups)
    assert spec["checks"]["nodeStartupTimeoutSeconds"] >= 1800
    assert spec["remediation"]["templateRef"]["name"] in {
        item.name for item in render_node_pool(pool) if item.kind == "Metal3RemediationTemplate"
    }


def test_an_idle_roll_waits_for_jobs_to_end(pool: NodePoolInput) -> None:
    def rules(strategy: RolloutStrategy) -> list[Any]:
        one = edited(pool, rollout=pool.pool.rollout.model_copy(update={"strategy": strategy}))
        return [item.body["spec"]["drain"] for item in render_node_pool(one) if item.kind == "MachineDrainRule"]

    assert rules(RolloutStrategy.IDLE) == [{"behavior": "WaitCompleted"}]
    assert rules(RolloutStrategy.ROLLING) == []


def test_a_drain_never_waits_for_ever(pool: NodePoolInput) -> None:
    for spec in deployments(pool):
        assert min(spec["template"]["spec"]["deletion"].values()) > 0


def test_labels_reach_nodes_and_ours_are_out_of_a_tenants_reach(pool: NodePoolInput) -> None:
    label = "node-restriction.kubernetes.io/pool"
    [spec] = deployments(replace(edited(pool, labels={"workload": "x", label: "y"}), groups=pool.groups[:1]))

    labels = spec["template"]["metadata"]["labels"]

    assert labels["node.cluster.x-k8s.io/workload"] == "x"
    assert labels[label] == pool.pool.name


def test_a_node_has_the_version_its_image_brings(pool: NodePoolInput) -> None:
    assert [spec["template"]["spec"]["version"] for spec in deployments(pool)] == [
        group.image.contents.kubelet for group in pool.groups
    ]


def test_names_stay_within_a_label_when_parts_are_long(pool: NodePoolInput) -> None:
    group: RolloutGroup = replace(pool.groups[0], failure_domain="r" * 63)
    long = replace(edited(pool, name="p" * 15), cluster="c" * 30, name=f"{'c' * 30}-{'p' * 15}", groups=(group,))

    assert max(len(item.name) for item in render_node_pool(long) if item.kind == "MachineDeployment") == 63
    assert max(len(item.name) for item in render_node_pool(long)) <= 253
