"""Rules about tests of nodes: images, and clusters and pools in which they act."""

from collections.abc import Iterator

from components.lookups.add_ons import gives
from components.lookups.health.node_tests import needed_tools
from components.lookups.pools import clusters, pools, problem
from components.rules.rule import Rules
from components.specs.add_ons.add_ons import Capability
from components.specs.environment import Environment
from components.specs.pools.node_pool import BurnIn, PoolRole
from components.specs.reading.loader import REGION, VERSIONS
from components.specs.reading.problems import Problem, listed


def images(environment: Environment) -> Iterator[Problem]:
    """Report tests of nodes without the images that they run."""
    missing = [name for name in needed_tools(environment) if name not in environment.versions.tool_names]
    if environment.region.nodes.tests is not None and missing:
        text = (
            f"requires images that are not among tools of {VERSIONS}: {listed(missing)}; add them there, or remove"
            " tests"
        )
        yield problem(environment, REGION, ("nodes", "tests"), text)


def gated_pools(environment: Environment) -> Iterator[Problem]:
    """Report pools with a burn-in whose nodes would never run pods: without the controller, or with its own pods."""
    nodes = environment.region.nodes
    if nodes.tests is None or nodes.burn_in is not None:
        return
    able = {
        placed.cluster.name for placed in clusters(environment) if gives(environment, placed, Capability.NODE_READINESS)
    }
    for placed in pools(environment):
        if placed.pool.health.burn_in is not BurnIn.GATED:
            continue
        path = (*placed.path, "health", "burn_in")
        if placed.cluster.name not in able:
            text = (
                f"{BurnIn.GATED} requires an add-on that provides {Capability.NODE_READINESS}, which ends the burn-in;"
                f" add it to add_ons of {placed.cluster.name}, or write {BurnIn.NONE}"
            )
            yield problem(environment, placed.file, path, text)
        elif placed.pool.role is PoolRole.SYSTEM:
            text = (
                f"{BurnIn.GATED} is not possible for the system pool, which runs the controller that ends the burn-in;"
                f" write {BurnIn.NONE}"
            )
            yield problem(environment, placed.file, path, text)
        elif all(pool.health.burn_in is BurnIn.GATED for pool in placed.cluster.pools):
            text = (
                f"{BurnIn.GATED} requires a pool without burn-in in {placed.cluster.name}, where the add-ons run that"
                f" end it; add a system pool, or write {BurnIn.NONE}"
            )
            yield problem(environment, placed.file, path, text)


RULES = Rules(data=(images, gated_pools))
