"""Groups whose nodes wait only for their burn-in: the region is settled, and reports its expected end."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from components.specs.environment import Environment
from components.specs.pools.node_pool import BurnIn
from components.specs.pools.nodes import BURN_IN_PASSED, BurnInSpec, NodesSpec, StepDurationsSpec
from components.specs.struct import replace
from jacquard.cli.views.region.status import verdict
from jacquard.observe.observation import Observation
from jacquard.observe.region_status import RegionStatus, assemble
from tests.support.objects.status_example import console, text

NOW = dt.datetime(2026, 11, 20, 8, 30, tzinfo=dt.UTC)
INFER = "acme-train-infer-a03"
READY = {"NodeReady": "True", "NodeHealthy": "True", "HealthCheckSucceeded": "True", "UpToDate": "True"}
WAITING = {**READY, "Ready": "Unknown"}


def gated(environment: Environment, nodes: NodesSpec | None = None) -> Environment:
    """Return the environment with a burn-in of the pool infer."""
    acme, *others = environment.tenants
    cluster = acme.clusters[0]
    pools = tuple(
        pool.model_copy(update={"health": pool.health.model_copy(update={"burn_in": BurnIn.GATED})})
        if pool.name == "infer"
        else pool
        for pool in cluster.pools
    )
    tenant = acme.model_copy(update={"clusters": (cluster.model_copy(update={"pools": pools}),)})
    region = environment.region.model_copy(update={"nodes": nodes or environment.region.nodes})
    return environment.model_copy(update={"tenants": (tenant, *others), "region": region})


def in_burn_in(seen: Observation, hours: int, **states: str) -> Observation:
    """Return the responses with the last node of the group ready for ``hours``, and its Machine in these states."""
    machine = [body for body in seen.of("Machine") if body["metadata"]["name"].startswith(INFER)][-1]
    since = (NOW - dt.timedelta(hours=hours)).isoformat()
    states = WAITING | states
    machine["status"]["conditions"] = [
        {"type": kind, "status": status, "lastTransitionTime": since} for kind, status in states.items()
    ]
    deployment = _deployment(seen)
    deployment["status"]["readyReplicas"] -= 1
    deployment["status"]["availableReplicas"] -= 1
    available = next(one for one in deployment["status"]["conditions"] if one["type"] == "Available")
    available["status"] = "False"
    return replace(seen, at=NOW)


def _deployment(seen: Observation) -> dict[str, Any]:
    return next(body for body in seen.of("MachineDeployment") if body["metadata"]["name"] == INFER)


def shown(status: RegionStatus) -> str:
    screen = console()
    screen.print(verdict(status))
    return text(screen)


def test_a_region_whose_nodes_are_in_burn_in_is_settled(laptop: Environment, seen: Observation) -> None:
    """A round of the tests of an H100 takes 161 minutes, and nine rounds the 24 hours."""
    status = assemble(gated(laptop), in_burn_in(seen, hours=2))
    total = next(group.total for pool in status.pools for group in pool.groups if group.name == INFER)

    assert (status.settled, status.why) == (True, [])
    line = f"acme-train/infer a03: 1 of {total} nodes in burn-in until 2026-11-21 06:39 UTC"
    assert status.burn_in == [line]
    assert shown(status) == f"laptop: settled, everything matches the data\n  {line}\n"
    assert all(chart.settled for chart in status.charts)


def test_a_group_with_a_node_in_burn_in_is_no_evidence_for_the_next_wave(
    laptop: Environment, seen: Observation
) -> None:
    status = assemble(gated(laptop), in_burn_in(seen, hours=2))
    group = next(group for pool in status.pools for group in pool.groups if group.name == INFER)

    assert (group.settled, group.settled_since, len(group.why)) == (False, None, 1)


@pytest.mark.parametrize(
    ("hours", "states"),
    [
        pytest.param(49, {}, id="burn-in does not end"),
        pytest.param(2, {BURN_IN_PASSED: "False"}, id="failed"),
        pytest.param(2, {"NodeHealthy": "False"}, id="unhealthy node"),
        pytest.param(2, {"NodeReady": "False"}, id="node not ready"),
        pytest.param(2, {"HealthCheckSucceeded": "False"}, id="failed health check"),
    ],
)
def test_other_reasons_than_the_burn_in_are_not_settled(
    laptop: Environment, seen: Observation, hours: int, states: dict[str, str]
) -> None:
    status = assemble(gated(laptop), in_burn_in(seen, hours, **states))

    assert (status.settled, status.burn_in) == (False, [])
    assert "nodes ready" in status.why[0]


def test_a_group_that_is_also_rolling_out_is_not_settled(laptop: Environment, seen: Observation) -> None:
    found = in_burn_in(seen, hours=2)
    _deployment(found)["status"]["upToDateReplicas"] -= 1

    assert not assemble(gated(laptop), found).settled


def test_without_a_burn_in_the_same_machine_is_not_settled(laptop: Environment, seen: Observation) -> None:
    assert not assemble(laptop, in_burn_in(seen, hours=2)).settled


@pytest.mark.parametrize("durations", [True, False])
def test_the_burn_in_of_another_controller_ends_by_the_estimate(
    laptop: Environment, seen: Observation, *, durations: bool
) -> None:
    other = BurnInSpec(condition="example.com/tested", set_by="tester")
    estimate = StepDurationsSpec(drain_minutes=1, deprovision_minutes=1, boot_minutes=1, join_minutes=300)
    nodes = NodesSpec(burn_in=other, durations=estimate if durations else None)

    status = assemble(gated(laptop, nodes), in_burn_in(seen, hours=2))

    assert status.settled is durations
    assert [line.rpartition("until ")[2] for line in status.burn_in] == (["2026-11-20 11:30 UTC"] if durations else [])
