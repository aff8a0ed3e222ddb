"""Remediation of unhealthy nodes, and the time until a new node counts as available."""

from __future__ import annotations

import pytest

from components.render.pools.node_pool import NodePoolInput
from components.specs.pools.node_pool import BurnIn
from components.specs.pools.nodes import BurnInSpec
from components.specs.struct import replace
from tests.support.data.pools import deployments, edited, of_kind

TESTED = BurnInSpec(condition="acme.example/BurnInPassed", set_by="fleet-tester")


def test_each_group_has_a_separate_health_check(pool: NodePoolInput) -> None:
    counted = replace(pool, groups=tuple(replace(group, most_broken=at) for at, group in enumerate(pool.groups)))
    checks = of_kind(counted, "MachineHealthCheck")
    members = [item.body["spec"]["selector"] for item in of_kind(counted, "MachineDeployment")]

    assert [item.body["spec"]["selector"] for item in checks] == members
    assert [item.name for item in checks] == [item.name for item in of_kind(counted, "MachineDeployment")]
    triggers = [item.body["spec"]["remediation"]["triggerIf"] for item in checks]
    assert triggers == [{"unhealthyLessThanOrEqualTo": at} for at in range(len(pool.groups))]


def test_a_persistent_fault_makes_a_node_unhealthy_like_an_unready_one(pool: NodePoolInput) -> None:
    for item in of_kind(replace(pool, faults={"GpuLost": 300}), "MachineHealthCheck"):
        assert item.body["spec"]["checks"]["unhealthyNodeConditions"] == [
            {"type": "Ready", "status": "False", "timeoutSeconds": 900},
            {"type": "Ready", "status": "Unknown", "timeoutSeconds": 900},
            {"type": "GpuLost", "status": "True", "timeoutSeconds": 300},
        ]


@pytest.mark.parametrize(
    ("wish", "region", "gates"),
    [
        (BurnIn.GATED, TESTED, [{"conditionType": "acme.example/BurnInPassed"}]),
        (BurnIn.NONE, TESTED, None),
        (BurnIn.GATED, None, None),
    ],
)
def test_a_gate_is_only_rendered_if_a_program_opens_it(
    pool: NodePoolInput, wish: BurnIn, region: BurnInSpec | None, gates: object
) -> None:
    for spec in deployments(replace(edited(pool, health={"burn_in": wish}), burn_in=region)):
        assert spec["template"]["spec"].get("readinessGates") == gates


def test_a_gated_group_names_the_program_of_its_burn_in(pool: NodePoolInput) -> None:
    gated = replace(edited(pool, health={"burn_in": BurnIn.GATED}), burn_in=TESTED)

    named = [
        item.body["metadata"]["annotations"].get("jacquard.dev/burn-in-by")
        for item in (*of_kind(gated, "MachineDeployment"), *of_kind(replace(pool, burn_in=TESTED), "MachineDeployment"))
    ]

    assert named == [*["fleet-tester"] * len(pool.groups), *[None] * len(pool.groups)]


@pytest.mark.parametrize(("seconds", "expected"), [(0, None), (300, 300)])
def test_a_new_node_must_stay_ready_as_long_as_the_pool_says(
    pool: NodePoolInput, seconds: int, expected: int | None
) -> None:
    for spec in deployments(edited(pool, health={"min_ready_seconds": seconds})):
        assert spec["template"]["spec"].get("minReadySeconds") == expected


def test_metal3_powers_a_host_off_again_only_after_the_time_of_its_type(pool: NodePoolInput) -> None:
    slow = replace(pool, reboot_seconds=2700)

    for described, seconds in ((pool, 1800), (slow, 2700)):
        [template] = of_kind(described, "Metal3RemediationTemplate")
        assert template.body["spec"]["template"]["spec"]["strategy"] == {
            "type": "Reboot",
            "retryLimit": 1,
            "timeoutSeconds": seconds,
        }
