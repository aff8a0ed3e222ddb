"""What a rule is, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from components.specs.base import Stage
from components.specs.reading import problems
from components.specs.region.policy import Enforcement
from policies.facts import Context, Fact, Unknown

MAX_LISTED = 10


class Verdict(StrEnum):
    """What a rule says about a fact."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    VIOLATION = "violation"
    NOT_APPLICABLE = "not-applicable"
    UNDECIDED = "undecided"
    """The rule needs a value that is unknown, or it broke on the fact. What cannot be judged is not let through."""


class Severity(StrEnum):
    """How much harm the offence can do."""

    HIGH = "high"
    CRITICAL = "critical"
    """The offence lets something run on a node, or a deploy reach something, that was not reviewed. It is never
    advisory in production."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a rule found in one fact; the texts are needed for a violation only."""

    verdict: Verdict
    found: str = ""
    allowed: str = ""
    """What would be right, and where the list of it lives."""
    fix: str = ""
    level: Enforcement | None = None
    """How strict this finding is whatever the level of its rule; None when it is as strict as the rule."""


PASS = Finding(verdict=Verdict.PASS)
NOT_APPLICABLE = Finding(verdict=Verdict.NOT_APPLICABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule, which finds one offence."""

    name: str
    description: str
    why: str
    severity: Severity
    kinds: frozenset[str]
    """Kinds of the facts that the rule judges."""
    find: Callable[[Fact, Context], Finding]
    levels: Mapping[Stage, Enforcement] = field(default_factory=lambda: dict.fromkeys(Stage, Enforcement.MANDATORY))
    """How strict the rule is by stage, where ``policy.yaml`` does not say; it is not judged in a stage that is
    missing."""

    def judge(self, fact: Fact, context: Context) -> Finding:
        """Return what the rule finds in ``fact``; a rule that breaks has not decided."""
        if isinstance(fact.kind, Unknown):
            return undecided("the object")
        if fact.kind not in self.kinds:
            return NOT_APPLICABLE
        try:
            return self.find(fact, context)
        except Exception as error:  # noqa: BLE001 - whatever a rule breaks on must not let the object through
            return _broken(error)

    def level(self, context: Context) -> Enforcement | None:
        """Return how strict the rule is in the environment; None where it is not judged."""
        level = context.levels.get(self.name, self.levels.get(context.stage))
        return Enforcement.MANDATORY if level and self.is_firm(context.stage) else level

    def is_firm(self, stage: Stage) -> bool:
        """Tell whether no ``policy.yaml`` of this stage may make the rule advisory."""
        return stage is Stage.PRODUCTION and self.severity is Severity.CRITICAL


def violation(*, found: str, allowed: str, fix: str, level: Enforcement | None = None) -> Finding:
    """Return a finding that refuses."""
    return Finding(verdict=Verdict.VIOLATION, found=found, allowed=allowed, fix=fix, level=level)


def undecided(what: str) -> Finding:
    """Return the finding about ``what`` that is unknown before apply."""
    return Finding(
        verdict=Verdict.UNDECIDED,
        found=f"{what} is unknown until apply, so the rule cannot decide",
        allowed="a value that stands in the data of the environment",
        fix="render the value from the data instead of taking it from another resource's output",
        level=Enforcement.MANDATORY,
    )


def _broken(error: Exception) -> Finding:
    return Finding(
        verdict=Verdict.UNDECIDED,
        found=f"the rule itself broke on it: {type(error).__name__}: {error}",
        allowed="an object that the rule can read",
        fix="give the object the form its kind asks for; if it has it, the rule is wrong: mend it in policies/rules",
        level=Enforcement.MANDATORY,
    )


def listed(names: Sequence[str]) -> str:
    """Return ``names`` for a message, cut at ten with a count."""
    return problems.listed(names, MAX_LISTED)
