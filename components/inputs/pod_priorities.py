"""Inputs of pod priorities inside a cluster."""

from __future__ import annotations

from collections.abc import Iterator

from components.lookups.pools import PlacedCluster
from components.render.add_ons.pod_priorities import PodPrioritiesInput
from components.specs.environment import Environment


def of_cluster(environment: Environment, placed: PlacedCluster) -> Iterator[PodPrioritiesInput]:
    """Yield the priorities of a cluster that lists any, in the order of the catalogue."""
    cluster = placed.cluster
    if cluster.pod_priorities:
        yield PodPrioritiesInput(
            name=cluster.name,
            cluster=cluster.name,
            priorities=tuple(one for one in environment.add_ons.pod_priorities if one.name in cluster.pod_priorities),
        )
