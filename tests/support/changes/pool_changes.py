"""A change of each field of a pool, and the objects of the pool before and after it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from components.inputs.slice_inputs import inputs
from components.lookups.pools import pools
from components.lookups.slices import slices
from components.render.manifest import Manifest, objects
from components.render.pools.node_pool import NodePoolInput
from components.rollout.promotion import Promotion
from components.rollout.subject import DATA
from components.specs.environment import Environment
from components.specs.pools.node_pool import NodePoolSpec
from components.specs.pools.nodes import BurnInSpec
from tests.support.changes.pool_effects import PROMOTED
from tests.support.data.small_region import NODE_TYPE, RACK_TYPE, allocated, changed, small_region, tenant

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
    "gpu_sharing": ({}, {"gpu_sharing": {"time_slices": 2}}),
    "rollout.strategy": ({}, {"strategy": "idle"}),
    "rollout.max_unavailable": ({}, {"max_unavailable": 2}),
    "rollout.surge": ({}, {"surge": 1}),
    "rollout.paused": ({}, {"paused": True}),
    "rollout.after": ({}, {"after": dt.datetime(2026, 12, 1, 2, tzinfo=dt.UTC)}),
    "rollout.drain_timeout_seconds": ({}, {"drain_timeout_seconds": 600}),
    "rollout.detach_timeout_seconds": ({}, {"detach_timeout_seconds": 1800}),
    "rollout.canary": ({}, {"canary": 1}),
    "rollout.soak_minutes": ({}, {"soak_minutes": 60}),
    "health.node_startup_timeout_seconds": ({}, {"node_startup_timeout_seconds": 7200}),
    "health.unhealthy_timeout_seconds": ({}, {"unhealthy_timeout_seconds": 1200}),
    "health.max_unhealthy": ({}, {"max_unhealthy": 0}),
    "health.max_replacements": ({}, {"max_replacements": 9}),
    "health.burn_in": ({}, {"burn_in": "gated"}),
    "health.min_ready_seconds": ({}, {"min_ready_seconds": 300}),
    "retire": ({}, {"retire": True}),
}
"""By field: other values of the pool in which it changes, and the new value."""


def spelt(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Yield the names of all fields of a model, those of nested models with a dot."""
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from spelt(field.annotation, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


def pool(**others: Any) -> dict[str, Any]:
    """Return a pool of two nodes, as in the file of a tenant."""
    return {"name": "lab", "instance_type": NODE_TYPE, "nodes": 2, **others}


def region_with_pool(pool: dict[str, Any], name: str = "one", *, before: Environment | None = None) -> Environment:
    """Return a region in which only tenant ``name`` has a pool, this one; allocations of ``before`` are kept."""
    standing = before or small_region()
    nodes = standing.region.nodes.model_copy(update={"burn_in": BurnInSpec(condition="Tested", set_by="tester")})
    tested = changed(standing, region=changed(standing.region, nodes=nodes))
    return allocated(tested, tenants=(tenant(name, NodePoolSpec.model_validate(pool)),))


def before_and_after(
    field: str, name: str = "one", *, value: Any = None, promote: bool = True, **others: Any
) -> tuple[Environment, Environment]:
    """Return the region of tenant ``name`` before and after the change of a field.

    Args:
        field: A key of ``CHANGES``.
        name: Name of the tenant.
        value: New value of the field, if it is not that of ``CHANGES``.
        promote: Whether the pool is promoted, if only a promotion applies the field to nodes.
        others: Further values of the pool, before and after.
    """
    given, change = CHANGES[field]
    group, _, key = field.rpartition(".")
    is_before = pool(**given, **others)
    new = change if value is None else {key: value}
    is_after = {**is_before, **({group: {**is_before.get(group, {}), **new}} if group else new)}
    before = region_with_pool(is_before, name)
    after = region_with_pool(is_after, name, before=before)
    return before, promoted(after) if field in PROMOTED and promote else after


def promoted(environment: Environment) -> Environment:
    """Return ``environment`` with its only pool promoted to the data."""
    [placed] = pools(environment)
    return changed(environment, image_pins=Promotion(environment, placed.key, DATA).all_at_once())


def rendered(environment: Environment) -> list[Manifest]:
    """Return the objects of all pools."""
    every = (item for part in slices(environment) for item in inputs(environment, part))
    return [one for item in every if isinstance(item, NodePoolInput) for one in objects(item.render())]


def other_pods(before: Environment) -> Environment:
    """Return ``before`` with another number of pods per node of its cluster, and its pool promoted."""
    [one] = before.tenants
    more = changed(one, clusters=tuple(changed(cluster, max_pods=200) for cluster in one.clusters))
    return promoted(allocated(before, tenants=(more,)))


def other_image(before: Environment) -> Environment:
    """Return ``before`` with the intent of its only group moved to another image."""
    [(group, name)] = before.image_pins.groups.items()
    moved = before.image_pins.intents[name].model_copy(update={"image": "gpu-2026.10.2", "sha256": "1" * 64})
    pins = changed(before.image_pins, groups={group: moved.name}, intents={moved.name: moved})
    return changed(before, image_pins=pins)
