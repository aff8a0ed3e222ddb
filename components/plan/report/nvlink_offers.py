"""Which clusters have NVLink beyond a node, and how a job of their tenants asks for it."""

from __future__ import annotations

from collections.abc import Iterator

from components.plan.intents.compute_domains import offers_compute_domains
from components.plan.intents.nodes import intents_of
from components.plan.pools import PlacedPool, pools
from components.plan.report.offers import NvlinkOffer
from components.render import compute_domains
from components.render.manifest import Json
from components.specs.environment import Environment


def nvlink_offers(environment: Environment) -> Iterator[NvlinkOffer]:
    """Yield the pools whose pods can ask for a channel to GPUs of other nodes, as their nodes are pinned."""
    for placed in _pools(environment):
        groups = [environment.allocations.groups[group].nodes for group in intents_of(environment, placed.key)]
        if groups:
            yield NvlinkOffer(
                cluster=placed.cluster.name,
                pool=placed.pool.name,
                instance_type=placed.pool.instance_type,
                domains=len(groups),
                nodes=max(groups),
                label=compute_domains.CLIQUE,
            )


def example_job(environment: Environment, instance_type: str, name: str) -> tuple[PlacedPool, tuple[Json, Json]]:
    """Return the first pool of ``instance_type`` that offers it, and a ComputeDomain and a Job on a whole domain.

    Raises:
        LookupError: no pool offers it.
    """
    by_key = {(placed.cluster.name, placed.pool.name): placed for placed in _pools(environment)}
    for offer in nvlink_offers(environment):
        if offer.instance_type == instance_type:
            placed = by_key[offer.cluster, offer.pool]
            gpu = environment.instance_types.by_name[instance_type].gpu
            tolerations = [taint.model_dump(mode="json", exclude_defaults=True) for taint in placed.pool.taints]
            return placed, compute_domains.order(
                name, nodes=offer.nodes, gpus=gpu.count if gpu else 0, tolerations=tolerations
            )
    raise LookupError(instance_type)


def _pools(environment: Environment) -> Iterator[PlacedPool]:
    for placed in pools(environment):
        kind = environment.instance_types.by_name[placed.pool.instance_type]
        if kind.spans_nodes and offers_compute_domains(environment, placed.cluster.name):
            yield placed
