"""Results of node tests by pool, as the conditions of Nodes report them, and their text."""

from __future__ import annotations

import datetime as dt
from typing import Any

from components.reports.health import health
from components.specs.environment import Environment
from jacquard.cli.views.region.health import lines
from jacquard.observe.nodes.results import pool_results
from jacquard.observe.observation import Observation


def node(pool: str, **conditions: tuple[str, str]) -> dict[str, Any]:
    known = [
        {"type": kind, "status": status, "lastHeartbeatTime": f"2026-11-20T{time}:00Z"}
        for kind, (status, time) in conditions.items()
    ]
    labels = {"node-restriction.kubernetes.io/pool": pool}
    return {"metadata": {"name": "n", "labels": labels}, "status": {"conditions": known}}


def test_pools_are_reported_by_the_last_result_of_each_node(laptop: Environment) -> None:
    nodes = [
        node("train", NodeTestFailed=("False", "08:00")),
        node("train", NodeTestFailed=("True", "07:00")),
        node("train", BurnInPassed=("True", "06:00"), NodeTestFailed=("False", "09:00")),
        node("train"),
        node("infer", BurnInPassed=("False", "05:00")),
        node("system"),
    ]

    infer, train = pool_results(laptop, Observation(objects={("acme-train", "Node"): nodes}))

    assert (train.pool, train.passed, train.failed, train.untested) == ("train", 2, 1, 1)
    assert train.oldest == dt.datetime(2026, 11, 20, 7, tzinfo=dt.UTC)
    assert (infer.pool, infer.passed, infer.failed, infer.untested) == ("infer", 0, 1, 0)
    shown = [str(line) for line in lines(health(laptop, (), tested=[train]))]
    assert (
        "acme-train/train: 2 of 4 nodes passed the last tests, 1 failed, 1 not tested yet; the oldest result is from"
        " 2026-11-20 07:00 UTC"
    ) in shown
