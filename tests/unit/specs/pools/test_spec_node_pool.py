"""Number of nodes of a pool."""

from __future__ import annotations

from typing import Any

import pytest

from components.specs.pools.node_pool import NodePoolSpec, PoolRole, ScaleDown
from tests.support.checks.spec_errors import error_texts


def test_a_pool_has_defaults() -> None:
    pool = NodePoolSpec(name="train", instance_type="h100-ib-8", nodes=7)

    assert (pool.role, pool.scale_down, pool.autoscaling) == (PoolRole.WORKER, ScaleDown.PREFER_IDLE, False)
    assert (pool.spares, pool.annotations, pool.rollout.canary) == (None, {}, 0)


@pytest.mark.parametrize(
    "sizes",
    [
        {"nodes": 4, "min_nodes": 4, "max_nodes": 4},
        {"nodes": 4, "min_nodes": 0, "max_nodes": 9, "autoscaling": True},
        {"racks": 2, "min_nodes": 18, "max_nodes": 54, "autoscaling": True},
    ],
)
def test_compatible_sizes_are_accepted(sizes: dict[str, Any]) -> None:
    pool = NodePoolSpec(name="train", instance_type="h100-ib-8", **sizes)

    assert {name: getattr(pool, name) for name in sizes} == sizes


def _said(**sizes: Any) -> dict[str, str]:
    return error_texts(NodePoolSpec, {"name": "train", "instance_type": "h100-ib-8", **sizes})


def test_autoscaling_needs_both_bounds() -> None:
    assert _said(nodes=4, autoscaling=True) == {
        "min_nodes": "is required with autoscaling; write min_nodes: 0",
        "max_nodes": "is required with autoscaling; write max_nodes: 4 or more",
    }
    assert _said(racks=4, min_nodes=0, autoscaling=True) == {
        "max_nodes": "is required with autoscaling; write max_nodes: 1"
    }


def test_sizes_go_upwards() -> None:
    assert _said(nodes=4, min_nodes=5, max_nodes=3) == {
        "min_nodes": "must be at most 4, the pool's nodes (got 5); write 4 or less, or raise nodes",
        "nodes": "must be at most 3, the pool's max_nodes (got 4); write 3 or less, or raise max_nodes",
    }


def test_a_minimum_above_the_maximum_is_refused_for_racks_too() -> None:
    assert _said(racks=2, min_nodes=54, max_nodes=36) == {
        "min_nodes": "must be at most 36, the pool's max_nodes (got 54); write 36 or less, or raise max_nodes"
    }
