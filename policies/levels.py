"""Validates the rule names, levels and waiver dates in ``policy.yaml`` and ``waivers.yaml``."""

import datetime as dt
from collections.abc import Iterator
from dataclasses import replace

from components.lookups.pools import DataPath, problem
from components.rules import checks
from components.specs.environment import Environment
from components.specs.reading.loader import POLICY, WAIVERS
from components.specs.reading.problems import Problem, listed, nearest, suggestion
from components.specs.region.policy import Enforcement, RuleId
from policies import extensions

UNKNOWN_RULE = "policies.unknown-rule"
FIRM_RULE = "policies.firm-rule"
DESCRIPTIONS = {
    UNKNOWN_RULE: "Report policies in policy.yaml or waivers.yaml that do not exist.",
    FIRM_RULE: "Report critical policies that policy.yaml of a production environment makes advisory.",
}


def all_problems(environment: Environment, now: dt.datetime) -> list[Problem]:
    """Return the problems of the data and of the settings of rules at ``now``, sorted by file and line.

    A problem whose waiver has a misspelt rule is omitted: the correction of the rule permits it.
    """
    waivable = _waivable()
    meant = {
        (nearest(waiver.rule, waivable), waiver.subject)
        for waiver in environment.waivers.waivers
        if waiver.rule not in waivable
    }
    found = [item for item in checks.check(environment) if not item.subject or (item.rule, item.subject) not in meant]
    return sorted((*found, *problems(environment, now)))


def problems(environment: Environment, now: dt.datetime) -> list[Problem]:
    """Return the errors in rules and their settings at ``now``, sorted by file and line."""
    return sorted(
        {
            *extensions.problems(),
            *_unknown(environment),
            *_firm(environment),
            *_lapsed(environment, now.astimezone(dt.UTC).date()),
        }
    )


def _unknown(environment: Environment) -> Iterator[Problem]:
    policies, waivable = [rule.name for rule in extensions.rules()], _waivable()
    named: list[tuple[str, DataPath, str, list[str]]] = [
        (POLICY, ("rules", name), name, policies) for name in environment.policy.rules
    ]
    named += [
        (WAIVERS, ("waivers", index, "rule"), waiver.rule, waivable)
        for index, waiver in enumerate(environment.waivers.waivers)
    ]
    for file, path, name, known in named:
        if name not in known:
            reason = "is a cross-check that cannot be waived" if name in checks.descriptions() else "is not a rule"
            text = f"'{name}' {reason} (rules: {listed(known)}); remove it or pick one{suggestion(name, known)}"
            yield _named(UNKNOWN_RULE, problem(environment, file, path, text))


def _waivable() -> list[str]:
    return [*(rule.name for rule in extensions.rules()), RuleId.UNIFORMITY, *checks.waivable()]


def _lapsed(environment: Environment, today: dt.date) -> Iterator[Problem]:
    for violation, waiver in checks.waived(environment):
        if not waiver.is_valid(today):
            text = (
                f"{violation.text}; its waiver is void since {waiver.expires}: remove it from {WAIVERS}, or agree on a"
                f" new date with {waiver.owner} ({waiver.ticket})"
            )
            yield replace(violation, text=text)


def _firm(environment: Environment) -> Iterator[Problem]:
    for rule in extensions.rules():
        level = environment.policy.rules.get(rule.name)
        if level is Enforcement.ADVISORY and rule.is_firm(environment.region.stage):
            text = f"must stay mandatory in production, since {rule.why}; remove it, and waive exceptions in {WAIVERS}"
            yield _named(FIRM_RULE, problem(environment, POLICY, ("rules", rule.name), text))


def _named(rule: str, item: Problem) -> Problem:
    return replace(item, rule=rule)
