"""What a rule is, what it finds, and how a finding reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from policies.facts import Context, Fact, Unknown

MAX_LISTED = 10


class Verdict(StrEnum):
    """What a rule says about a fact."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    VIOLATION = "violation"
    NOT_APPLICABLE = "not-applicable"
    UNDECIDED = "undecided"
    """A value the rule needs is unknown. It counts as a violation: what cannot be judged is not let through."""


class Severity(StrEnum):
    """How much harm the offence can do."""

    HIGH = "high"
    CRITICAL = "critical"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a rule found in one fact; the texts are needed for a violation only."""

    verdict: Verdict
    found: str = ""
    allowed: str = ""
    """What would be right, and where the list of it lives."""
    fix: str = ""


PASS = Finding(verdict=Verdict.PASS)
NOT_APPLICABLE = Finding(verdict=Verdict.NOT_APPLICABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One offence."""

    name: str
    description: str
    why: str
    severity: Severity
    kinds: frozenset[str]
    """Kinds of the facts it judges."""
    find: Callable[[Fact, Context], Finding]

    def judge(self, fact: Fact, context: Context) -> Finding:
        """Return what the rule finds in ``fact``."""
        if isinstance(fact.kind, Unknown):
            return undecided("the object")
        return self.find(fact, context) if fact.kind in self.kinds else NOT_APPLICABLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A fact that breaks a rule, or that the rule could not decide on."""

    rule: Rule
    fact: Fact
    finding: Finding

    def __str__(self) -> str:
        return "\n".join(
            (
                f"{self.rule.name}: {self.fact.title}",
                f"  found:   {self.finding.found}",
                f"  allowed: {self.finding.allowed}",
                f"  why:     {self.rule.why}",
                f"  fix:     {self.finding.fix}",
                f'  waiver:  for one reviewed run, --policy-pack-config with {{"{self.rule.name}": "advisory"}}',
            )
        )


def violation(*, found: str, allowed: str, fix: str) -> Finding:
    """Return a finding that refuses."""
    return Finding(verdict=Verdict.VIOLATION, found=found, allowed=allowed, fix=fix)


def undecided(what: str) -> Finding:
    """Return the finding about ``what`` that is unknown before apply."""
    return Finding(
        verdict=Verdict.UNDECIDED,
        found=f"{what} is unknown until apply, so the rule cannot decide",
        allowed="a value that stands in the data of the environment",
        fix="render the value from the data instead of taking it from another resource's output",
    )


def violations(rules: Sequence[Rule], fact: Fact, context: Context) -> Iterator[Violation]:
    """Yield what ``rules`` refuse about ``fact``."""
    for rule in rules:
        finding = rule.judge(fact, context)
        if finding.verdict in {Verdict.VIOLATION, Verdict.UNDECIDED}:
            yield Violation(rule=rule, fact=fact, finding=finding)


def listed(names: Sequence[str]) -> str:
    """Return ``names`` for a message, cut at ten with a count."""
    rest = len(names) - MAX_LISTED
    return ", ".join(names[:MAX_LISTED]) + (f" and {rest} more" if rest > 0 else "") if names else "none"
