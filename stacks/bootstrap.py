"""The clusters of a rehearsal: a management cluster, and a cluster for each hosted control plane."""

from __future__ import annotations

from pathlib import Path

import pulumi
from pulumi_command import local

from components.lookups.pools import clusters
from components.render.manifest import MANAGEMENT
from components.specs.environment import Environment
from stacks import kubeconfig
from stacks.commands import python


def deploy_clusters(environment: Environment, kubeconfigs: Path) -> None:
    """Register a command for each cluster; the clusters are independent and are created in parallel.

    A removed cluster stays until the region's stack has deleted its objects.
    """
    tenants = [placed.cluster.name for placed in clusters(environment)]
    tenants += kubeconfig.ending(environment, kubeconfigs)
    for cluster in (MANAGEMENT, *tenants):
        local.Command(
            f"{environment.name}-{cluster}",
            **python(
                create=f"jacquard.lab.rehearsal up {environment.name} --cluster {cluster}",
                delete=f"jacquard.lab.rehearsal down {environment.name} --cluster {cluster}",
            ),
        )
    pulumi.export("clusters", [MANAGEMENT, *tenants])
