"""Determines whether a finding is rejected, reported or waived in an environment."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from components.specs.region.policy import Enforcement, WaiverSpec
from components.specs.struct import Struct, replace
from policies.facts import ANY_KIND, Context, Fact, Unknown
from policies.stack_objects import StackObjects
from policies.verdict import Finding, Rule, Verdict
from policies.waivers import subjects, waiver_of

_PASSED = frozenset({Verdict.PASS, Verdict.NOT_APPLICABLE})


class Violation(Struct):
    """Fact that violates a rule, or that the rule could not evaluate."""

    rule: Rule
    fact: Fact
    finding: Finding
    level: Enforcement
    """Enforcement level of the finding; a waived finding is advisory."""
    environment: str
    waiver: WaiverSpec | None = None
    """Waiver that matches the violation; an expired waiver has no effect."""
    is_waived: bool = False
    binding: dt.date | None = None
    """First day on which the violation of a new rule is refused; None unless it is advisory only until then."""

    @property
    def is_refused(self) -> bool:
        """Return whether the violation blocks the deployment."""
        return self.level is Enforcement.MANDATORY

    def __str__(self) -> str:
        lines = (
            f"{self.rule.name}: {self.fact.title}",
            f"  found:   {self.finding.found}",
            f"  allowed: {self.finding.allowed}",
            f"  why:     {self.rule.why}",
            f"  fix:     {self.finding.fix}",
            f"  waiver:  {self.waiver_text}",
        )
        return "\n".join((*lines, *([f"  level:   a warning; an error from {self.binding}"] if self.binding else ())))

    @property
    def waiver_text(self) -> str:
        """Return the reason of the waiver, the reason why the waiver is void, or how to waive the violation."""
        file = f"environments/{self.environment}/waivers.yaml"
        if self.finding.verdict is Verdict.UNDECIDED:
            return "none: a finding that cannot be evaluated cannot be waived"
        if self.is_waived and self.waiver:
            return str(self.waiver)
        if self.waiver:
            return (
                f"void since {self.waiver.expires}; fix the violation and remove the waiver from {file}, or agree on a "
                f"new date with {self.waiver.owner} ({self.waiver.ticket})"
            )
        subject = next(iter(subjects(self.fact)), None)
        return f"add an entry to {file} with subject {subject}" if subject else "none while its name is unknown"


class Judge:
    """Rules, with their enforcement levels in one environment."""

    def __init__(self, rules: Sequence[Rule], context: Context) -> None:
        self._context = context
        self._by_kind: dict[str, list[tuple[Rule, Enforcement]]] = defaultdict(list)
        effective = [(rule, level) for rule in rules if (level := rule.level(context))]
        self._all = [(rule, level) for rule, level in effective if not rule.is_stack_wide]
        self._stack_wide = [(rule, level) for rule, level in effective if rule.is_stack_wide]
        for rule, level in self._all:
            for kind in rule.kinds:
                self._by_kind[kind].append((rule, level))

    @property
    def kinds(self) -> frozenset[str]:
        """Return the kinds of facts that the rules evaluate; facts of other kinds cannot have violations."""
        return frozenset(self._by_kind)

    def violations(self, fact: Fact) -> Iterator[Violation]:
        """Yield the violations of ``fact``; a fact of unknown kind is evaluated by all rules."""
        for rule, level in self._all if isinstance(fact.kind, Unknown) else self._by_kind.get(fact.kind, ()):
            finding = rule.judge(fact, self._context)
            if finding.verdict not in _PASSED:
                yield self._violation(rule, fact, finding, finding.level or level)

    def stack_violations(self, facts: Iterable[Fact]) -> Iterator[Violation]:
        """Yield the violations of stack-wide rules by ``facts``, all objects of a stack."""
        objects = tuple(facts)
        context = replace(self._context, objects=StackObjects.of(objects))
        for rule, level in self._stack_wide:
            judged = objects if ANY_KIND in rule.kinds else [fact for fact in objects if fact.kind in rule.kinds]
            for fact in judged:
                finding = rule.judge(fact, context)
                if finding.verdict not in _PASSED:
                    yield self._violation(rule, fact, finding, finding.level or level)

    def _violation(self, rule: Rule, fact: Fact, finding: Finding, level: Enforcement) -> Violation:
        decided = finding.verdict is Verdict.VIOLATION
        waiver = waiver_of(rule.name, fact, self._context.waivers) if decided else None
        waived = waiver is not None and waiver.is_valid(self._context.today)
        is_advice = waived or finding.level is Enforcement.ADVISORY
        binding = None if is_advice else rule.binding(self._context)
        return Violation(
            rule=rule,
            fact=fact,
            finding=finding,
            level=Enforcement.ADVISORY if waived or binding else level,
            environment=self._context.environment,
            waiver=waiver,
            is_waived=waived,
            binding=binding,
        )
