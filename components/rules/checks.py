"""All cross-file rules of a region, and the functions that run them."""

import inspect
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from components.rules import causes, shared_values
from components.rules.add_ons import charts
from components.rules.hosts import inventory
from components.rules.network import fabrics, port_guids, tenant_network
from components.rules.pools import rollouts
from components.rules.region import fleet, locks, running
from components.rules.rule import Rule
from components.rules.tables import BELONGING, DATA, LOCKS, REFERENCES, WAIVABLE
from components.specs.base import Stage
from components.specs.environment import Environment
from components.specs.locks import AllocationsLock, ImagesLock
from components.specs.reading import neighbours
from components.specs.reading.cycle_collector import without_cycle_collector
from components.specs.reading.loader import ALLOCATIONS, IMAGE_PINS
from components.specs.reading.problems import FORM, MAX_PROBLEMS, Problem
from components.specs.region.policy import RuleId, WaiverSpec, longest_waiver

_GIVEN: tuple[Rule, ...] = (locks.numbers, running.numbers_gone, locks.hand_edits, locks.unpaired)
"""Rules about lock files that must pass before any allocation."""
_MEANT: tuple[Rule, ...] = (locks.hand_edits, locks.unpaired)
"""Rules about lock files that ``--accept-edits`` skips."""
_PROMOTED: frozenset[Rule] = frozenset(
    {
        locks.pins,
        locks.intents,
        rollouts.mixed,
        rollouts.mixed_dpus,
        charts.pins,
        charts.mixed,
    }
)
"""Rules whose violations a promotion fixes."""


def check(environment: Environment) -> list[Problem]:
    """Return all problems of ``environment``, sorted by file and line; empty if it is valid.

    Rules do not depend on the current time: the same data always has the same result. Policies report expired entries,
    including waivers. An out-of-date lock file is reported only if ``jacquard allocate`` can run.
    """
    blocking = _strange(environment)
    if blocking:
        return blocking
    edited, environment = _before_edits(environment)
    dangling, data = _run(REFERENCES, environment), _run(DATA, environment)
    locked = [] if dangling else _run(LOCKS, environment)
    forbidding = {rule_name(rule) for rule in (*_GIVEN, fabrics.partitions)}
    if data or any(problem.rule in forbidding for problem in locked):
        locked = [problem for problem in locked if not _outdated(problem)]
    return _causes_first(environment, sorted({*edited, *dangling, *data, *locked}))


def _before_edits(environment: Environment) -> tuple[list[Problem], Environment]:
    """Return edits of values that several pools share, and ``environment`` with the values before the edits."""
    found: list[Problem] = []
    for rule in shared_values.RULES:
        problems, environment = rule(environment)
        found += [_named(rule, problem) for problem in problems]
    return found, environment


def _causes_first(environment: Environment, found: list[Problem]) -> list[Problem]:
    """Return ``found`` without problems that only follow from edits of lock files, sizes, files or inventory rows."""
    found = _believed(found)
    if {rule_name(rule) for rule in causes.STAYS} & {problem.rule for problem in found}:
        found = [problem for problem in found if problem.rule != rule_name(locks.pins)]
    follows = [rule_name(rule) for rule in causes.FOLLOWS]
    lost = {rule_name(inventory.hall_files)} & {problem.rule for problem in found}
    certain = causes.nodes_without_rows(environment)
    if not certain and not any(causes.is_consequence(problem, follows) for problem in found):
        return found
    rows = [] if lost else _run(causes.EDITS, environment)
    if not lost and not rows:
        return found
    if certain:
        found = [problem for problem in found if not _outdated(problem)]
    if rule_name(causes.swapped_pools) in {problem.rule for problem in rows}:
        found = [problem for problem in found if problem.rule != rule_name(locks.pins)]
    return sorted({*rows, *(problem for problem in found if not causes.is_consequence(problem, follows))})


def _believed(found: list[Problem]) -> list[Problem]:
    """Return ``found`` without problems derived from an edited lock file, and without duplicates about one size.

    An edited VPC size is reported as an edit only; whether the new size would fit is irrelevant.
    """
    if any((one.rule, one.file) == (rule_name(locks.hand_edits), ALLOCATIONS) for one in found):
        strange = {rule_name(rule) for rule in causes.KEPT}
        found = [one for one in found if one.rule not in strange or one.file == ALLOCATIONS]
    sized = rule_name(tenant_network.vpc_sizes)
    edited = {(one.file, one.path) for one in found if one.rule == sized}
    return [one for one in found if one.rule == sized or (one.file, one.path) not in edited]


def _strange(environment: Environment) -> list[Problem]:
    """Return problems about lost or foreign lock files, with problems of the data that do not depend on lock files."""
    found = _run(BELONGING, environment)
    if not found:
        return []
    nothing = {
        "allocations": AllocationsLock(schema_version=AllocationsLock.FORMAT),
        "image_pins": ImagesLock(schema_version=ImagesLock.FORMAT),
    }
    return sorted({*found, *_run((*REFERENCES, *DATA), environment.model_copy(update=nothing))})


