"""Rollout groups in the cluster: found by name, with the requested number of nodes."""

from __future__ import annotations

import pytest

from components.render.manifest import MANAGEMENT
from components.render.pools.node_pool import group_name
from components.specs.environment import Environment
from components.specs.locks import GroupAllocation
from jacquard.observe.observation import Observation
from jacquard.observe.pool_status import Pools

TRAIN = "acme-train-train-a01"


def test_a_group_with_a_truncated_name_is_found_by_its_prefix(laptop: Environment) -> None:
    pool = "a-pool-with-a-name-that-is-far-too-long-for-the-label-it-becomes"
    metadata = {"name": group_name("acme-train", pool, "a01"), "namespace": "acme-train"}
    seen = Observation(objects={(MANAGEMENT, "MachineDeployment"): [{"metadata": metadata, "spec": {"replicas": 2}}]})

    found = Pools(laptop, seen).group("acme-train", pool, "a01", GroupAllocation(nodes=1))

    assert (len(found.name), found.why) == (63, ["the MachineDeployment declares 2 nodes, the data 1"])


@pytest.mark.parametrize(
    ("ordered", "total", "why"),
    [
        (2, 2, []),
        (5, 5, []),
        (1, 2, ["the MachineDeployment declares 1 nodes, the data 2"]),
        (7, 6, ["the MachineDeployment declares 7 nodes, the data 6"]),
    ],
)
def test_a_group_with_an_autoscaler_has_as_many_nodes_as_that_orders(
    laptop: Environment, seen: Observation, ordered: int, total: int, why: list[str]
) -> None:
    deployment = next(body for body in seen.of("MachineDeployment") if body["metadata"]["name"] == TRAIN)
    deployment["spec"]["replicas"] = ordered
    counters = ("replicas", "readyReplicas", "availableReplicas", "upToDateReplicas")
    deployment["status"].update(dict.fromkeys(counters, ordered))
    machines = [body for body in seen.of("Machine") if body["metadata"]["name"].startswith(TRAIN)]
    for body in machines[ordered:]:
        seen.of("Machine").remove(body)

    found = Pools(laptop, seen).group("acme-train", "train", "a01", GroupAllocation(nodes=3, min_nodes=2, max_nodes=6))

    assert (found.total, found.why) == (total, why)
