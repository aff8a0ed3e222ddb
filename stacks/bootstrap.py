"""The clusters of a rehearsal: a management cluster, and one for each hosted control plane."""

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
    """Register one command for each cluster; they need nothing of each other and come up side by side.

    One that ends stays until the region's stack has taken out what is in it.
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
