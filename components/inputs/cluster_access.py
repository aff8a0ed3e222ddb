"""Inputs of administrators' access to a cluster."""

from collections.abc import Iterator

from components.lookups.pools import PlacedCluster
from components.render.control_planes.cluster_access import ClusterAccessInput
from components.specs.environment import Environment


def of_cluster(_environment: Environment, placed: PlacedCluster) -> Iterator[ClusterAccessInput]:
    """Yield the input of a cluster whose administrators authenticate with an identity provider; nothing for others."""
    cluster = placed.cluster
    if cluster.oidc is not None and cluster.oidc.admins is not None:
        yield ClusterAccessInput(name=cluster.name, cluster=cluster.name, admins=cluster.oidc.admins)
