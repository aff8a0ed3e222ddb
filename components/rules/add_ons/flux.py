"""Rules about the Git repositories of Flux in tenants' clusters: pods must reach the repository."""

from collections.abc import Iterator

from components.lookups.pools import clusters, place, problem
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.network.tenant_network import Egress
from components.specs.reading.problems import Problem


def repository_reachable(environment: Environment) -> Iterator[Problem]:
    """Report VPCs without egress whose clusters must fetch a repository."""
    border = environment.region.networks.border
    if border is not None and border.networks:
        return  # A network behind the edge may have a mirror of the repository.
    for placed in clusters(environment):
        vpc = placed.vpc
        if placed.cluster.flux and vpc is not None and vpc.egress is Egress.NONE:
            there = place(environment, placed.file, (*placed.path, "flux"))
            text = (
                f"pods of VPC {vpc.name} have no egress, but {placed.cluster.name} must fetch a repository ({there});"
                " write public"
            )
            yield problem(environment, placed.file, (*placed.vpc_path, "egress"), text)


RULES = Rules(data=(repository_reachable,))
