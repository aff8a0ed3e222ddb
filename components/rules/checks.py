"""All cross-file rules of a region, and the functions that run them."""

import datetime as dt
import inspect
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from components.rules import causes, shared_values
from components.rules.consequences import without_consequences
from components.rules.fleet import campaigns, delegation, fleet, orders, regions
from components.rules.rule import AdvisoryPeriod, Rule, advisory_period, named, rule_name
from components.rules.tables import ALL, CHANGES
from components.specs.base import Stage
from components.specs.cycle_collector import without_cycle_collector
from components.specs.environment import Environment
from components.specs.locks import AllocationsLock, ImagesLock
from components.specs.reading import neighbours
from components.specs.reading.fleet import Fleet, load_fleet
from components.specs.reading.problems import MAX_PROBLEMS, Problem, SpecError
from components.specs.region.policy import RuleId, WaiverSpec, longest_waiver

_NO_LOCKS = {
    "allocations": AllocationsLock.empty(),
    "image_pins": ImagesLock.empty(),
}


def check(environment: Environment) -> list[Problem]:
    """Return all problems of ``environment``, sorted by file and line; empty if it is valid.

    Rules do not depend on the current time: the same data always has the same result. `errors` and `warnings` separate
    the problems of new rules by day. Policies report expired entries, including waivers. An out-of-date lock file is
    reported only if ``jacquard allocate`` can run.
    """
    return _check(environment, ALL.data, ALL.locks)


def errors(problems: Iterable[Problem], today: dt.date) -> list[Problem]:
    """Return the ``problems`` that block on ``today``."""
    return [problem for problem in problems if binding(problem, today) is None]


def warnings(problems: Iterable[Problem], today: dt.date) -> list[Problem]:
    """Return the ``problems`` of new rules that do not block on ``today``, because their advisory period is open."""
    return [problem for problem in problems if binding(problem, today) is not None]


def binding(problem: Problem, today: dt.date) -> dt.date | None:
    """Return the first day on which ``problem`` is an error; None if it is one on ``today``."""
    period = advisory_periods().get(problem.rule)
    return period.binding if period and period.is_open(today) else None


@cache
def advisory_periods() -> dict[str, AdvisoryPeriod]:
    """Return the advisory periods of new rules, by rule name."""
    return {rule_name(rule): period for rule in _every_rule() if (period := advisory_period(rule))}


def check_data(environment: Environment, *, edits_meant: bool = False) -> list[Problem]:
    """Return the problems that block an allocation, such as a number that is assigned twice.

    An edit of a lock file blocks too, unless ``edits_meant``: it may assign a cluster numbers that it never had. A lost
    lock file, or one of another region, always blocks.
    """
    blocking = [rule for rule in ALL.blocking if rule not in ALL.acceptable or not edits_meant]
    return _check(environment, (*ALL.data, *blocking))


def _check(environment: Environment, data: Iterable[Rule], locks: Iterable[Rule] = ()) -> list[Problem]:
    """Return the problems that references, ``data`` and ``locks`` report, without mere consequences of others.

    Data of another region are only reported as such, because comparisons with other files are not meaningful.
    Lock files that do not belong to the region count as empty. While a reference dangles, ``locks`` do not run.
    """
    strange = _run(ALL.identity, environment)
    if any(strange.values()):
        return sorted(without_consequences(strange))
    findings = _run(ALL.belonging, environment)
    if any(findings.values()):
        environment, locks = environment.model_copy(update=_NO_LOCKS), ()
    edited, environment = shared_values.rewind(environment)
    references = _run(ALL.references, environment)
    findings |= references | _run(data, environment)
    findings |= dict.fromkeys(locks, ()) if any(references.values()) else _run(locks, environment)
    edits = _run(ALL.edits, environment)
    if any(edits.values()) and causes.lack_hosts(environment, findings):
        findings |= edits
    return sorted({*edited, *without_consequences(findings)})


