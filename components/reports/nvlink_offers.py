"""Clusters with NVLink domains that span nodes."""

from collections.abc import Iterator

from components.intents.compute_domains import offers_compute_domains
from components.intents.nodes import intents_of
from components.lookups.pools import PlacedPool, pools
from components.render.pools import compute_domains
from components.reports.offers import NvlinkOffer
from components.specs.environment import Environment


def nvlink_offers(environment: Environment) -> Iterator[NvlinkOffer]:
    """Yield the pools whose pods can request a channel to GPUs of other nodes, according to pinned intents."""
    for placed, nodes in nvlink_pools(environment):
        yield NvlinkOffer(
            cluster=placed.cluster.name,
            pool=placed.pool.name,
            instance_type=placed.pool.instance_type,
            domains=len(intents_of(environment, placed.key)),
            nodes=nodes,
            label=compute_domains.CLIQUE,
        )


def nvlink_pools(environment: Environment) -> Iterator[tuple[PlacedPool, int]]:
    """Yield the pools whose NVLink domains span nodes, with the number of nodes of the largest domain."""
    for placed in pools(environment):
        kind = environment.instance_types.by_name[placed.pool.instance_type]
        if kind.spans_nodes and offers_compute_domains(environment, placed.cluster.name):
            groups = [environment.allocations.groups[group].nodes for group in intents_of(environment, placed.key)]
            if groups:
                yield placed, max(groups)
