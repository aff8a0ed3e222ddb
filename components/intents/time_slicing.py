"""Pools on a fabric where pods take turns on GPUs: what a job over many nodes cannot bear."""

from __future__ import annotations

from components.intents.nodes import intents_of
from components.lookups.fabrics import connected, on_roce
from components.lookups.pools import clusters
from components.specs.environment import Environment
from components.specs.keys import pool_key


def turns_on_fabrics(environment: Environment) -> dict[str, tuple[str, ...]]:
    """Return by cluster its pools on InfiniBand or RoCE whose GPUs several pods have in turns, or are to have."""
    found: dict[str, tuple[str, ...]] = {}
    for placed in clusters(environment):
        kinds = {kind.name for kind in connected(environment, placed)}
        kinds |= {kind.name for kind, _ in on_roce(environment, placed)}
        names = []
        for pool in placed.cluster.pools if kinds else ():
            intents = intents_of(environment, pool_key(placed.cluster.name, pool.name)).values()
            ways = [pool.gpu_sharing, *(intent.gpu_sharing for intent in intents)]
            if pool.instance_type in kinds and any(way and way.time_slices for way in ways):
                names.append(pool.name)
        if names:
            found[placed.cluster.name] = tuple(names)
    return found
