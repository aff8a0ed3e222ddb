"""The clusters of a rehearsal: a management cluster, and one for each hosted control plane."""

from __future__ import annotations

from pathlib import Path

import pulumi
from pulumi_command import local

from components.render.manifest import MANAGEMENT
from components.specs.environment import Environment
from stacks import kubeconfig
from stacks.commands import python


def ending(environment: Environment, kubeconfigs: Path) -> list[str]:
    """Return the clusters that the data have no more, and in which objects of the region may still be.

    The stack that has objects in a cluster writes its kubeconfig before the first one, and removes it after the last.
    """
    there = {file.stem for file in kubeconfigs.glob(kubeconfig.path(Path(), "*").name)}
    return sorted(there - {MANAGEMENT, *_tenants(environment)})


def deploy_clusters(environment: Environment, kubeconfigs: Path) -> None:
    """Register one command for each cluster; they need nothing of each other and come up side by side.

    One that ends stays until the region's stack has taken out what is in it.
    """
    tenants = [*_tenants(environment), *ending(environment, kubeconfigs)]
    for cluster in (MANAGEMENT, *tenants):
        local.Command(
            f"{environment.name}-{cluster}",
            **python(
                create=f"rehearsal up {environment.name} --cluster {cluster}",
                delete=f"rehearsal down {environment.name} --cluster {cluster}",
            ),
        )
    pulumi.export("clusters", [MANAGEMENT, *tenants])


def _tenants(environment: Environment) -> list[str]:
    return [cluster.name for tenant in environment.tenants for cluster in tenant.clusters]
