"""How the nodes of a pool are replaced and what a drain waits for."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

import pytest
from pools import deployments, edited, of_kind, sized, templates

from components.render.node_pool import NodePoolInput
from components.render.pool_rollout import Replacement, replacement
from components.specs.node_pool import RolloutSpec, RolloutStrategy, ScaleDown
from components.specs.times import WindowSpec

WAITS = {
    "drain": {"behavior": "WaitCompleted"},
    "pods": [
        {
            "selector": {
                "matchExpressions": [
                    {"key": key, "operator": "Exists"},
                    {"key": "jacquard.dev/interruptible", "operator": "NotIn", "values": ["true"]},
                ]
            }
        }
        for key in ("batch.kubernetes.io/job-name", "training.kubeflow.org/job-name")
    ],
}


def test_hosts_are_reused_which_needs_no_surge(pool: NodePoolInput) -> None:
    for spec in deployments(pool):
        assert spec["rollout"]["strategy"]["rollingUpdate"]["maxSurge"] == 0
    for item in of_kind(pool, "Metal3MachineTemplate"):
        assert item.body["spec"]["nodeReuse"] is True


@pytest.mark.parametrize(
    ("amount", "nodes", "unavailable"), [("5%", 8, 1), ("50%", 5, 2), ("50%", 1, 1), ("0%", 8, 1), (0, 8, 1), (2, 8, 2)]
)
def test_no_more_nodes_than_the_limit_but_at_least_one_may_be_away(
    pool: NodePoolInput, amount: int | str, nodes: int, unavailable: int
) -> None:
    [spec] = deployments(sized(edited(pool, rollout={"max_unavailable": amount}), nodes))

    assert spec["rollout"]["strategy"]["rollingUpdate"]["maxUnavailable"] == unavailable
    assert spec["remediation"] == {"maxInFlight": unavailable}


@pytest.mark.parametrize(
    ("surge", "spares", "surges", "away", "reason"),
    [
        (0, 3, 0, 2, "2 at a time on their own hosts: surge is 0"),
        (
            2,
            0,
            0,
            2,
            "2 at a time on their own hosts: 2 first are asked for, but the failure domain has no host to spare",
        ),
        (2, 1, 1, 0, "1 of 2 that are asked for at a time on new hosts first: the failure domain has 1 host to spare"),
        ("50%", 7, 4, 0, "4 at a time on new hosts first: the failure domain has 7 hosts to spare"),
    ],
)
def test_spares_decide_whether_new_nodes_come_first(
    surge: int | str, spares: int, surges: int, away: int, reason: str
) -> None:
    rollout = RolloutSpec(surge=surge, max_unavailable=2)

    found = replacement(rollout, 8, spares)

    assert found == Replacement(max_surge=surges, max_unavailable=away, reason=reason)


def test_a_group_surges_into_the_spares_of_its_own_failure_domain(pool: NodePoolInput) -> None:
    rich, poor = pool.groups
    asking = replace(edited(pool, rollout={"surge": 2}), groups=(replace(rich, spares=1), poor))

    first, second = (spec["rollout"]["strategy"]["rollingUpdate"] for spec in deployments(asking))

    assert first == {"maxSurge": 1, "maxUnavailable": 0}
    assert second == {"maxSurge": 0, "maxUnavailable": 1}
    assert templates(asking) == templates(pool)


def test_a_pause_and_a_restart_are_said_only_when_they_are_meant(pool: NodePoolInput) -> None:
    moment = dt.datetime(2026, 12, 1, 3, 0, tzinfo=dt.timezone(dt.timedelta(hours=1)))
    held = edited(pool, rollout={"paused": True, "after": moment})

    assert [(spec["paused"], spec["rollout"]["after"]) for spec in deployments(held)] == [
        (True, "2026-12-01T02:00:00Z")
    ] * 2
    for spec in deployments(pool):
        assert "paused" not in spec
        assert "after" not in spec["rollout"]


def test_the_window_of_a_tenant_stands_on_what_rolls(pool: NodePoolInput) -> None:
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
    machines: list[Any] = [{"selector": of_kind(one, "MachineHealthCheck")[0].body["spec"]["selector"]}]

    assert [item.body["spec"] for item in of_kind(one, "MachineDrainRule")] == [
        {**rule, "machines": machines} for rule in rules
    ]


def test_a_drain_never_waits_for_ever(pool: NodePoolInput) -> None:
    for spec in deployments(pool):
        assert min(spec["template"]["spec"]["deletion"].values()) > 0
