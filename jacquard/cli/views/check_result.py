"""Result of ``jacquard check`` for one environment, as text and as data."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from components.reports.canaries import LargeCanary
from components.reports.caveats import Caveat
from components.reports.contracts import EndedContract, Unmet
from components.reports.control_planes import OutdatedControlPlane
from components.reports.hosts.states import HostStay
from components.reports.images import Behind
from components.rules import checks
from components.specs.environment import Environment
from components.specs.reading.loader import WAIVERS
from components.specs.reading.problems import FORM, Problem, SpecError
from components.specs.struct import Struct, asdict, field, replace
from jacquard.cli.console import plural, seconds
from jacquard.cli.errors import ExitCode
from jacquard.cli.views.results.codes import exit_code
from policies import Judgement, Violation
from policies.extensions import rules
from policies.result_data import to_json
from policies.results import Result, idle, of_advice, of_judgement, of_problem, of_warning, ratcheted


class CheckResult(Struct):
    """Result of the check of one environment."""

    name: str
    duration_seconds: float
    spec: Environment | None = None
    """Loaded environment; None if a file is invalid, in which case cross-checks and policies do not run."""
    problems: tuple[Problem, ...] = ()
    warnings: tuple[tuple[Problem, dt.date], ...] = ()
    """Problems of new rules, each with the first day on which it is an error."""
    judgement: Judgement = field(default_factory=Judgement)
    behind: tuple[Behind, ...] = ()
    """Pools, and the DPUs, that are out of date. Not a problem, because a promotion updates them."""
    control_planes: tuple[OutdatedControlPlane, ...] = ()
    """Control planes that are out of date, likewise."""
    unmet: tuple[Unmet, ...] = ()
    """Contracts that cannot be met because of hosts out of service; not a problem, since faults must be recorded."""
    ended: tuple[EndedContract, ...] = ()
    """Contracts that ended with nodes in use; not a problem, because the time alone changes it."""
    caveats: tuple[Caveat, ...] = ()
    """Limitations of the backends that isolate VPCs."""
    canaries: tuple[LargeCanary, ...] = ()
    """Pools whose first wave is much larger than their canary."""
    overdue: tuple[HostStay, ...] = ()
    """Hosts whose state has lasted longer than its deadline; not a problem, because the time alone changes it."""
    secrets: tuple[Problem, ...] = ()
    """Texts of files that look like credentials. Not a problem, because the form alone is no proof."""
    compared: tuple[Result, ...] | None = None
    """Results with their state relative to a base; None without a base."""
    existing: tuple[Result, ...] = ()
    """Violations that also block the base and are tolerated; ``problems`` and ``judgement`` do not contain them."""
    unused: tuple[Problem, ...] = ()
    """Definitions without effect; not a problem, because a region may be prepared for users."""

    @property
    def results(self) -> list[Result]:
        """Return the results of all rules, and advice about the data."""
        if self.compared is not None:
            return list(self.compared)
        results = [of_problem(self.name, problem) for problem in self.problems]
        if self.spec:
            results += of_judgement(self.judgement, self.spec)
        results += [of_warning(self.name, item, binding) for item, binding in self.warnings]
        return results + [of_advice(self.name, item) for item in (*self.secrets, *self.unused)]

    def found(self, problems: Iterable[Problem], today: dt.date) -> "CheckResult":
        """Return this result with further problems; those of rules in an open advisory period are warnings."""
        dated = [(item, checks.binding(item, today)) for item in problems]
        errors = (item for item, binding in dated if binding is None)
        warnings = ((item, binding) for item, binding in dated if binding)
        return replace(
            self,
            problems=tuple(dict.fromkeys((*self.problems, *errors))),
            warnings=tuple(dict.fromkeys((*self.warnings, *warnings))),
        )

    @property
    def warning_count(self) -> int:
        """Return the number of violations of new rules."""
        return len(self.warnings) + len(self.judgement.warnings)

    @property
    def is_judged(self) -> bool:
        """Return whether all rules were evaluated, so that a missing violation is fixed."""
        return self.spec is not None and bool(self.judgement.objects)

    def since(self, base: Iterable[Result]) -> "CheckResult":
        """Return this result without the violations that the results of ``base`` tolerate; see `ratcheted`."""
        results = tuple(ratcheted(base, self.results))
        count, refused = len(self.problems), self.judgement.refused
        kept = [item for item, result in zip(self.problems, results, strict=False) if result.blocks]
        still = [item for item, result in zip(refused, results[count:], strict=False) if result.blocks]
        own = results[: count + len(refused)]
        return replace(
            self,
            compared=results,
            existing=tuple(result for result in own if not result.blocks),
            problems=tuple(kept),
            judgement=replace(self.judgement, refused=tuple(still)),
        )

    @property
    def code(self) -> ExitCode:
        """Return the exit code for this result alone."""
        return exit_code(self.results)

    def __str__(self) -> str:
        if self.problems:
            return "\n".join([str(SpecError(self.name, self.problems)), *self._rules(), *self._warned()])
        refused = self.judgement.refused
        lines = [f"  {line}" for item in refused for line in str(item).splitlines()] + list(self._notes())
        return "\n".join([f"{self.name}: {', '.join(self._summary())}", *lines])

    def to_json(self) -> dict[str, Any]:
        """Return the result as data."""
        judgement = self.judgement
        return {
            "environment": self.name,
            "ok": self.code is ExitCode.OK,
            "objects": judgement.objects,
            "policies": len(rules()),
            "seconds": round(self.duration_seconds, 3),
            "results": to_json(self.results),
            "problems": SpecError(self.name, self.problems).to_json()["problems"],
            "warnings": [item.to_json() | {"binding": day.isoformat()} for item, day in self.warnings],
            "existing": to_json(self.existing),
            "violations": [_violation(item) for item in judgement.refused],
            "advice": [_violation(item) for item in judgement.advised],
            "waived": [_violation(item) for item in judgement.waived],
            "waived_checks": [
                problem.to_json() | {"waiver": waiver.model_dump(mode="json")}
                for problem, waiver in judgement.waived_checks
            ],
            "idle_waivers": [item.model_dump(mode="json") for item in judgement.idle_waivers],
            "behind": [
                {"pool": item.pool, "differences": [asdict(one) for one in item.differences], "open_to": item.open_to}
                for item in self.behind
            ],
            "control_planes_behind": [asdict(item) for item in self.control_planes],
            "unmet_contracts": [asdict(item) for item in self.unmet],
            "ended_contracts": [asdict(item) | {"ended": item.ended.isoformat()} for item in self.ended],
            "caveats": [asdict(item) for item in self.caveats],
            "large_canaries": [asdict(item) for item in self.canaries],
            "overdue_hosts": [asdict(item) for item in self.overdue],
            "secrets": [item.to_json() for item in self.secrets],
            "unused": SpecError(self.name, self.unused).to_json()["problems"],
        }

    def _rules(self) -> Iterator[str]:
        """Yield the names of the rules that report the problems, except the schema of a file."""
        names = sorted({problem.rule for problem in self.problems} - {FORM})
        if names:
            yield f"  reported by {', '.join(names)}; for details: jacquard explain {names[0]}"

    def _summary(self) -> Iterator[str]:
        judgement = self.judgement
        if judgement.refused:
            yield plural(len(judgement.refused), "policy violation")
        else:
            yield from ("ok", plural(judgement.objects, "object"), plural(len(rules()), "policy", "policies"))
        if self.existing:
            yield f"{len(self.existing)} existing"
        if self.warning_count:
            yield plural(self.warning_count, "warning")
        if judgement.waived_count:
            yield f"{judgement.waived_count} waived"
        yield seconds(self.duration_seconds)

    def _notes(self) -> Iterator[str]:
        """Yield advice, waived problems and notes, which do not fail the check; equal texts of several objects once."""
        for result in self.existing:
            yield f"  existing: {result.rule}: {result.file}:{result.line} {result.summary}"
        yield from self._warned()
        alike: dict[str, list[Violation]] = defaultdict(list)
        for item in self.judgement.advised:
            kind = f"warning (an error from {item.binding})" if item.binding else "advice"
            alike[f"{kind}: {item.rule.name}: {item.finding.found}; {item.finding.fix}"].append(item)
        for item in self.judgement.waived:
            alike[f"waived: {item.rule.name}: {item.finding.found}; {item.waiver_text}"].append(item)
        for text, items in alike.items():
            yield f"  {text} ({plural(len(items), 'object')}, such as {items[0].fact.title})"
        for problem, waiver in self.judgement.waived_checks:
            accepted = problem.text.rpartition("; ")[0] or problem.text  # without the remedy
            yield f"  waived: {problem.rule}: {problem.place} {problem.where}{accepted}; {waiver}"
        for waiver in self.judgement.idle_waivers:
            yield f"  advice: {idle(waiver)}; remove it from environments/{self.name}/{WAIVERS}"
        yield from (f"  advice: {item}" for item in self.canaries)
        yield from (f"  advice: {item}" for item in self.overdue)
        yield from (f"  advice: {item}" for item in self.ended)
        for found in self.secrets:
            yield f"  advice: {found.place} {found.where}{found.text}"
        yield from (f"  unused: {item.place} {item.where}{item.text}" for item in self.unused)
        yield from (f"  isolation: {item}" for item in self.caveats)
        yield from (f"  unmet: {item}" for item in self.unmet)
        yield from self._behind()

    def _warned(self) -> Iterator[str]:
        """Yield the warnings of new cross-checks."""
        for problem, day in self.warnings:
            text = f"{problem.rule}: {problem.place} {problem.where}{problem.text}"
            yield f"  warning (an error from {day}): {text}"

    def _behind(self) -> Iterator[str]:
        """Yield control planes, pools and DPUs that are out of date; pools with equal differences share a line."""
        for plane in self.control_planes:
            fields = "; ".join(map(str, plane.differences))
            yield f"  out of date: {plane.cluster}: {fields}; to update: jacquard promote {self.name} {plane.promotion}"
        alike: dict[str, list[str]] = defaultdict(list)
        for item in self.behind:
            if item.differences:
                alike["; ".join(map(str, item.differences))].append(item.pool)
        for text, pools in alike.items():
            others = f" and {len(pools) - 1} more" if len(pools) > 1 else ""
            yield f"  out of date: {pools[0]}{others}: {text}; to update: jacquard promote {self.name} {pools[0]}"


def _violation(item: Violation) -> dict[str, Any]:
    violation = {"policy": item.rule.name, "object": item.fact.title, "text": str(item)}
    return violation | ({"waiver": item.waiver.model_dump(mode="json")} if item.waiver else {})
