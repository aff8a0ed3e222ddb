"""Rules about pod priorities: declared, and at most one default."""

from collections.abc import Iterator

from components.lookups.pools import clusters, problem
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.reading.loader import ADD_ONS
from components.specs.reading.problems import Problem, undeclared


def listed_priorities(environment: Environment) -> Iterator[Problem]:
    """Report pod priorities of clusters that the catalogue does not declare."""
    declared = [priority.name for priority in environment.add_ons.pod_priorities]
    for placed in clusters(environment):
        for at, name in enumerate(placed.cluster.pod_priorities):
            if name not in declared:
                path = (*placed.path, "pod_priorities", at)
                yield problem(environment, placed.file, path, undeclared(name, declared, ADD_ONS))


def one_default(environment: Environment) -> Iterator[Problem]:
    """Report a second default priority, because the API server rejects it."""
    rows = [(at, priority.name) for at, priority in enumerate(environment.add_ons.pod_priorities) if priority.default]
    for at, _ in rows[1:]:
        text = f"{rows[0][1]} is already the default, and there can be only one; remove it"
        yield problem(environment, ADD_ONS, ("pod_priorities", at, "default"), text)


RULES = Rules(data=(listed_priorities, one_default))
