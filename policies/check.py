"""Evaluates the policies without an engine, for ``jacquard check`` and before ``jacquard up``."""

import datetime as dt
from collections.abc import Iterator, Mapping

from components.inputs.manifests import manifests
from components.intents.images import waivers_of_declared_images
from components.lookups.monitor_targets import MONITORS, targets
from components.lookups.observed_components import RELEASES, Observers, selected
from components.lookups.slices import slices
from components.render.manifest import Manifest, created, patched
from components.rules import checks
from components.specs.environment import Environment
from components.specs.reading.problems import Problem
from components.specs.region.policy import WaiverSpec
from components.specs.struct import Struct, field, replace
from policies import extensions
from policies.facts import PROVIDER, REFERENCE, RESOURCE, STACK, WAIVER, Context, Fact, object_fact, stack_facts
from policies.judging import Judge, Violation
from policies.rules.deployments import change_in_freeze

_LAST = MONITORS | RELEASES
"""Kinds of objects that are compared with all other objects."""
_ENGINE_ONLY = frozenset({PROVIDER, REFERENCE, RESOURCE, STACK})
"""Kinds of facts that exist only in a deployment."""


class Judgement(Struct):
    """Result of evaluating the policies for all rendered objects of an environment."""

    objects: int = 0
    """Number of rendered objects, including members of object sets."""
    resources: Mapping[str, int] = field(default_factory=dict)
    """Number of Pulumi resources by name of the slice; an object set counts as one resource."""
    refused: tuple[Violation, ...] = ()
    advised: tuple[Violation, ...] = ()
    waived: tuple[Violation, ...] = ()
    waived_checks: tuple[tuple[Problem, WaiverSpec], ...] = ()
    """Cross-check problems with a valid waiver; a problem whose waiver has expired is reported as a data error."""
    idle_waivers: tuple[WaiverSpec, ...] = ()
    """Waivers that match no violation."""

    @property
    def warnings(self) -> tuple[Violation, ...]:
        """Return the violations of new policies that are refused from a later day."""
        return tuple(item for item in self.advised if item.binding)

    @property
    def waived_count(self) -> int:
        """Return the number of waived violations."""
        return len(self.waived) + len(self.waived_checks)


def judge(environment: Environment, now: dt.datetime, *, is_strict: bool = False) -> Judgement:
    """Evaluate the policies for ``environment`` at ``now``; with ``is_strict``, new policies are mandatory already."""
    context = Context.of(environment, now, is_strict=is_strict)
    evaluator = Judge(extensions.rules(), context)
    judged, count = evaluator.kinds, 0
    violations: list[Violation] = []
    facts: list[Fact] = []
    resources: dict[str, int] = {}
    last: list[Fact] = []
    everything: list[Manifest] = []
    for piece in slices(environment):
        rendered = manifests(environment, piece)
        resources[piece.name] = len(rendered)
        source = f"slice {piece.name}"
        new = tuple(created(rendered))
        everything += new
        known = [object_fact(item.body, item.cluster, source=source) for item in new]
        parts = [object_fact(item.body, item.cluster) for item in patched(rendered)]
        count += len(known) + len(parts)
        last += [fact for fact in known if fact.kind in _LAST]
        at_once = [fact for fact in (*known, *parts) if fact.kind in judged and fact.kind not in _LAST]
        violations += [item for fact in at_once for item in evaluator.violations(fact)]
        facts += known
    violations += evaluator.stack_violations(facts)
    found = tuple(targets(everything))
    monitors = [item for item in everything if item.kind in MONITORS]
    everywhere = replace(context, targets=found, monitored=selected(monitors, found), observers=Observers(everything))
    evaluator = Judge(extensions.rules(), everywhere)
    violations += [item for fact in last for item in evaluator.violations(fact)]
    violations += [item for fact in _waiver_facts(environment) for item in evaluator.violations(fact)]
    waived_checks = checks.waived(environment)
    used = {id(violation.waiver) for violation in violations} | {id(waiver) for _, waiver in waived_checks}
    used |= set(map(id, waivers_of_declared_images(environment)))
    return Judgement(
        objects=count,
        resources=resources,
        refused=tuple(item for item in violations if item.is_refused),
        advised=tuple(item for item in violations if not item.is_refused and not item.is_waived),
        waived=tuple(item for item in violations if item.is_waived),
        waived_checks=tuple(waived_checks),
        idle_waivers=tuple(item for item in _judgeable(environment) if id(item) not in used),
    )


def _waiver_facts(environment: Environment) -> Iterator[Fact]:
    """Yield a fact for each waiver, with the severity of the waived policy; cross-checks have no severity."""
    severities = {rule.name: rule.severity for rule in extensions.rules()}
    for waiver in environment.waivers.waivers:
        body = {**waiver.model_dump(), "severity": severities.get(waiver.rule)}
        yield Fact(kind=WAIVER, title=f"waiver of {waiver.rule} for {waiver.subject}", body=body)


def new_violations(before: Environment, after: Environment, now: dt.datetime) -> list[Violation]:
    """Return the refused violations of ``after`` at ``now`` that ``before`` does not have."""
    known = {(item.rule.name, item.fact.title) for item in judge(before, now).refused}
    return [item for item in judge(after, now).refused if (item.rule.name, item.fact.title) not in known]


def frozen(environment: Environment, stack: str, now: dt.datetime) -> list[Violation]:
    """Return the unwaived freezes that block an apply of ``stack`` at ``now``."""
    context = Context.of(environment, now, stack)
    evaluator = Judge([change_in_freeze.RULE], context)
    return [item for fact in stack_facts(context) for item in evaluator.violations(fact) if item.is_refused]


def _judgeable(environment: Environment) -> Iterator[WaiverSpec]:
    """Yield the waivers of rules that can be evaluated without an engine and without node status."""
    judged = {rule.name for rule in extensions.rules() if not rule.kinds & _ENGINE_ONLY}
    judged |= set(checks.waivable(compared=False))
    yield from (waiver for waiver in environment.waivers.waivers if waiver.rule in judged)
