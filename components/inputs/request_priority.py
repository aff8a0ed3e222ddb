"""Input of request priority inside a cluster."""

from collections.abc import Iterator

from components.lookups.charts import installed_inside
from components.lookups.control_planes import most_nodes_of
from components.lookups.pools import PlacedCluster
from components.render.control_planes.request_priority import RequestPriorityInput
from components.specs.environment import Environment


def of_cluster(environment: Environment, placed: PlacedCluster) -> Iterator[RequestPriorityInput]:
    """Yield the request priority input of a cluster."""
    yield RequestPriorityInput(
        name=placed.cluster.name,
        cluster=placed.cluster.name,
        nodes=most_nodes_of(environment, placed.cluster),
        installed=tuple(installed_inside(environment, placed)),
    )
