"""Previews a change: compares base and head, asks the engine about stacks that differ, and judges both by policies."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from cli import plans
from cli.comparing import Compared
from cli.console import stderr
from cli.errors import Stop
from cli.views import sarif
from cli.views.progress import phase
from components.specs.environment import Environment
from components.specs.problems import SpecError
from engine import events
from engine.driver import POLICY_PACK, Engine, Run
from engine.errors import EngineError
from policies import Judgement, judge, levels
from previews.asking import ask
from previews.offences import offences
from previews.preview import Preview, StackPreview
from previews.stacks import StackSides, asked, failed, not_asked, stack_sides
from previews.verdict import judged
from toolchain import paths


@dataclass(frozen=True, slots=True, kw_only=True)
class Previewed:
    """A preview of one environment, with what its lines in files are told from."""

    preview: Preview
    compared: Compared
    base: Judgement
    head: Judgement

    def findings(self) -> Iterator[sarif.Finding]:
        """Yield what is to be said at lines of files."""
        home = f"{paths.environments().name}/{self.preview.environment}"
        before = sarif.of_judgement(self.base, self.compared.base.environment, home)
        yield from sarif.against(before, sarif.of_judgement(self.head, self.compared.head.environment, home))
        yield from sarif.of_impact(self.preview.impact, home)
        yield from sarif.of_offences(self.preview.offences, home)


def preview(compared: Compared, now: dt.datetime) -> Previewed:
    """Return what is known of a change of one environment at ``now``; whatever fails, the rest is told.

    Raises:
        SpecError: settings of its policies are wrong.
    """
    environment = compared.head.environment
    if problems := levels.problems(environment, now):
        raise SpecError(environment.name, problems)
    stacks, told = _stacks(compared, environment)
    base, head = judge(compared.base.environment, now), judge(environment, now)
    found = offences(base, head, told, now.astimezone(dt.UTC).date())
    waiting = [one.tenant for one in compared.impact.tenants if one.asks]
    return Previewed(
        preview=judged(compared.impact, stacks, found, approvals_missing=waiting),
        compared=compared,
        base=base,
        head=head,
    )


def _stacks(compared: Compared, environment: Environment) -> tuple[list[StackPreview], list[events.Violation]]:
    sides = list(stack_sides(compared.base, compared.head, undecided=compared.undecided))
    found: list[StackPreview] = []
    told: list[events.Violation] = []
    engine = _engine(environment) if any(one.differs and not one.gone for one in sides) else ""
    for one in sides:
        if not one.differs or one.gone:
            found.append(not_asked(one))
        elif isinstance(engine, str):
            found.append(failed(one, engine))
        else:
            stack, violations = _asked(engine, one, environment)
            found.append(stack)
            told += violations
    return found, told


def _engine(environment: Environment) -> Engine | str:
    """Return the engine, or why there is none."""
    try:
        return Engine(environment.name, environment.region.state, {})
    except EngineError as error:
        return str(error)


def _asked(
    engine: Engine, sides: StackSides, environment: Environment
) -> tuple[StackPreview, Sequence[events.Violation]]:
    def run(*options: str) -> Run:
        with phase(stderr(), f"preview of {sides.stack}") as shown:
            return engine.run(
                "preview",
                sides.stack,
                "--policy-pack",
                POLICY_PACK,
                *options,
                watch=lambda progress: shown.engine(progress, 0, "resources"),
            )

    try:
        plans.require_writers(engine, engine.look(sides.stack))
        answer = ask(run)
    except (EngineError, Stop) as error:
        return failed(sides, str(error)), ()
    return asked(sides, answer, environment), answer.run.progress.violations


def all_findings(found: Iterable[Previewed]) -> list[sarif.Finding]:
    """Return what is to be said at lines of files of all environments."""
    return [finding for one in found for finding in one.findings()]