def _outdated(problem: Problem) -> bool:
    """Return whether ``jacquard allocate`` fixes ``problem``; such problems are hidden while it cannot run."""
    return problem.rule == rule_name(locks.allocations) and problem.file in {ALLOCATIONS, IMAGE_PINS}


def check_data(environment: Environment, *, edits_meant: bool = False) -> list[Problem]:
    """Return the problems that block an allocation, such as a number that is assigned twice.

    An edit of a lock file blocks too, unless ``edits_meant``: it may assign a cluster numbers that it never had. A lost
    lock file, or one of another region, always blocks.
    """
    blocking = _strange(environment)
    if blocking:
        return blocking
    edited, environment = _before_edits(environment)
    given = [rule for rule in _GIVEN if rule not in _MEANT or not edits_meant]
    found = _run((*REFERENCES, *DATA, *given), environment)
    if any(edit(environment) for edit in causes.EDITS):  # rare; otherwise the allocation itself reports the shortage
        found += [problem for problem in _run((locks.allocations,), environment) if not _outdated(problem)]
    return _causes_first(environment, sorted({*edited, *found}))


def waived(environment: Environment) -> list[tuple[Problem, WaiverSpec]]:
    """Return the problems that waivers suppress, expired or not, each with the waiver that lasts longest."""
    named = {waiver.rule for waiver in environment.waivers.waivers}
    found = _found([rule for rule in WAIVABLE if rule_name(rule) in named], environment)
    return [(problem, waiver) for problem in sorted(found) if (waiver := _waiver(environment, problem))]


def check_promotable(environment: Environment) -> list[Problem]:
    """Return the problems that block a change of pins: all except those that a promotion fixes."""
    mended = {*map(rule_name, _PROMOTED), RuleId.IMAGE_OUTSIDE_CHANNEL, RuleId.CHART_OUTSIDE_CHANNEL}
    return [problem for problem in check(environment) if problem.rule not in mended]


def check_regions(environments: Sequence[Environment]) -> dict[str, list[Problem]]:
    """Return the problems between ``environments`` by environment; environments without problems are left out.

    A problem between two environments is reported at the one with the later name, with file and line of the other. A
    problem of one environment's network edge is reported at that environment.
    """
    ordered = sorted(environments, key=lambda environment: environment.name)
    found: dict[str, set[Problem]] = defaultdict(set)
    for rule in fleet.RULES:
        for environment, problem in rule(ordered):
            found[environment.name].add(_named(rule, problem))
    return {name: sorted(problems) for name, problems in found.items()}


def check_neighbours(environment: Environment, folder: Path) -> list[Problem]:
    """Return the machines of ``environment`` that another region in ``folder`` lists too, when one region is checked.

    Only inventories are read there. A rehearsal has none of these problems.
    """
    if environment.region.stage is Stage.REHEARSAL:
        return []
    marks = neighbours.marks(folder, environment.name, (*inventory.HARDWARE, port_guids.COLUMN))
    return sorted(_bounded(fleet.neighbours(environment, marks)))


def rule_name(rule: Callable[..., object]) -> str:
    """Return the name of ``rule`` in reports and waivers: area and function, such as ``networks.vpc-sizes``.

    The area is the name of the rule's module, or its ``AREA`` where the module has an older published name.
    """
    area = getattr(sys.modules[rule.__module__], "AREA", rule.__module__.rpartition(".")[2])
    return f"{area}.{rule.__name__}".replace("_", "-")


def waivable() -> list[str]:
    """Return the names of the rules that ``waivers.yaml`` can waive."""
    return sorted(rule_name(rule) for rule in WAIVABLE)


def descriptions() -> dict[str, str]:
    """Return the docstring of each rule by rule name."""
    rules: tuple[Callable[..., object], ...] = (*REFERENCES, *DATA, *BELONGING, *LOCKS, *fleet.RULES)
    every = (*rules, *causes.EDITS, *shared_values.RULES)
    return {rule_name(rule): inspect.getdoc(rule) or "" for rule in every}


def _run(rules: Iterable[Rule], environment: Environment) -> list[Problem]:
    return [problem for problem in _found(rules, environment) if _waiver(environment, problem) is None]


def _waiver(environment: Environment, problem: Problem) -> WaiverSpec | None:
    if not problem.subject:
        return None
    return longest_waiver(environment.waivers.waivers, problem.rule, (problem.subject,))


def _found(rules: Iterable[Rule], environment: Environment) -> list[Problem]:
    with without_cycle_collector():
        return [_named(rule, problem) for rule in rules for problem in _bounded(rule(environment))]


def _bounded(problems: Iterable[Problem]) -> Iterator[Problem]:
    """Yield the problems of one rule, up to ``MAX_PROBLEMS``."""
    for count, problem in enumerate(problems):
        if count == MAX_PROBLEMS:
            text = f"rule stopped after {MAX_PROBLEMS:,} problems; fix those first"
            yield replace(problem, path="", text=text)
            return
        yield problem


def _named(rule: Callable[..., object], problem: Problem) -> Problem:
    """Return ``problem`` with the name of ``rule``, unless a policy already set its rule, which decides the waiver."""
    return replace(problem, rule=rule_name(rule)) if problem.rule == FORM else problem
