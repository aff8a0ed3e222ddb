"""DNS inputs of clusters, with the networks that the records may point to."""

from collections.abc import Iterator

from components.lookups.add_ons import gives
from components.lookups.pools import PlacedCluster, public_addresses
from components.render.region.dns import ClusterDnsInput
from components.specs.add_ons.add_ons import Capability
from components.specs.base import Network
from components.specs.environment import Environment


def of_cluster(environment: Environment, placed: PlacedCluster) -> Iterator[ClusterDnsInput]:
    """Yield the DNS input of a cluster; nothing if the cluster has no DNS records."""
    dns = environment.region.dns
    if dns is None or not has_names(environment, placed):
        return
    name, public = placed.cluster.name, public_addresses(environment, placed)
    numbers = environment.allocations.vpcs[placed.cluster.vpc].of_cluster(name)
    yield ClusterDnsInput(
        name=name,
        cluster=name,
        region=environment.region.region,
        dns=dns,
        addresses=(*numbers.of_kind("load_balancers"), *map(Network, public)),
    )


def has_names(environment: Environment, placed: PlacedCluster) -> bool:
    """Return whether Services of a cluster get DNS records: the region has DNS, and Services get addresses."""
    addresses = gives(environment, placed, Capability.LOAD_BALANCERS)
    return environment.region.dns is not None and addresses
