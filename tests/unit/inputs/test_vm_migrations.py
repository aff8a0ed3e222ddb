"""Limits of VM migrations, by the nodes with VMs that rollouts drain simultaneously."""

from __future__ import annotations

from typing import Any

import pytest

from components.inputs import vm_offering
from components.lookups.pools import clusters
from components.render.manifest import objects
from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from tests.support.data.environment_data import ENVIRONMENTS

CLUSTER = "acme-train"


def with_vms(environment: Environment, **change: Any) -> Environment:
    """Return ``environment`` with ``change`` in the VMs of the tenant of `CLUSTER`."""
    tenants = tuple(
        tenant.model_copy(update={"vms": tenant.vms.model_copy(update=change)})
        if tenant.vms and tenant.vms.cluster == CLUSTER
        else tenant
        for tenant in environment.tenants
    )
    return environment.model_copy(update={"tenants": tenants})


def limits(environment: Environment) -> dict[str, int]:
    """Return the limits of migrations in `CLUSTER`."""
    [placed] = [placed for placed in clusters(environment) if placed.cluster.name == CLUSTER]
    [offering] = vm_offering.of_cluster(environment, placed)
    [kubevirt] = [item for item in objects(offering.render()) if item.kind == "KubeVirt"]
    return dict(kubevirt.body["spec"]["configuration"]["migrations"])


@pytest.mark.parametrize(
    ("vms", "of_cluster"),
    [
        ({}, 5),
        ({"migrations_per_node": 8}, 8),
        ({"pools": ("train",), "migrations_per_node": 8}, 16),
        ({"pools": ("train", "infer"), "migrations_per_node": 8}, 32),
    ],
    ids=["upstream's least", "one node", "one node in each of two groups", "all pools"],
)
def test_each_node_that_rollouts_drain_migrates_its_vms(vms: dict[str, Any], of_cluster: int) -> None:
    environment = with_vms(load_environment("laptop", ENVIRONMENTS), **vms)

    assert limits(environment) == {
        "parallelMigrationsPerCluster": of_cluster,
        "parallelOutboundMigrationsPerNode": vms.get("migrations_per_node", 2),
    }
