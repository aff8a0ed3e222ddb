"""Data model of rules, verdicts and findings."""

import datetime as dt
from collections.abc import Callable, Collection, Mapping, Sequence
from enum import StrEnum
from typing import TypeVar

from components.inputs.extensions.process import ExtensionError
from components.rules.rule import AdvisoryPeriod
from components.specs.base import Stage
from components.specs.reading import problems
from components.specs.region.policy import Enforcement
from components.specs.secret_text import masked
from components.specs.struct import Struct, field, force_setattr
from policies.facts import ANY_KIND, UNKNOWN, Context, Fact, Unknown
from policies.parameters import Parameter

MAX_LISTED = 10
_Entry = TypeVar("_Entry")


class Verdict(StrEnum):
    """Result of a rule for a fact."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    VIOLATION = "violation"
    NOT_APPLICABLE = "not-applicable"
    UNDECIDED = "undecided"
    """The rule requires an unknown value or raised an exception. Such facts are rejected."""


class Severity(StrEnum):
    """Potential harm of a violation."""

    HIGH = "high"
    CRITICAL = "critical"
    """The violation lets unreviewed code run on a node, or lets a deployment reach an unreviewed system. Never advisory
    in production."""


class Finding(Struct):
    """Finding of a rule about one fact; only a violation requires the texts. Secrets in the texts are masked."""

    verdict: Verdict
    found: str = ""
    allowed: str = ""
    """Permitted values, and the place of their list."""
    fix: str = ""
    level: Enforcement | None = None
    """Enforcement level of this finding, which overrides the level of the rule; None for the level of the rule."""

    def __post_init__(self) -> None:
        for name in ("found", "allowed", "fix"):
            force_setattr(self, name, masked(getattr(self, name)))


PASS = Finding(verdict=Verdict.PASS)
NOT_APPLICABLE = Finding(verdict=Verdict.NOT_APPLICABLE)


class Rule(Struct):
    """Rule that detects one kind of violation."""

    name: str
    description: str
    why: str
    severity: Severity
    kinds: frozenset[str]
    """Kinds of the facts that the rule evaluates."""
    find: Callable[[Fact, Context], Finding]
    levels: Mapping[Stage, Enforcement] = field(default_factory=lambda: dict.fromkeys(Stage, Enforcement.MANDATORY))
    """Default enforcement level by stage; ``policy.yaml`` can override the level. The rule is not evaluated in absent
    stages."""
    parameters: tuple[Parameter, ...] = ()
    """Values that ``--policy-pack-config`` can set."""
    is_stack_wide: bool = False
    """True if the rule compares an object with the other objects of its stack, ``context.objects``."""
    advisory_period: AdvisoryPeriod | None = None
    """Time in which the rule is advisory because it is new; None for a rule that follows its levels at once."""

    def judge(self, fact: Fact, context: Context) -> Finding:
        """Return the finding of the rule for ``fact``; undecided if the rule raises an exception."""
        if isinstance(fact.kind, Unknown):
            return undecided("the object")
        if not self.kinds & {fact.kind, ANY_KIND}:
            return NOT_APPLICABLE
        try:
            finding = self.find(fact, context)
        except ExtensionError as error:
            return _broken(str(error), error.file)
        except Exception as error:  # noqa: BLE001 - a rule that fails on an object must not allow it
            return _broken(f"the rule raised an exception: {type(error).__name__}: {error}", "policies/rules")
        if isinstance(finding, Finding):
            return finding
        return _broken(f"the rule returned {type(finding).__name__} instead of Finding", f"the file of {self.name}")

    def level(self, context: Context) -> Enforcement | None:
        """Return the enforcement level in the environment; None if the rule is not evaluated there."""
        if self.binding(context):
            return Enforcement.ADVISORY
        level = context.levels.get(self.name, self.levels.get(context.stage))
        return Enforcement.MANDATORY if level and self.is_firm(context.stage) else level

    def binding(self, context: Context) -> dt.date | None:
        """Return the first day on which the rule is mandatory; None if it is not advisory only because it is new."""
        period, is_declared = self.advisory_period, self.name in context.levels
        if period is None or is_declared or context.is_strict or self.is_firm(context.stage):
            return None
        is_mandatory = self.levels.get(context.stage) is Enforcement.MANDATORY
        return period.binding if is_mandatory and period.is_open(context.today) else None

    def is_firm(self, stage: Stage) -> bool:
        """Return whether ``policy.yaml`` of this stage cannot make the rule advisory."""
        return stage is Stage.PRODUCTION and self.severity is Severity.CRITICAL


def advisory(
    name: str,
    *,
    description: str,
    why: str,
    kinds: Collection[str],
    find: Callable[[Fact, Context], Finding],
    parameters: tuple[Parameter, ...] = (),
) -> Rule:
    """Return a rule that reports violations in every stage and rejects them only where ``policy.yaml`` says so."""
    return Rule(
        name=name,
        description=description,
        why=why,
        severity=Severity.HIGH,
        kinds=frozenset(kinds),
        find=find,
        levels=dict.fromkeys(Stage, Enforcement.ADVISORY),
        parameters=parameters,
    )


def cluster_advisory(
    name: str,
    *,
    description: str,
    why: str,
    entries: Callable[[Context], Mapping[str, tuple[_Entry, ...]]],
    report: Callable[[tuple[_Entry, ...]], Finding],
) -> Rule:
    """Return an advisory on clusters that have ``entries`` in the data; ``report`` describes those of one cluster."""

    def find(fact: Fact, context: Context) -> Finding:
        if UNKNOWN in (fact.at("apiVersion"), fact.at("metadata", "name")):
            return undecided("the name or the API version of the cluster")
        of_cluster = fact.of_cluster(entries(context))
        return report(of_cluster) if of_cluster else PASS

    return advisory(name, description=description, why=why, kinds={"Cluster"}, find=find)


def violation(*, found: str, allowed: str, fix: str, level: Enforcement | None = None) -> Finding:
    """Return a finding that rejects the fact."""
    return Finding(verdict=Verdict.VIOLATION, found=found, allowed=allowed, fix=fix, level=level)


def undecided(what: str) -> Finding:
    """Return the finding for a value, described by ``what``, that is unknown before apply."""
    return Finding(
        verdict=Verdict.UNDECIDED,
        found=f"{what} is unknown until apply, so the rule cannot decide",
        allowed="a value from the data of the environment",
        fix="render the value from the data instead of using the output of another resource",
        level=Enforcement.MANDATORY,
    )


def _broken(found: str, place: str) -> Finding:
    return Finding(
        verdict=Verdict.UNDECIDED,
        found=found,
        allowed="an object that the rule can read",
        fix=f"give the object the structure that its kind requires; if it is correct, fix the rule in {place}",
        level=Enforcement.MANDATORY,
    )


def listed(names: Sequence[str]) -> str:
    """Return ``names`` as text for a message: at most ten names, and a count of the rest."""
    return problems.listed(names, MAX_LISTED)
