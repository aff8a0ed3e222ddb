"""Runs the rules without an engine, for ``jacquard check`` and before ``jacquard up``."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from components.inputs.manifests import manifests
from components.lookups.slices import slices
from components.render.manifest import objects
from components.rules import checks
from components.specs.environment import Environment
from components.specs.reading.problems import Problem
from components.specs.region.policy import WaiverSpec
from policies import extensions
from policies.facts import PROVIDER, STACK, Context, object_fact, stack_facts
from policies.judging import Judge, Violation
from policies.rules import change_in_freeze

_ENGINE_ONLY = frozenset({PROVIDER, STACK})
"""Kinds of facts that only a deploy has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What the rules say about everything that an environment renders."""

    objects: int = 0
    """Number of objects that are rendered, members of sets included."""
    resources: Mapping[str, int] = field(default_factory=dict)
    """Number of Pulumi resources that each slice renders, by its name; a set is one."""
    refused: tuple[Violation, ...] = ()
    advised: tuple[Violation, ...] = ()
    waived: tuple[Violation, ...] = ()
    waived_checks: tuple[tuple[Problem, WaiverSpec], ...] = ()
    """Cross-checks that waivers let pass; one whose waiver has expired is a problem of the data."""
    idle_waivers: tuple[WaiverSpec, ...] = ()
    """Waivers that nothing needs any more, or ever did."""

    @property
    def waived_count(self) -> int:
        """Return how many offences waivers let pass."""
        return len(self.waived) + len(self.waived_checks)


def judge(environment: Environment, now: dt.datetime) -> Judgement:
    """Return what the rules say about ``environment`` at ``now``."""
    judging = Judge(extensions.rules(), Context.of(environment, now))
    judged, count = judging.kinds, 0
    found: list[Violation] = []
    resources: dict[str, int] = {}
    for piece in slices(environment):
        rendered = manifests(environment, piece)
        resources[piece.name] = len(rendered)
        for manifest in objects(rendered):
            count += 1
            if manifest.kind in judged:
                found += judging.violations(object_fact(manifest.body, manifest.cluster))
    waived_checks = checks.waived(environment)
    used = {id(violation.waiver) for violation in found} | {id(waiver) for _, waiver in waived_checks}
    return Judgement(
        objects=count,
        resources=resources,
        refused=tuple(item for item in found if item.is_refused),
        advised=tuple(item for item in found if not item.is_refused and not item.is_waived),
        waived=tuple(item for item in found if item.is_waived),
        waived_checks=tuple(waived_checks),
        idle_waivers=tuple(item for item in _judgeable(environment) if id(item) not in used),
    )


def frozen(environment: Environment, stack: str, now: dt.datetime) -> list[Violation]:
    """Return why ``stack`` may not be applied at ``now``; empty when no freeze that is not waived holds it."""
    context = Context.of(environment, now, stack)
    judging = Judge([change_in_freeze.RULE], context)
    return [item for fact in stack_facts(context) for item in judging.violations(fact) if item.is_refused]


def _judgeable(environment: Environment) -> Iterator[WaiverSpec]:
    """Yield the waivers of rules that can be judged without an engine and without a look at nodes."""
    judged = {rule.name for rule in extensions.rules() if not rule.kinds & _ENGINE_ONLY}
    judged |= set(checks.waivable())
    yield from (waiver for waiver in environment.waivers.waivers if waiver.rule in judged)
