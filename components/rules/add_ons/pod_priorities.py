"""Priorities of pods: declared, and one of them the default at most."""

from __future__ import annotations

from collections.abc import Iterator

from components.lookups.pools import clusters, problem
from components.rules.references import undeclared
from components.specs.environment import Environment
from components.specs.reading.loader import ADD_ONS
from components.specs.reading.problems import Problem


def listed_priorities(environment: Environment) -> Iterator[Problem]:
    """Report priorities that a cluster lists and the catalogue has not."""
    declared = [one.name for one in environment.add_ons.pod_priorities]
    for placed in clusters(environment):
        for at, name in enumerate(placed.cluster.pod_priorities):
            if name not in declared:
                path = (*placed.path, "pod_priorities", at)
                yield problem(environment, placed.file, path, undeclared(name, declared, ADD_ONS))


def one_default(environment: Environment) -> Iterator[Problem]:
    """Report further priorities that pods without one would get: an API server refuses the second."""
    rows = [(at, one.name) for at, one in enumerate(environment.add_ons.pod_priorities) if one.default]
    for at, _ in rows[1:]:
        text = f"{rows[0][1]} is the default already, and a pod that names no priority gets one; remove it"
        yield problem(environment, ADD_ONS, ("pod_priorities", at, "default"), text)
