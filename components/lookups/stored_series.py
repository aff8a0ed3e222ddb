"""Number of series in the store of metrics of a region."""

from components.lookups.add_ons import gives
from components.lookups.metrics_series import nodes_series
from components.lookups.pools import PlacedCluster, clusters
from components.specs.add_ons.add_ons import Capability
from components.specs.environment import Environment

_CLUSTER = 40_000
"""Series of the control plane of a cluster and of its etcd, without those that grow with nodes; estimated."""


def stored_series(environment: Environment) -> int:
    """Return the number of series of all clusters, including those that the management cluster collects."""
    return sum(_CLUSTER + cluster_series(environment, placed) for placed in clusters(environment))


def cluster_series(environment: Environment, placed: PlacedCluster) -> int:
    """Return the number of series of the nodes and pods of a cluster; 0 if no add-on collects metrics."""
    if not gives(environment, placed, Capability.MONITORING):
        return 0
    return nodes_series(environment, placed.cluster, gpus=gives(environment, placed, Capability.GPUS))
