"""Registries from which the nodes of a region pull images, and the nodes for which a change moves them."""

from collections import Counter
from collections.abc import Iterator

from components.specs.base import Spec
from components.specs.environment import Environment
from components.specs.keys import pool_of
from components.specs.pools.intents import NodeIntent
from components.specs.reading.problems import listed

_DIRECT = "directly from the registries"
_FIRST_WITH_UPSTREAMS = 2
"""First template revision that addresses the upstreams of a cache."""


class MovedPulls(Spec):
    """Nodes of a pool that pull images from other registries after a change."""

    pool: str
    """Pool as ``cluster/pool``."""
    nodes: int
    """Number of these nodes."""
    before: str
    """Path of pulls before the change: directly, or through a mirror at an address, for its upstreams."""
    after: str
    """Path of pulls after the change."""


def moved_pulls(before: Environment, after: Environment) -> Iterator[MovedPulls]:
    """Yield the nodes that exist before and after, with different paths of pulls, in the order of the lock file."""
    moved = Counter[tuple[str, str, str]]()
    had = before.image_pins.groups
    for key in after.image_pins.groups:
        sides = [side for side in (before, after) if key in had and key in side.allocations.groups]
        if len(sides) == len((before, after)):
            was, will = (pull_path(side, side.image_pins.node(key)) for side in sides)
            if was != will:
                moved[pool_of(key), was, will] += min(side.allocations.groups[key].nodes for side in sides)
    for (pool, was, will), nodes in moved.items():
        yield MovedPulls(pool=pool, nodes=nodes, before=was, after=will)


def pull_path(environment: Environment, intent: NodeIntent) -> str:
    """Return the registries from which nodes with ``intent`` pull images, as text.

    If the mirror does not serve a registry, containerd pulls directly from this registry.
    """
    if intent.mirror is None:
        return _DIRECT
    registry = environment.region.registry
    if registry is None or registry.mirror != intent.mirror:
        return f"through {intent.mirror}"
    at = f"through {intent.mirror}" + (f" at {registry.address}" if registry.address else "")
    if registry.cache is None:
        return at
    addressed = intent.upstreams if intent.revision >= _FIRST_WITH_UPSTREAMS else ()
    served = [name for name in addressed if name in registry.cache.upstreams]
    return f"{at} for {listed(served)}" if served else _DIRECT
