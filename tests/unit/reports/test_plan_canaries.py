"""Canaries that no wave can have, because rollout groups are larger."""

from __future__ import annotations

from pathlib import Path

import pytest
from environment_data import reference
from impacts import edited

from components.reports.canaries import large_canaries


def test_pools_in_one_hall_have_no_canary_and_pools_in_racks_have_one() -> None:
    found = [(item.pool, item.canary, item.nodes, item.of) for item in large_canaries(reference("us-east-04a"))]
    assert found == [("borealis-train/h100", 8, 600, 600), ("halcyon-train/b200", 4, 240, 240)]


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
