"""Rules about pod priorities: declared, and at most one default."""

from __future__ import annotations

from collections.abc import Iterator

from components.lookups.pools import clusters, problem
from components.rules.references import undeclared
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.reading.loader import ADD_ONS
from components.specs.reading.problems import Problem


def listed_priorities(environment: Environment) -> Iterator[Problem]:
    """Report pod priorities of a cluster that the catalogue does not have."""
    declared = [priority.name for priority in environment.add_ons.pod_priorities]
    for placed in clusters(environment):
        for at, name in enumerate(placed.cluster.pod_priorities):
            if name not in declared:
                path = (*placed.path, "pod_priorities", at)
                yield problem(environment, placed.file, path, undeclared(name, declared, ADD_ONS))


def one_default(environment: Environment) -> Iterator[Problem]:
    """Report further default priorities: the API server rejects a second one."""
    rows = [(at, priority.name) for at, priority in enumerate(environment.add_ons.pod_priorities) if priority.default]
    for at, _ in rows[1:]:
        text = f"{rows[0][1]} is the default already, and only one can be; remove it"
        yield problem(environment, ADD_ONS, ("pod_priorities", at, "default"), text)


RULES = Rules(data=(listed_priorities, one_default))
