"""Rules about deviations from the library's checks of nodes: known, effective, and at most one for each type."""

from collections.abc import Iterable, Iterator

from components.lookups.health.node_checks import applies, library_checks
from components.lookups.pools import DataPath, place, problem
from components.rules.references import lost_types
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.reading.loader import HEALTH, INSTANCE_TYPES
from components.specs.reading.problems import Problem, listed, suggestion, undeclared


def override_references(environment: Environment) -> Iterator[Problem]:
    """Report deviations for unknown checks and undeclared instance types."""
    known = list(library_checks())
    for index, override in enumerate(environment.health.health_overrides):
        if override.check not in known:
            near = suggestion(override.check, known)
            text = f"'{override.check}' is not a check of nodes (known: {listed(known)}){near}"
            yield problem(environment, HEALTH, ("health_overrides", index, "check"), text)
        yield from _undeclared(environment, ("health_overrides", index), override.instance_types)


def limit_references(environment: Environment) -> Iterator[Problem]:
    """Report limits of repairs for undeclared instance types."""
    for index, limit in enumerate(environment.health.repair_limits):
        yield from _undeclared(environment, ("repair_limits", index), limit.instance_types)


def _undeclared(environment: Environment, path: DataPath, names: Iterable[str]) -> Iterator[Problem]:
    types, lost = list(environment.instance_types.by_name), lost_types(environment)
    for at, name in enumerate(names):
        if name not in types and name not in lost:
            text = undeclared(name, types, INSTANCE_TYPES)
            yield problem(environment, HEALTH, (*path, "instance_types", at), text)


def limited_once(environment: Environment) -> Iterator[Problem]:
    """Report a second limit of repairs for an instance type, or for all types, because only one could apply."""
    first: dict[str, int] = {}
    for index, limit in enumerate(environment.health.repair_limits):
        for kind in limit.instance_types or ("all instance types",):
            if kind in first:
                there = place(environment, HEALTH, ("repair_limits", first[kind]))
                text = f"{kind} already has a limit of repairs in {there}; remove one"
                yield problem(environment, HEALTH, ("repair_limits", index), text)
            first.setdefault(kind, index)


def overridden_once(environment: Environment) -> Iterator[Problem]:
    """Report a second deviation for a check and instance type, because only one could apply."""
    first: dict[tuple[str, str], int] = {}
    every = tuple(environment.instance_types.by_name)
    for index, override in enumerate(environment.health.health_overrides):
        taken = {
            first[override.check, kind]: kind
            for kind in override.instance_types or every
            if (override.check, kind) in first
        }
        for other, kind in taken.items():
            there = place(environment, HEALTH, ("health_overrides", other))
            text = f"{override.check} of {kind} is already overridden in {there}; remove one"
            yield problem(environment, HEALTH, ("health_overrides", index), text)
        for kind in override.instance_types or every:
            first.setdefault((override.check, kind), index)


def effective_overrides(environment: Environment) -> Iterator[Problem]:
    """Report deviations without effect: for types without the hardware, or actions that require a condition."""
    checks, types = library_checks(), environment.instance_types.by_name
    for index, override in enumerate(environment.health.health_overrides):
        check, path = checks.get(override.check), ("health_overrides", index)
        if check is None:
            continue
        if override.action is not None and override.action not in check.actions:
            text = (
                f"{check.name} sets no condition; only checks with a condition can {override.action} a node;"
                f" write {' or '.join(check.actions)}, or remove the override"
            )
            yield problem(environment, HEALTH, (*path, "action"), text)
        for at, name in enumerate(override.instance_types):
            if name in types and not applies(check.part, types[name]):
                text = f"nodes of {name} have no {check.part}, which {check.name} is about; remove it"
                yield problem(environment, HEALTH, (*path, "instance_types", at), text)


RULES = Rules(
    references=(override_references, limit_references), data=(overridden_once, effective_overrides, limited_once)
)
