"""Results of all rules in one form, and what they decide: of cross-checks, policies, changes, the engine and audits."""

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import cache

from components.rules import checks
from components.specs.environment import Environment
from components.specs.reading.loader import REGION, WAIVERS
from components.specs.reading.problems import Problem
from components.specs.region.policy import Enforcement, WaiverSpec
from components.specs.struct import Struct, replace
from policies.check import Judgement
from policies.judging import Violation
from policies.places import Places
from policies.verdict import Severity
from policies.waivers import subjects

IDLE = "policies.idle-waiver"
"""Rule about waivers that match no violation."""


class Source(StrEnum):
    """Subject of a judgement."""

    DATA = "data"
    """Files of the environment and of the catalogue."""
    CHANGE = "change"
    """A change compared with its base."""
    OBJECTS = "objects"
    """Rendered objects."""
    ENGINE = "engine"
    """Resources in a run of the engine."""
    RECORDED = "recorded state"
    """Resources in the state that the last apply recorded."""
    LIVE = "live objects"
    """Objects of clusters."""


class State(StrEnum):
    """State of a result relative to the base of a change."""

    NEW = "new"
    EXISTING = "existing"


class Decision(StrEnum):
    """Decision of all results together."""

    PASSED = "passed"
    BAD_DATA = "bad data"
    """Data are wrong, so nothing can be applied."""
    REFUSED = "refused"
    """The data are valid, but a rule refuses them, the change or the state."""


class Result(Struct):
    """Violation of a rule, or advice of a rule, at one place of the data."""

    environment: str
    rule: str
    source: Source
    subject: str
    """Violating object or entry; empty for a problem of a whole file."""
    text: str
    """Violation and remedy; one or several lines."""
    level: Enforcement
    file: str = REGION
    """File relative to the folder of the environment."""
    line: int = 1
    critical: bool = False
    """Whether the violation blocks a change even if the base has it."""
    waiver: WaiverSpec | None = None
    """Valid waiver of the violation."""
    state: State | None = None
    """State relative to the base; None without a base."""
    identity: str = ""
    """Text that identifies the violation although lines and names of objects change; default: ``text``."""
    binding: dt.date | None = None
    """First day on which a warning of a new rule is an error; None for other results."""

    @property
    def blocks(self) -> bool:
        """Return whether the result blocks a deployment or a merge."""
        return self.level is Enforcement.MANDATORY and self.waiver is None

    @property
    def summary(self) -> str:
        """Return the violation as one line: of a policy, its object and value; of another rule, its text."""
        lines = [line.strip() for line in self.text.splitlines()]
        found = next((line.removeprefix("found:").strip() for line in lines if line.startswith("found:")), "")
        return f"{self.subject}: {found}" if found else next(iter(lines), "")

    @property
    def key(self) -> tuple[str, ...]:
        """Return the key that identifies the violation in base and head."""
        return self.environment, self.rule, self.source, self.file, self.identity or self.text

    def days_left(self, today: dt.date) -> int | None:
        """Return the remaining days of the waiver, including today; None without a waiver."""
        return (self.waiver.expires - today).days if self.waiver else None


def decision(results: Iterable[Result]) -> Decision:
    """Return the decision of ``results``. Every command that judges rules derives its exit code from it."""
    sources = {result.source for result in results if result.blocks}
    if Source.DATA in sources:
        return Decision.BAD_DATA
    return Decision.REFUSED if sources else Decision.PASSED


def against(base: Iterable[Result], head: Iterable[Result]) -> Iterator[Result]:
    """Yield the results of ``head`` with their state relative to ``base``."""
    before = Counter(result.key for result in base)
    for result in head:
        exists = before[result.key] > 0
        before[result.key] -= exists
        yield replace(result, state=State.EXISTING if exists else State.NEW)


def ratcheted(base: Iterable[Result], head: Iterable[Result]) -> Iterator[Result]:
    """Yield the results of ``head`` with their state; violations that already block the base only block if critical.

    A violation whose waiver the change removes, or whose level it raises, does not block the base, so it blocks.
    """
    before = tuple(base)
    blocked = Counter(result.key for result in before if result.blocks)
    for result in against(before, head):
        tolerated = result.blocks and not result.critical and blocked[result.key] > 0
        blocked[result.key] -= tolerated
        yield replace(result, level=Enforcement.ADVISORY) if tolerated else result


def of_problem(environment: str, problem: Problem, source: Source = Source.DATA) -> Result:
    """Return the result of ``problem``. A violation that no waiver can permit is critical: it cannot be applied."""
    return Result(
        environment=environment,
        rule=problem.rule,
        source=source,
        subject=problem.subject or problem.path,
        text=f"{problem.where}{problem.text}",
        level=Enforcement.MANDATORY,
        file=problem.file,
        line=max(1, problem.line),
        critical=problem.rule not in _waivable(),
        identity=problem.text,
    )


@cache
def _waivable() -> frozenset[str]:
    """Return `checks.waivable`, which is needed for each of up to thousands of problems."""
    return frozenset(checks.waivable())


def of_advice(environment: str, problem: Problem, source: Source = Source.DATA) -> Result:
    """Return the result of a problem that never blocks."""
    return replace(of_problem(environment, problem, source), level=Enforcement.ADVISORY, critical=False)


def of_warning(environment: str, problem: Problem, binding: dt.date, source: Source = Source.DATA) -> Result:
    """Return the result of a problem that is a warning until ``binding``, because its rule is new."""
    result = of_problem(environment, problem, source)
    text = f"{result.text}; an error from {binding}"
    return replace(result, text=text, level=Enforcement.ADVISORY, critical=False, binding=binding)


def of_violation(violation: Violation, places: Places, source: Source = Source.OBJECTS) -> Result:
    """Return the result of a violation of a policy, at the entry of the data from which its object is rendered.

    Args:
        violation: violation of a policy.
        places: positions in the data of the environment.
        source: subject of the judgement.
    """
    file, line = places.of(violation.fact)
    return Result(
        environment=places.environment,
        rule=violation.rule.name,
        source=source,
        subject=violation.fact.title,
        text=str(violation),
        level=Enforcement.MANDATORY if violation.is_waived else violation.level,
        file=file,
        line=line,
        critical=violation.rule.severity is Severity.CRITICAL,
        waiver=violation.waiver if violation.is_waived else None,
        binding=violation.binding,
        identity="\n".join((next(iter(subjects(violation.fact)), violation.fact.title), violation.finding.found)),
    )


def of_judgement(judgement: Judgement, environment: Environment) -> Iterator[Result]:
    """Yield the violations of policies, waived problems of cross-checks, and unused waivers of ``environment``."""
    name, places = environment.name, Places(environment)
    for violation in (*judgement.refused, *judgement.advised, *judgement.waived):
        yield of_violation(violation, places)
    for problem, waiver in judgement.waived_checks:
        yield replace(of_problem(name, problem), waiver=waiver)
    for index, waiver in enumerate(environment.waivers.waivers):
        if waiver in judgement.idle_waivers:
            line = environment.positions.line(WAIVERS, ("waivers", index))
            text = f"{idle(waiver)}; remove it"
            problem = Problem(WAIVERS, line, "", text, rule=IDLE, subject=waiver.subject)
            yield of_advice(name, problem)


def idle(waiver: WaiverSpec) -> str:
    """Return the message about an unused waiver."""
    return f"the waiver of {waiver.rule} for {waiver.subject} matches no violation"
