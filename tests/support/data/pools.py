"""Node pools for tests: edited pools of environment laptop, and selected parts of their objects."""

from __future__ import annotations

from typing import Any

from components.render.manifest import Manifest, objects
from components.render.pools.node_pool import NodePoolInput
from components.specs.locks import GroupAllocation
from components.specs.struct import replace

TEMPLATES = {"Metal3MachineTemplate", "KubeadmConfigTemplate"}


def edited(pool: NodePoolInput, **changes: Any) -> NodePoolInput:
    """Return ``pool`` with other values in its spec; ``rollout`` and ``health`` are mappings of the changed values."""
    nested = {name: changes.pop(name) for name in ("rollout", "health") if isinstance(changes.get(name), dict)}
    for name, values in nested.items():
        changes[name] = getattr(pool.spec, name).model_copy(update=values)
    return replace(pool, spec=pool.spec.model_copy(update=changes))


def sized(pool: NodePoolInput, nodes: int, **group: Any) -> NodePoolInput:
    """Return ``pool`` with its first rollout group only, of ``nodes`` nodes."""
    return replace(pool, groups=(replace(pool.groups[0], size=GroupAllocation(nodes=nodes), **group),))


def of_kind(pool: NodePoolInput, kind: str) -> list[Manifest]:
    """Return the objects of one kind."""
    return [item for item in objects(pool.render()) if item.kind == kind]


def templates(pool: NodePoolInput) -> set[str]:
    """Return the keys of the templates of a pool on the first backends."""
    return {item.key for item in objects(pool.render()) if item.kind in TEMPLATES}


def deployments(pool: NodePoolInput) -> list[dict[str, Any]]:
    """Return the specs of the MachineDeployments, one for each group."""
    return [dict(item.body["spec"]) for item in of_kind(pool, "MachineDeployment")]
