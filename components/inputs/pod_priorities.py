"""Inputs of pod priorities inside a cluster."""

from collections.abc import Iterator

from components.lookups.pools import PlacedCluster
from components.render.add_ons.pod_priorities import PodPrioritiesInput
from components.specs.environment import Environment


def of_cluster(environment: Environment, placed: PlacedCluster) -> Iterator[PodPrioritiesInput]:
    """Yield the pod priorities of a cluster, in the order of the catalogue; nothing if the cluster lists none."""
    cluster = placed.cluster
    if cluster.pod_priorities:
        yield PodPrioritiesInput(
            name=cluster.name,
            cluster=cluster.name,
            priorities=tuple(
                priority for priority in environment.add_ons.pod_priorities if priority.name in cluster.pod_priorities
            ),
        )
