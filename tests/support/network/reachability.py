"""Reachability in a rendered region, by its objects and the contract of its edge router."""

from __future__ import annotations

from collections.abc import Callable

from components.inputs import tenant_network
from components.lookups.pools import clusters
from components.render.manifest import Manifest
from components.reports.network.border import contract
from components.specs.environment import Environment
from tests.support.network.rendered_network import RenderedNetwork


def reachability(
    environment: Environment, change: Callable[[Manifest], Manifest] = lambda item: item
) -> RenderedNetwork:
    """Return the reachability model of ``environment``, with each object passed through ``change``."""
    placed = list(clusters(environment))
    concepts = [one for tenant in environment.tenants for one in tenant_network.of_tenant(environment, tenant)]
    concepts += [one for item in placed for one in tenant_network.of_cluster(environment, item)]
    return RenderedNetwork(
        (change(item) for concept in concepts for item in concept.render()),
        contract(environment).model_dump(mode="json"),
        {item.cluster.name: item.cluster.vpc for item in placed},
    )
