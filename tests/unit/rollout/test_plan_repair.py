"""How many broken nodes of a group are repaired at once, and how long a new node may take."""

from __future__ import annotations

from typing import Any

import pytest

from components.rollout.repair import most_broken, startup_seconds
from components.specs.pools.node_pool import HealthSpec, NodePoolSpec
from components.specs.pools.nodes import StepDurationsSpec

STEPS = StepDurationsSpec(drain_minutes=90, deprovision_minutes=5, boot_minutes=15, join_minutes=5)


def pool(spares: int | str, **health: Any) -> NodePoolSpec:
    return NodePoolSpec(name="a", instance_type="a", nodes=1, spares=spares, health=HealthSpec(**health))


@pytest.mark.parametrize(
    ("limit", "spares", "nodes", "most"),
    [
        ("20%", 2, 16, 2),  # a whole rack is 16, and none of it is repaired
        ("20%", 30, 16, 3),
        ("20%", 0, 16, 1),  # a node that is rebooted in vain is lost either way
        ("20%", 2, 4, 1),
        ("0%", 2, 16, 0),
        (0, 2, 16, 0),
        (8, 2, 16, 2),
        ("20%", "5%", 1440, 72),
    ],
)
def test_no_more_nodes_are_repaired_at_once_than_are_to_spare(
    laptop: Any, limit: int | str, spares: int | str, nodes: int, most: int
) -> None:
    assert most_broken(laptop.load(), pool(spares, max_unhealthy=limit), nodes) == most


@pytest.mark.parametrize(
    ("nodes", "turns_before"), [(0, 0), (1, 0), (20, 0), (21, 1), (40, 1), (41, 2), (200, 9), (1440, 71)]
)
def test_a_machine_that_waits_for_its_turn_is_not_broken(laptop: Any, nodes: int, turns_before: int) -> None:
    environment = laptop.load()
    nodes_of = environment.region.nodes.model_copy(update={"durations": STEPS})
    measured = environment.model_copy(update={"region": environment.region.model_copy(update={"nodes": nodes_of})})

    assert startup_seconds(environment, pool(0), nodes) == 3600 + turns_before * 30 * 60
    assert startup_seconds(measured, pool(0, node_startup_timeout_seconds=1800), nodes) == 1800 + turns_before * 20 * 60