def check_change(base: Environment, head: Environment, today: dt.date) -> list[Problem]:
    """Return the problems of the change from ``base`` to ``head`` that no waiver valid on ``today`` suppresses.

    Both sides must be free of other problems. `errors` and `warnings` separate the problems of new rules by day.
    The texts of errors name the waiver.
    """
    return sorted(
        item if binding(item, today) else replace(item, text=f"{item.text}; {_waiver_hint(item)}")
        for item in (named(rule, problem) for rule in CHANGES for problem in _bounded(rule(base, head)))
        if (waiver := _waiver(head, item)) is None or not waiver.is_valid(today)
    )


def _waiver_hint(problem: Problem) -> str:
    return f"if the change is right, add a waiver of {problem.rule} for {problem.subject}"


def warning_lines(problems: Iterable[Problem], today: dt.date) -> tuple[str, ...]:
    """Return the `warnings` among ``problems`` as one line each: place, problem, remedy, rule and first day."""
    return tuple(
        f"{item.place} {item.where}{item.text} ({item.rule}, an error from {binding(item, today)})"
        for item in warnings(problems, today)
    )


def waived(environment: Environment) -> list[tuple[Problem, WaiverSpec]]:
    """Return the problems that waivers suppress, expired or not, each with the waiver that lasts longest."""
    rules = {waiver.rule for waiver in environment.waivers.waivers}
    found = [problem for rule in ALL.waivable if rule_name(rule) in rules for problem in _problems(rule, environment)]
    return [(problem, waiver) for problem in sorted(found) if (waiver := _waiver(environment, problem))]


def check_promotable(environment: Environment) -> list[Problem]:
    """Return the problems that block a change of pins: all except those that a promotion fixes."""
    fixed_by_promotion = {*map(rule_name, ALL.promoted), RuleId.IMAGE_OUTSIDE_CHANNEL, RuleId.CHART_OUTSIDE_CHANNEL}
    return [problem for problem in check(environment) if problem.rule not in fixed_by_promotion]


def new_problems(before: Iterable[Problem], after: Environment) -> list[Problem]:
    """Return the problems of ``after`` of another rule or at another place than the problems ``before``."""
    known = {(problem.rule, problem.file, problem.path) for problem in before}
    return [problem for problem in check(after) if (problem.rule, problem.file, problem.path) not in known]


def check_regions(environments: Sequence[Environment]) -> dict[str, list[Problem]]:
    """Return the problems between ``environments`` by environment; environments without problems are left out.

    A problem between two environments is reported at the one with the later name, with file and line of the other. A
    problem of one environment's network edge is reported at that environment.
    """
    ordered = sorted(environments, key=lambda environment: environment.name)
    found: dict[str, set[Problem]] = defaultdict(set)
    for rule in regions.RULES:
        for environment, problem in rule(ordered):
            found[environment.name].add(named(rule, problem))
    return {name: sorted(problems) for name, problems in found.items()}


def check_fleet(known: Fleet, environments: Sequence[Environment]) -> dict[str, list[Problem]]:
    """Return the problems of the fleet with ``environments``, by environment, or under the name of the fleet itself."""
    ordered = sorted(environments, key=lambda environment: environment.name)
    found: dict[str, set[Problem]] = defaultdict(set)
    meant = fleet.with_meant_names(known)
    for rule in (*fleet.RULES, *delegation.FLEET_RULES, *orders.RULES, *campaigns.RULES):
        for name, problem in rule(known if rule is fleet.missing_regions else meant, ordered):
            found[name].add(named(rule, problem))
    return {name: sorted(problems) for name, problems in found.items()}


def valid_fleet(folder: Path) -> Fleet | None:
    """Return the fleet of ``folder`` (all environments); None if its files are invalid, as `check` of all reports."""
    try:
        return load_fleet(folder)
    except SpecError:
        return None


def check_growth(known: Fleet | None, base: Environment, head: Environment) -> list[Problem]:
    """Return the problems of the change from ``base`` to ``head``, of a region that takes no orders by the fleet."""
    if known is None:
        return []
    return sorted(named(rule, problem) for rule in fleet.CHANGES for problem in rule(known, base, head))


