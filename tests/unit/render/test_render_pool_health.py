"""What is done about broken nodes, and when a new one counts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pools import deployments, edited, of_kind, sized

from components.render.node_pool import NodePoolInput
from components.specs.node_pool import BurnIn
from components.specs.nodes import BurnInSpec

TESTED = BurnInSpec(condition="acme.example/BurnInPassed", set_by="fleet-tester")


@pytest.mark.parametrize(
    ("amount", "nodes", "brake"), [("20%", 4, 1), ("20%", 9, 1), ("20%", 10, 2), ("0%", 4, 0), (0, 4, 0), (3, 4, 3)]
)
def test_the_brake_of_a_small_pool_still_lets_a_node_be_repaired(
    pool: NodePoolInput, amount: int | str, nodes: int, brake: int
) -> None:
    [check] = of_kind(sized(edited(pool, health={"max_unhealthy": amount}), nodes), "MachineHealthCheck")

    assert check.body["spec"]["remediation"]["triggerIf"] == {"unhealthyLessThanOrEqualTo": brake}


@pytest.mark.parametrize(
    ("wish", "region", "gates"),
    [
        (BurnIn.GATED, TESTED, [{"conditionType": "acme.example/BurnInPassed"}]),
        (BurnIn.NONE, TESTED, None),
        (BurnIn.GATED, None, None),
    ],
)
def test_a_gate_stands_only_where_somebody_opens_it(
    pool: NodePoolInput, wish: BurnIn, region: BurnInSpec | None, gates: object
) -> None:
    for spec in deployments(replace(edited(pool, health={"burn_in": wish}), burn_in=region)):
        assert spec["template"]["spec"].get("readinessGates") == gates


def test_who_waits_for_a_burn_in_can_see_whom_for(pool: NodePoolInput) -> None:
    gated = replace(edited(pool, health={"burn_in": BurnIn.GATED}), burn_in=TESTED)

    named = [
        item.body["metadata"]["annotations"].get("jacquard.dev/burn-in-by")
        for item in (*of_kind(gated, "MachineDeployment"), *of_kind(replace(pool, burn_in=TESTED), "MachineDeployment"))
    ]

    assert named == [*["fleet-tester"] * len(pool.groups), *[None] * len(pool.groups)]


@pytest.mark.parametrize(("seconds", "said"), [(0, None), (300, 300)])
def test_a_new_node_must_stay_ready_as_long_as_the_pool_says(
    pool: NodePoolInput, seconds: int, said: int | None
) -> None:
    for spec in deployments(edited(pool, health={"min_ready_seconds": seconds})):
        assert spec["template"]["spec"].get("minReadySeconds") == said
