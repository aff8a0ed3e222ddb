"""What ``policy.yaml`` and ``waivers.yaml`` say about rules: of rules that exist, and no more than a stage allows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from components.plan.pools import DataPath, problem
from components.specs.environment import Environment
from components.specs.loader import POLICY, WAIVERS
from components.specs.policy import Enforcement
from components.specs.problems import Problem, listed, suggestion
from policies.rules import RULES

UNKNOWN_RULE = "policies.unknown-rule"
FIRM_RULE = "policies.firm-rule"
DESCRIPTIONS = {
    UNKNOWN_RULE: "Report rules of policies that policy.yaml or waivers.yaml names and that do not exist.",
    FIRM_RULE: "Report critical rules of policies that policy.yaml of a production environment makes advisory.",
}


def problems(environment: Environment) -> list[Problem]:
    """Return what is wrong with the settings of rules, sorted by file and line."""
    return sorted({*_unknown(environment), *_firm(environment)})


def _unknown(environment: Environment) -> Iterator[Problem]:
    known = [rule.name for rule in RULES]
    named: list[tuple[str, DataPath, str]] = [(POLICY, ("rules", name), name) for name in environment.policy.rules]
    named += [
        (WAIVERS, ("waivers", index, "rule"), waiver.rule) for index, waiver in enumerate(environment.waivers.waivers)
    ]
    for file, path, name in named:
        if name not in known:
            text = f"'{name}' is no rule (rules: {listed(known)}); remove it or pick one{suggestion(name, known)}"
            yield _named(UNKNOWN_RULE, problem(environment, file, path, text))


def _firm(environment: Environment) -> Iterator[Problem]:
    for rule in RULES:
        level = environment.policy.rules.get(rule.name)
        if level is Enforcement.ADVISORY and rule.is_firm(environment.region.stage):
            text = (
                f"must stay mandatory in production, since {rule.why}; remove it, and name what may offend in {WAIVERS}"
            )
            yield _named(FIRM_RULE, problem(environment, POLICY, ("rules", rule.name), text))


def _named(rule: str, found: Problem) -> Problem:
    return replace(found, rule=rule)