def check_removed(before: Sequence[Environment], names: Collection[str]) -> list[Problem]:
    """Return the problems of the removal of the regions of ``before`` that are not in ``names``."""
    return sorted(named(fleet.removed_regions, problem) for problem in fleet.removed_regions(before, names))


def check_neighbours(environment: Environment, folder: Path) -> list[Problem]:
    """Return the problems of ``environment`` with other regions in ``folder``, when one region is checked.

    Only ``region.yaml`` and inventories are read there, and ``fleet.yaml``; `check_regions` also compares buckets. A
    rehearsal has none of these problems.
    """
    if environment.region.stage is Stage.REHEARSAL:
        return []
    marks = neighbours.marks(folder, environment.name, regions.identities(environment))
    others = [
        _with_region_only({"name": name, "region": region, "positions": positions})
        for name, region, positions in neighbours.regions(folder, environment.name)
    ]
    found = {
        named(rule, problem)
        for rule in regions.OF_REGION_FILES
        for place, problem in rule([*others, environment])
        if place is environment
    }
    return sorted(_bounded((*found, *regions.neighbours(environment, marks), *_in_fleet(environment, folder))))


def _in_fleet(environment: Environment, folder: Path) -> list[Problem]:
    """Return the problems of ``environment`` with a valid ``fleet.yaml``; the check of all regions reports others."""
    known = valid_fleet(folder)
    return check_fleet(known, [environment]).get(environment.name, []) if known else []


def _with_region_only(fields: Mapping[str, Any]) -> Environment:
    """Return an environment of which the rules ``regions.OF_REGION_FILES`` can read ``fields``."""
    return Environment.model_construct(**fields)


def waivable(*, compared: bool = True) -> list[str]:
    """Return the names of the rules that ``waivers.yaml`` can waive; unless ``compared``, without rules on a change."""
    return sorted(rule_name(rule) for rule in (*ALL.waivable, *(CHANGES if compared else ())))


@cache
def descriptions() -> dict[str, str]:
    """Return the docstring of each rule by rule name."""
    return {rule_name(rule): inspect.getdoc(rule) or "" for rule in _every_rule()}


def rooms() -> dict[str, str]:
    """Return the room of each rule by rule name, such as ``network``; ``region`` for rules outside the rooms."""
    names = {rule_name(rule): rule.__module__.removeprefix("components.rules.") for rule in _every_rule()}
    return {name: module.partition(".")[0] if "." in module else "region" for name, module in names.items()}


def _every_rule() -> tuple[Callable[..., object], ...]:
    rules: tuple[Callable[..., object], ...] = (*ALL.identity, *ALL.references, *ALL.data, *ALL.belonging, *ALL.locks)
    between: tuple[Callable[..., object], ...] = (
        *regions.RULES,
        *fleet.RULES,
        *delegation.FLEET_RULES,
        *orders.RULES,
        *campaigns.RULES,
        *fleet.CHANGES,
        fleet.removed_regions,
    )
    return (*rules, *between, *CHANGES, *ALL.edits, *shared_values.RULES)


def _run(rules: Iterable[Rule], environment: Environment) -> dict[Rule, Sequence[Problem]]:
    """Return the problems of each rule that no waiver suppresses."""
    with without_cycle_collector():
        return {
            rule: [problem for problem in _problems(rule, environment) if _waiver(environment, problem) is None]
            for rule in rules
        }


def _waiver(environment: Environment, problem: Problem) -> WaiverSpec | None:
    if not problem.subject:
        return None
    return longest_waiver(environment.waivers.waivers, problem.rule, (problem.subject,))


def _problems(rule: Rule, environment: Environment) -> list[Problem]:
    return [named(rule, problem) for problem in _bounded(rule(environment))]


def _bounded(problems: Iterable[Problem]) -> Iterator[Problem]:
    """Yield the problems of one rule, up to ``MAX_PROBLEMS``."""
    for count, problem in enumerate(problems):
        if count == MAX_PROBLEMS:
            text = f"rule stopped after {MAX_PROBLEMS:,} problems; fix those first"
            yield replace(problem, path="", text=text)
            return
        yield problem
