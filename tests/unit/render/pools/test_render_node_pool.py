"""Pools, rollout groups and templates."""

from __future__ import annotations

from typing import Any

import pytest

from components.render.manifest import objects
from components.render.pools.node_pool import NodePoolInput, RolloutGroup
from components.specs.locks import GroupAllocation
from components.specs.pools.node_pool import NodePoolSpec, PoolRole, ScaleDown
from components.specs.struct import replace
from tests.support.data.pools import deployments, edited, of_kind, templates


def test_a_new_image_in_one_group_changes_that_groups_templates_only(pool: NodePoolInput) -> None:
    first, *others = pool.groups
    intent = first.intent.model_copy(update={"image": "gpu-next", "sha256": "f" * 64})
    bumped = replace(pool, groups=(replace(first, intent=intent), *others))

    old, new = templates(pool), templates(bumped)

    assert len(old - new) == len(new - old) == 2
    assert all(f"-{first.failure_domain}-" in key for key in old ^ new)
    assert deployments(bumped)[1:] == deployments(pool)[1:]


def test_a_taint_creates_new_templates_of_all_groups(pool: NodePoolInput) -> None:
    groups = tuple(replace(group, intent=group.intent.model_copy(update={"taints": ()})) for group in pool.groups)

    assert templates(replace(pool, groups=groups)).isdisjoint(
        {key for key in templates(pool) if "KubeadmConfigTemplate" in key}
    )


def test_an_unpromoted_taint_creates_no_template(pool: NodePoolInput) -> None:
    assert edited(pool, taints=()).render() == pool.render()


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
def test_in_place_changes_do_not_affect_templates(pool: NodePoolInput, changes: dict[str, Any]) -> None:
    assert templates(edited(pool, **changes)) == templates(pool)


def test_labels_reach_nodes_and_tenants_cannot_set_ours(pool: NodePoolInput) -> None:
    label = "node-restriction.kubernetes.io/pool"
    [spec] = deployments(replace(edited(pool, labels={"workload": "x", label: "y"}), groups=pool.groups[:1]))

    labels = spec["template"]["metadata"]["labels"]

    assert labels["node.cluster.x-k8s.io/workload"] == "x"
    assert labels[label] == pool.spec.name


def test_annotations_reach_machines_in_place_and_are_left_out_when_there_are_none(pool: NodePoolInput) -> None:
    noted = edited(pool, annotations={"acme.example/cost-centre": "42"})

    assert [spec["template"]["metadata"]["annotations"] for spec in deployments(noted)] == [
        {"acme.example/cost-centre": "42"}
    ] * len(pool.groups)
    assert all("annotations" not in spec["template"]["metadata"] for spec in deployments(pool))
    assert templates(noted) == templates(pool)


@pytest.mark.parametrize(("role", "label"), [(PoolRole.SYSTEM, "system"), (PoolRole.WORKER, None)])
def test_nodes_of_a_system_pool_have_a_label_that_tenants_cannot_write(
    pool: NodePoolInput, role: PoolRole, label: str | None
) -> None:
    for spec in deployments(edited(pool, role=role)):
        assert spec["template"]["metadata"]["labels"].get("node-restriction.kubernetes.io/role") == label


def test_names_stay_within_a_label_when_parts_are_long(pool: NodePoolInput) -> None:
    group: RolloutGroup = replace(pool.groups[0], failure_domain="r" * 63)
    long = replace(edited(pool, name="p" * 15), cluster="c" * 30, name=f"{'c' * 30}-{'p' * 15}", groups=(group,))

    assert {len(item.name) for item in of_kind(long, "MachineDeployment")} == {63}
    assert {len(item.name) for item in of_kind(long, "MachineHealthCheck")} == {63}
    assert max(len(item.name) for item in objects(long.render())) <= 253


def test_the_autoscaler_owns_replicas_within_bounds_and_knows_an_empty_group(pool: NodePoolInput) -> None:
    size = GroupAllocation(nodes=4, min_nodes=0, max_nodes=6)
    grown = replace(edited(pool, autoscaling=True), groups=(replace(pool.groups[0], size=size),))

    [deployment] = of_kind(grown, "MachineDeployment")

    assert "replicas" not in deployment.body["spec"]
    prefix, capacity = "cluster.x-k8s.io/cluster-api-autoscaler-node-group", "capacity.cluster-autoscaler.kubernetes.io"
    annotations = deployment.body["metadata"]["annotations"]
    assert {key: value for key, value in annotations.items() if "autoscaler" in key} == {
        f"{prefix}-min-size": "0",
        f"{prefix}-max-size": "6",
        f"{capacity}/cpu": "224",
        f"{capacity}/memory": "2048Gi",
        f"{capacity}/maxPods": "110",
        f"{capacity}/gpu-type": "nvidia.com/gpu",
        f"{capacity}/gpu-count": "8",
        f"{capacity}/labels": ",".join(
            (
                "cluster-api/accelerator=h100-ib-8",
                f"node-restriction.kubernetes.io/failure-domain={pool.groups[0].failure_domain}",
                "node-restriction.kubernetes.io/instance-type=h100-ib-8",
                "node-restriction.kubernetes.io/pool=train",
                "node.cluster.x-k8s.io/workload=training",
            )
        ),
        f"{capacity}/taints": "workload=training:NoSchedule",
    }


@pytest.mark.parametrize(
    ("scale_down", "used"),
    [
        (ScaleDown.PREFER_IDLE, {}),
        (
            ScaleDown.IDLE_ONLY,
            {"scaledownutilizationthreshold": "0.001", "scaledowngpuutilizationthreshold": "0.001"},
        ),
    ],
)
def test_the_autoscaler_waits_for_new_hosts_and_removes_busy_nodes_only_on_request(
    pool: NodePoolInput, scale_down: ScaleDown, used: dict[str, str]
) -> None:
    bounds = {"min_nodes": 1, "max_nodes": 6, "autoscaling": True}
    groups = of_kind(edited(pool, scale_down=scale_down, **bounds), "MachineDeployment")

    prefix = "cluster.x-k8s.io/autoscaling-options-"
    options = {"maxnodeprovisiontime": f"{pool.startup_seconds}s", **used}
    for group in groups:
        annotations = {
            key: value for key, value in group.body["metadata"]["annotations"].items() if key.startswith(prefix)
        }
        assert annotations == {f"{prefix}{name}": value for name, value in options.items()}


@pytest.mark.parametrize(("burn_in", "limit"), [(0, None), (90_000, "93600s")])
def test_the_autoscaler_expects_a_node_until_the_end_of_its_burn_in(
    pool: NodePoolInput, burn_in: int, limit: str | None
) -> None:
    grown = edited(replace(pool, burn_in_seconds=burn_in), min_nodes=1, max_nodes=6, autoscaling=True)

    for group in of_kind(grown, "MachineDeployment"):
        annotations = group.body["metadata"]["annotations"]
        assert annotations.get("cluster.x-k8s.io/autoscaling-options-maxnodestartuptime") == limit
