"""The clusters of a rehearsal: a management cluster, and one for each hosted control plane."""

from __future__ import annotations

import pulumi
from pulumi_command import local

from components.render.manifest import MANAGEMENT
from components.specs.environment import Environment
from stacks.commands import python


def deploy_clusters(environment: Environment) -> None:
    """Register one command for each cluster; they need nothing of each other and come up side by side."""
    tenants = [cluster.name for tenant in environment.tenants for cluster in tenant.clusters]
    for cluster in (MANAGEMENT, *tenants):
        local.Command(
            f"{environment.name}-{cluster}",
            **python(
                create=f"rehearsal up {environment.name} --cluster {cluster}",
                delete=f"rehearsal down {environment.name} --cluster {cluster}",
            ),
        )
    pulumi.export("clusters", [MANAGEMENT, *tenants])
