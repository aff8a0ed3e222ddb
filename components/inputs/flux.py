"""Input of the Flux repository of a tenant's cluster."""

from collections.abc import Iterator

from components.lookups.add_ons import facts
from components.lookups.pools import PlacedCluster
from components.render.add_ons.flux import OPERATOR, FluxInput
from components.render.region.kustomizations import ByManifests
from components.specs.environment import Environment


def of_cluster(environment: Environment, placed: PlacedCluster) -> Iterator[FluxInput]:
    """Yield the Flux repository of a cluster; nothing if the cluster declares none."""
    cluster = placed.cluster
    if cluster.flux is not None:
        yield FluxInput(
            name=cluster.name,
            cluster=cluster.name,
            spec=cluster.flux,
            placement=facts(environment, placed).placement,
            by_manifests=ByManifests.taken(environment.versions, (OPERATOR.chart,)),
            pins=environment.image_pins.charts_of(cluster.name),
        )
