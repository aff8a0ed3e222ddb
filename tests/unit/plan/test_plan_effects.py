"""What each field of a pool does to its nodes: the table, and what changing the field does to the objects."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel
from small_region import NODE_TYPE, RACK_TYPE, allocated, changed, small_region, tenant

from components.plan.effects import FIELDS, Effect, effect
from components.plan.inputs import inputs
from components.plan.manifests import render
from components.plan.slices import slices
from components.render.manifest import Manifest, objects
from components.render.node_pool import NodePoolInput
from components.specs.environment import Environment
from components.specs.node_pool import NodePoolSpec
from components.specs.nodes import BurnInSpec
from toolchain import paths

GROWING = {"autoscaling": True, "min_nodes": 1, "max_nodes": 3}
RACKS = {"nodes": None, "racks": 1, "instance_type": RACK_TYPE}
CHANGES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "name": ({}, {"name": "other"}),
    "instance_type": ({}, {"instance_type": RACK_TYPE}),
    "nodes": ({}, {"nodes": 3}),
    "racks": (RACKS, {"racks": 2}),
    "min_nodes": (GROWING, {"min_nodes": 2}),
    "max_nodes": (GROWING, {"max_nodes": 2}),
    "autoscaling": ({"min_nodes": 1, "max_nodes": 3}, {"autoscaling": True}),
    "scale_down": ({}, {"scale_down": "idle-only"}),
    "role": ({}, {"role": "system"}),
    "spares": ({}, {"spares": 2}),
    "image": ({}, {"image": "gpu-2026.10.2"}),
    "labels": ({}, {"labels": {"workload": "training"}}),
    "annotations": ({}, {"annotations": {"acme.example/cost-centre": "42"}}),
    "taints": ({}, {"taints": [{"key": "workload", "value": "training", "effect": "NoSchedule"}]}),
    "rollout.strategy": ({}, {"strategy": "idle"}),
    "rollout.max_unavailable": ({}, {"max_unavailable": 2}),
    "rollout.surge": ({}, {"surge": 1}),
    "rollout.paused": ({}, {"paused": True}),
    "rollout.after": ({}, {"after": dt.datetime(2026, 12, 1, 2, tzinfo=dt.UTC)}),
    "rollout.drain_timeout_seconds": ({}, {"drain_timeout_seconds": 600}),
    "rollout.canary": ({}, {"canary": 1}),
    "rollout.soak_minutes": ({}, {"soak_minutes": 60}),
    "health.node_startup_timeout_seconds": ({}, {"node_startup_timeout_seconds": 7200}),
    "health.unhealthy_timeout_seconds": ({}, {"unhealthy_timeout_seconds": 600}),
    "health.max_unhealthy": ({}, {"max_unhealthy": 2}),
    "health.burn_in": ({}, {"burn_in": "gated"}),
    "health.min_ready_seconds": ({}, {"min_ready_seconds": 300}),
}
"""By field: the pool it is changed in, beyond two nodes, and its new value."""


def spelt(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from spelt(field.annotation, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


def region(before: Environment, pool: dict[str, Any]) -> Environment:
    """Return ``before`` with this pool and the lock files that fit; standing allocations stay."""
    nodes = before.region.nodes.model_copy(update={"burn_in": BurnInSpec(condition="Tested", set_by="tester")})
    tested = changed(before, region=changed(before.region, nodes=nodes))
    return allocated(tested, tenants=(tenant("one", NodePoolSpec.model_validate(pool)),))


def rendered(environment: Environment) -> list[Manifest]:
    every = (item for part in slices(environment) for item in inputs(environment, part))
    return [one for item in every if isinstance(item, NodePoolInput) for one in objects(render(item))]


def test_every_field_of_a_pool_is_in_the_table_and_changed_here() -> None:
    assert list(FIELDS) == list(spelt(NodePoolSpec)) == list(CHANGES)


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_does_to_nodes_what_the_table_says(field: str) -> None:
    others, change = CHANGES[field]
    pool = {"name": "lab", "instance_type": NODE_TYPE, "nodes": 2, **others}
    group = field.rpartition(".")[0]
    before = region(small_region(), pool)

    after = region(before, {**pool, **({group: change} if group else change)})

    assert effect(rendered(before), rendered(after)) is FIELDS[field]
    assert effect(rendered(after), rendered(before)) is FIELDS[field]


def test_pods_per_node_of_a_cluster_make_its_nodes_anew() -> None:
    before = region(small_region(), {"name": "lab", "instance_type": NODE_TYPE, "nodes": 2})
    [one] = before.tenants
    more = changed(one, clusters=tuple(changed(cluster, max_pods=200) for cluster in one.clusters))

    assert effect(rendered(before), rendered(allocated(before, tenants=(more,)))) is Effect.REPLACES


def test_another_image_makes_the_nodes_anew_once_its_pin_moves() -> None:
    before = region(small_region(), {"name": "lab", "instance_type": NODE_TYPE, "nodes": 2})
    [(group, pin)] = before.image_pins.groups.items()
    moved = pin.model_copy(update={"image": "gpu-2026.10.2", "sha256": "1" * 64})
    pins = changed(before.image_pins, groups={group: moved})

    assert effect(rendered(before), rendered(changed(before, image_pins=pins))) is Effect.REPLACES


def test_the_page_shows_the_table() -> None:
    page = (paths.ROOT / "docs" / "node-pool.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:3] for line in page.splitlines() if line.startswith("| `")]
    shown = {name.strip().strip("`"): text.strip() for name, text in rows if name.strip().strip("`") in FIELDS}

    assert list(shown.items()) == [(name, found.value) for name, found in FIELDS.items()]
