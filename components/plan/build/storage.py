"""What the storage of a cluster is made from."""

from __future__ import annotations

from collections.abc import Iterator

from components.plan.pools import PlacedCluster
from components.render.storage import StorageCatalogInput
from components.specs.environment import Environment


def of_cluster(environment: Environment, placed: PlacedCluster) -> Iterator[StorageCatalogInput]:
    """Yield the storage classes of a cluster, in the order that it names them."""
    cluster = placed.cluster
    classes = {spec.name: spec for spec in environment.region.storage}
    yield StorageCatalogInput(
        name=cluster.name, cluster=cluster.name, classes=tuple(classes[name] for name in cluster.storage)
    )
