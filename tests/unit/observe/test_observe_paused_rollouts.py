"""Reasons for paused rollouts, as shown by ``jacquard status``."""

from __future__ import annotations

from typing import Any

import pytest

from components.specs.environment import Environment
from components.specs.pools.node_pool import NodePoolSpec
from components.specs.pools.nodes import Windows
from components.specs.times import WindowSpec
from jacquard.observe.observation import Observation
from jacquard.observe.pool_status import roll_holders
from jacquard.observe.region_status import assemble

POOL, GROUP = "acme-train/train", "acme-train-train-a01"
WINDOW = {"days": ["tue", "thu"], "from": "22:00", "to": "02:00", "timezone": "America/New_York"}
HELD = "paused until tue,thu 22:00 America/New_York, when the window of acme opens"

FORGOTTEN = (
    "paused by its spec.paused, which the data does not set; resume it: kubectl patch machinedeployment "
    """acme-train-train-a01 -n acme-train --type=merge -p '{"spec":{"paused":null}}'"""
)


def region(laptop: Environment, windows: Windows = Windows.ENFORCE, *, paused: bool = False) -> Environment:
    """Return laptop with a window for acme, and its pools paused or not."""

    def pool(spec: NodePoolSpec) -> NodePoolSpec:
        return spec.model_copy(update={"rollout": spec.rollout.model_copy(update={"paused": paused})})

    acme, *others = laptop.tenants
    [cluster] = acme.clusters
    cluster = cluster.model_copy(update={"pools": tuple(map(pool, cluster.pools))})
    changes = acme.changes.model_copy(update={"window": WindowSpec.model_validate(WINDOW)})
    acme = acme.model_copy(update={"changes": changes, "clusters": (cluster,)})
    nodes = laptop.region.nodes.model_copy(update={"windows": windows})
    return laptop.model_copy(
        update={"region": laptop.region.model_copy(update={"nodes": nodes}), "tenants": (acme, *others)}
    )


def deployment(*, paused: bool = True, rolling: str = "True", replicas: int = 5) -> dict[str, Any]:
    return {
        "metadata": {"name": GROUP, "namespace": "acme-train"},
        "spec": {"paused": paused} if paused else {},
        "status": {"replicas": replicas, "conditions": [{"type": "RollingOut", "status": rolling}]},
    }


@pytest.mark.parametrize(
    ("windows", "paused", "why"),
    [
        (Windows.ENFORCE, False, HELD),
        (Windows.ENFORCE, True, f"paused by rollout.paused of {POOL}"),
        (Windows.ANNOTATE, True, f"paused by rollout.paused of {POOL}"),
        (
            Windows.ANNOTATE,
            False,
            FORGOTTEN,
        ),
    ],
)
def test_a_rollout_is_paused_by_the_tenant_by_its_window_or_by_a_leftover(
    laptop: Environment, windows: Windows, *, paused: bool, why: str
) -> None:
    assert roll_holders(region(laptop, windows, paused=paused), POOL, deployment()) == [why]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (deployment(rolling="False"), []),
        (deployment(rolling="False", replicas=0), [HELD]),
        (deployment(paused=False), []),
        (None, []),
    ],
)
def test_a_pause_only_affects_groups_with_pending_changes(
    laptop: Environment, body: dict[str, Any] | None, why: list[str]
) -> None:
    assert roll_holders(region(laptop), POOL, body) == why


def test_a_paused_group_reports_it_first(laptop: Environment, seen: Observation) -> None:
    [body] = [body for body in seen.of("MachineDeployment") if body["metadata"]["name"] == GROUP]
    body["spec"]["paused"] = True
    for item in body["status"]["conditions"]:
        if item["type"] == "RollingOut":
            item["status"] = "True"

    status = assemble(region(laptop), seen)

    assert status.why == [f"{POOL} a01: {HELD}", f"{POOL} a01: condition RollingOut is True"]
