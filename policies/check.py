"""The same rules without an engine, for ``jacquard check`` and before ``jacquard up``."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass

from components.plan.manifests import manifests
from components.plan.slices import slices
from components.render.manifest import objects
from components.specs.environment import Environment
from components.specs.policy import WaiverSpec
from policies.facts import PROVIDER, STACK, Context, object_fact, stack_facts
from policies.judging import Judge, Violation
from policies.rules import RULES, change_in_freeze
from policies.verdict import Rule

_ENGINE_ONLY = frozenset({PROVIDER, STACK})
"""Kinds of facts that only a deploy has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What the rules say about everything that an environment renders."""

    objects: int = 0
    """How many objects that is, members of sets included."""
    refused: tuple[Violation, ...] = ()
    advised: tuple[Violation, ...] = ()
    waived: tuple[Violation, ...] = ()
    idle_waivers: tuple[WaiverSpec, ...] = ()
    """Waivers that nothing needs any more, or ever did."""


def judge(environment: Environment, now: dt.datetime) -> Judgement:
    """Return what the rules say about ``environment`` at ``now``."""
    judging = Judge(RULES, Context.of(environment, now))
    judged, count = judging.kinds, 0
    found: list[Violation] = []
    for piece in slices(environment):
        for manifest in objects(manifests(environment, piece)):
            count += 1
            if manifest.kind in judged:
                found += judging.violations(object_fact(manifest.body, manifest.cluster))
    used = {id(violation.waiver) for violation in found}
    return Judgement(
        objects=count,
        refused=tuple(item for item in found if item.is_refused),
        advised=tuple(item for item in found if not item.is_refused and not item.is_waived),
        waived=tuple(item for item in found if item.is_waived),
        idle_waivers=tuple(item for item in _judgeable(environment) if id(item) not in used),
    )


def frozen(environment: Environment, stack: str, now: dt.datetime) -> list[Violation]:
    """Return why ``stack`` may not be applied at ``now``; empty when no freeze that is not waived holds it."""
    context = Context.of(environment, now, stack)
    judging = Judge([change_in_freeze.RULE], context)
    return [item for fact in stack_facts(context) for item in judging.violations(fact) if item.is_refused]


def _judgeable(environment: Environment) -> Iterator[WaiverSpec]:
    """Yield the waivers of rules that can be judged without an engine."""
    rules: dict[str, Rule] = {rule.name: rule for rule in RULES}
    for waiver in environment.waivers.waivers:
        if waiver.rule in rules and not rules[waiver.rule].kinds & _ENGINE_ONLY:
            yield waiver
