"""Repositories that clusters are handed over to: pods of the cluster reach them."""

from __future__ import annotations

from collections.abc import Iterator

from components.lookups.pools import clusters, place, problem
from components.specs.environment import Environment
from components.specs.network.tenant_network import Egress
from components.specs.reading.problems import Problem


def repository_reachable(environment: Environment) -> Iterator[Problem]:
    """Report VPCs that let nothing out although pods of their cluster are to fetch a repository."""
    border = environment.region.networks.border
    if border is not None and border.networks:
        return  # where a mirror of the repository may be
    for placed in clusters(environment):
        vpc = placed.vpc
        if placed.cluster.flux and vpc is not None and vpc.egress is Egress.NONE:
            there = place(environment, placed.file, (*placed.path, "flux"))
            text = (
                f"pods of VPC {vpc.name} reach nothing outside, and those of {placed.cluster.name} fetch a"
                f" repository ({there}); write public"
            )
            yield problem(environment, placed.file, (*placed.vpc_path, "egress"), text)
