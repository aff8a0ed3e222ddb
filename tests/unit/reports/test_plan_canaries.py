"""Canaries that are smaller than any rollout group, and therefore have no wave."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.reports.canaries import large_canaries
from tests.support.changes.impacts import edited
from tests.support.data.environment_data import reference


@pytest.mark.parametrize("name", ["us-east-04a", "eu-south-03a", "lab", "laptop"])
def test_each_canary_of_the_reference_data_is_possible(name: str) -> None:
    assert [str(item) for item in large_canaries(reference(name))] == []


ONE_HALL = (
    "tenants/borealis.yaml:<clusters.borealis-train.pools.h100.rollout.canary>: the canary of borealis-train/h100 is "
    "40, but its first wave has 600 of 600 nodes, because a wave cannot divide rollout group a; divide the pool, or "
    "remove the canary"
)


def test_the_canary_of_a_pool_in_one_hall_is_reported(tmp_path: Path) -> None:
    edit = ["tenants/borealis.yaml", "max_unavailable: 5%", "max_unavailable: 5%, canary: 40"]
    bench = edited(tmp_path, "us-east-04a", [edit], ())
    assert [str(item) for item in large_canaries(bench.load())] == [bench.resolved(ONE_HALL)]


ONE_GROUP = (
    "tenants/acme.yaml:<clusters.acme-train.pools.infer.rollout.canary>: the canary of acme-train/infer is 1, but its "
    "first wave has 4 of 4 nodes, because a wave cannot divide rollout group a03; divide the pool, or remove the canary"
)


@pytest.mark.parametrize(
    ("rollout", "texts"),
    [("max_unavailable: 50%", [ONE_GROUP]), ("max_unavailable: 1", [])],
    ids=["one group", "one group of two"],
)
def test_a_first_wave_that_is_most_of_a_pool_is_reported(rollout: str, texts: list[str], tmp_path: Path) -> None:
    bench = edited(tmp_path, "laptop", [["tenants/acme.yaml", rollout, f"{rollout}, canary: 1"]], ())
    assert [str(item) for item in large_canaries(bench.load())] == [bench.resolved(text) for text in texts]
