"""Input of the cluster autoscaler of a tenant's cluster."""

from collections.abc import Iterator

from components.lookups.pools import PlacedCluster, has_autoscaling
from components.render.pools.cluster_autoscaler import ClusterAutoscalerInput
from components.specs.environment import Environment


def of_cluster(environment: Environment, placed: PlacedCluster) -> Iterator[ClusterAutoscalerInput]:
    """Yield the autoscaler of a cluster; nothing if none of its pools has autoscaling."""
    if has_autoscaling(placed):
        yield ClusterAutoscalerInput(
            name=placed.cluster.name,
            cluster=placed.cluster.name,
            tenant=placed.tenant.tenant,
            bare_metal=environment.region.bare_metal.backend,
        )
