"""Pools that combine a fabric with GPU time-slicing, although multi-node jobs do not tolerate time-slicing."""

from components.intents.nodes import intents_of
from components.lookups.network.fabrics import connected, on_roce
from components.lookups.pools import clusters
from components.specs.environment import Environment
from components.specs.keys import pool_key


def turns_on_fabrics(environment: Environment) -> dict[str, tuple[str, ...]]:
    """Return the pools on InfiniBand or RoCE with GPU time-slicing, pinned or declared, by cluster."""
    result: dict[str, tuple[str, ...]] = {}
    for placed in clusters(environment):
        kinds = {kind.name for kind in connected(environment, placed)}
        kinds |= {kind.name for kind, _ in on_roce(environment, placed)}
        names = []
        for pool in placed.cluster.pools if kinds else ():
            intents = intents_of(environment, pool_key(placed.cluster.name, pool.name)).values()
            settings = [pool.gpu_sharing, *(intent.gpu_sharing for intent in intents)]
            if pool.instance_type in kinds and any(sharing and sharing.time_slices for sharing in settings):
                names.append(pool.name)
        if names:
            result[placed.cluster.name] = tuple(names)
    return result
