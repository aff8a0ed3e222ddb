"""A Slurm cluster on pools of the laptop's training cluster, whose data contain none, and the operator that runs it."""

from __future__ import annotations

from typing import Any

from components.inputs.workloads.slurm import of_cluster
from components.lookups.pools import PlacedCluster, clusters
from components.render.workloads.slurm import SlurmInput
from components.render.workloads.slurm_pool import CHART, LOCK
from components.specs.environment import Environment
from components.specs.pools.node_pool import TaintEffect, TaintSpec
from components.specs.struct import replace
from components.specs.workloads.slurm import SlurmSpec
from tests.support.add_ons.helm_charts import CHARTS
from tests.support.data.small_region import changed

CLUSTER = "acme-train"
POOLS = ("train", "infer")
SPEC: dict[str, Any] = {
    "partitions": [
        {"name": "long", "pools": ["train"], "default": True},
        {"name": "short", "pools": ["train", "infer"], "max_hours": 4, "priority": 10},
    ],
    "gpu_check": True,
    "prolog": [{"name": "mount", "script": "#!/bin/sh\nexit 0\n"}],
    "epilog": [{"name": "clean", "script": "#!/bin/sh\nexit 0\n"}],
    "controller": {"storage_class": "shared-nfs"},
    "accounting": {
        "server": {
            "storage_class": "shared-nfs",
            "size": "20Gi",
            "backup": {
                "schedule": "0 2 * * *",
                "endpoint": "https://objects.example",
                "bucket": "dumps",
                "secret": "dumps",
            },
        },
        "password_secret": "database",
    },
    "login": {"users_secret": "users", "sources": ["203.0.113.0/24", "192.0.2.0/26"]},
    "volumes": [{"name": "home", "path": "/home", "storage_class": "shared-nfs", "size": "1Ti"}],
}
"""Data of the Slurm cluster."""


def placed_slurm(environment: Environment, **spec: Any) -> PlacedCluster:
    """Return the cluster with Slurm on two locked pools; ``spec`` overrides values of its data."""
    [placed] = [item for item in clusters(environment) if item.cluster.name == CLUSTER]
    lock = TaintSpec(key=LOCK, effect=TaintEffect.NO_EXECUTE)
    pools = tuple(
        changed(pool, taints=(*pool.taints, lock)) if pool.name in POOLS else pool for pool in placed.cluster.pools
    )
    slurm = SlurmSpec.model_validate({**SPEC, **spec})
    cluster = changed(placed.cluster, slurm=slurm, pools=pools, add_ons=("default", "monitoring", "slurm"))
    return replace(placed, cluster=cluster)


def with_slurm(environment: Environment) -> Environment:
    """Return ``environment`` with that Slurm cluster in its data."""
    ordered = placed_slurm(environment)
    tenants = tuple(
        changed(tenant, clusters=tuple(ordered.cluster if one.name == CLUSTER else one for one in tenant.clusters))
        for tenant in environment.tenants
    )
    return changed(environment, tenants=tenants)


def slurm_input(environment: Environment, **spec: Any) -> SlurmInput:
    """Return the input of that Slurm cluster."""
    [given] = of_cluster(environment, placed_slurm(environment, **spec))
    return given


def built_operator() -> str:
    """Return the release of the operator that the toolchain builds.

    It is older than the pinned one, because the Go module proxy refused later ones.
    """
    return CHARTS[CHART][0].version.removeprefix("v")


def with_built_operator(environment: Environment) -> Environment:
    """Return ``environment`` with the release of the operator that the toolchain builds in its catalogue."""
    versions = environment.versions
    charts = tuple(changed(row, version=built_operator()) if row.name == CHART else row for row in versions.charts)
    return changed(environment, versions=changed(versions, charts=charts))
