"""Replacement of a pool's nodes, and the conditions of drains."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from components.render.pools.node_pool import NodePoolInput
from components.specs.pools.node_pool import RolloutStrategy, ScaleDown
from components.specs.struct import replace
from components.specs.times import WindowSpec
from tests.support.data.pools import deployments, edited, of_kind, templates

WAITS = {
    "drain": {"behavior": "WaitCompleted"},
    "pods": [
        {
            "selector": {
                "matchExpressions": [
                    *told_by,
                    {"key": "jacquard.dev/interruptible", "operator": "NotIn", "values": ["true"]},
                ]
            }
        }
        for told_by in (
            [{"key": "batch.kubernetes.io/job-name", "operator": "Exists"}],
            [{"key": "training.kubeflow.org/job-name", "operator": "Exists"}],
            [{"key": "ray.io/cluster", "operator": "Exists"}, {"key": "ray.io/serve", "operator": "DoesNotExist"}],
            [{"key": "nodeset.slinky.slurm.net/pod-protect", "operator": "In", "values": ["true"]}],
        )
    ],
}


def test_each_group_is_replaced_as_its_own_spares_allow(pool: NodePoolInput) -> None:
    rich, poor = pool.groups
    asking = replace(
        pool,
        groups=(replace(rich, max_surge=2, max_unavailable=0), replace(poor, max_surge=0, max_unavailable=3)),
    )

    first, second = deployments(asking)

    assert first["rollout"]["strategy"]["rollingUpdate"] == {"maxSurge": 2, "maxUnavailable": 0}
    assert first["remediation"] == {"maxInFlight": 2}
    assert second["rollout"]["strategy"]["rollingUpdate"] == {"maxSurge": 0, "maxUnavailable": 3}
    assert second["remediation"] == {"maxInFlight": 3}
    assert templates(asking) == templates(pool)


def test_repairs_can_replace_another_number_of_nodes_than_rollouts(pool: NodePoolInput) -> None:
    one_by_one = edited(pool, health={"max_replacements": 1}, rollout={"max_unavailable": 4})

    assert [spec["remediation"] for spec in deployments(one_by_one)] == [{"maxInFlight": 1}] * len(pool.groups)
    assert templates(one_by_one) == templates(pool)


def test_a_pause_and_a_restart_are_only_rendered_if_set(pool: NodePoolInput) -> None:
    moment = dt.datetime(2026, 12, 1, 3, 0, tzinfo=dt.timezone(dt.timedelta(hours=1)))
    groups = tuple(replace(group, intent=group.intent.model_copy(update={"after": moment})) for group in pool.groups)
    held = replace(edited(pool, rollout={"paused": True}), groups=groups)

    assert [(spec["paused"], spec["rollout"]["after"]) for spec in deployments(held)] == [
        (True, "2026-12-01T02:00:00Z")
    ] * 2
    for spec in deployments(pool):
        assert "paused" not in spec
        assert "after" not in spec["rollout"]


def test_the_window_of_a_tenant_is_rendered_on_its_deployments(pool: NodePoolInput) -> None:
    window = WindowSpec.model_validate(
        {"days": ["tue", "thu"], "from": "02:00", "to": "06:00", "timezone": "America/New_York"}
    )

    for item in of_kind(replace(pool, window=window), "MachineDeployment"):
        assert item.body["metadata"]["annotations"]["jacquard.dev/window"] == "tue,thu 02:00-06:00 America/New_York"


@pytest.mark.parametrize(
    ("strategy", "scale_down", "rules"),
    [
        (RolloutStrategy.ROLLING, ScaleDown.PREFER_IDLE, []),
        (RolloutStrategy.IDLE, ScaleDown.PREFER_IDLE, [WAITS]),
        (RolloutStrategy.ROLLING, ScaleDown.IDLE_ONLY, [WAITS]),
        (RolloutStrategy.IDLE, ScaleDown.IDLE_ONLY, [WAITS]),
    ],
)
def test_nodes_wait_for_jobs_that_may_not_be_interrupted(
    pool: NodePoolInput, strategy: RolloutStrategy, scale_down: ScaleDown, rules: list[Any]
) -> None:
    one = edited(pool, rollout={"strategy": strategy}, scale_down=scale_down)
    mine = {"cluster.x-k8s.io/cluster-name": pool.cluster, "jacquard.dev/pool": pool.spec.name}
    machines: list[Any] = [{"selector": {"matchLabels": mine}}]

    assert [item.body["spec"] for item in of_kind(one, "MachineDrainRule")] == [
        {**rule, "machines": machines} for rule in rules
    ]
    limits = {spec["template"]["spec"]["deletion"].get("nodeDrainTimeoutSeconds") for spec in deployments(one)}
    assert limits == {None if rules else 3600}
