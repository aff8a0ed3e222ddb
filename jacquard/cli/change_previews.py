"""Preview of a change: compares base and head, previews differing stacks with the engine, and evaluates policies."""

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from components.rules.checks import errors
from components.specs.environment import Environment
from components.specs.reading.problems import SpecError
from components.specs.struct import Struct
from jacquard.cli.comparisons.base_comparison import Compared
from jacquard.cli.runs import plan_checks
from jacquard.cli.runs.stacks import results, together
from jacquard.cli.views.progress import Screen, ended
from jacquard.engine import events
from jacquard.engine.driver import Engine, Run
from jacquard.engine.errors import EngineError
from jacquard.engine.missing_stacks import previewing
from jacquard.engine.recorded import state_digest
from jacquard.machine import paths
from jacquard.previews.engine_preview import ask
from jacquard.previews.impacts.verdict import judged
from jacquard.previews.preview import Preview, StackPreview
from jacquard.previews.results import PreviewAnswer, of_judgements, of_offences
from jacquard.previews.stacks import StackSides, by_engine, failed, stack_sides, without_engine
from jacquard.previews.violations import offences
from policies import Judgement, judge, levels
from policies.results import Result

_Answer: TypeAlias = tuple[StackPreview, Sequence[events.Violation]]
"""Preview of a stack, and the policy violations that the engine reported."""


class Previewed(Struct):
    """Preview of one environment, with the policy results of base and head; `results` compares them."""

    preview: Preview
    compared: Compared
    base: Judgement
    head: Judgement

    def results(self) -> Iterator[Result]:
        """Yield the results of all rules, with their files and lines."""
        base, head = self.compared.base.environment, self.compared.head.environment
        yield from of_judgements((self.base, base), (self.head, head))
        yield from self.compared.results()
        yield from of_offences(head.name, self.preview.offences)

    def answer(self) -> PreviewAnswer:
        """Return the preview with its results."""
        return PreviewAnswer.of(self.preview, self.results())


def preview(compared: Compared, now: dt.datetime) -> Previewed:
    """Return the preview of a change of one environment at ``now``; a failure of one stack does not affect the others.

    Raises:
        SpecError: the settings of its policies are wrong.
    """
    environment = compared.head.environment
    today = now.astimezone(dt.UTC).date()
    if problems := errors(levels.problems(environment, now), today):
        raise SpecError(environment.name, problems)
    stacks, violations = _stacks(compared, environment)
    base, head = judge(compared.base.environment, now), judge(environment, now)
    problems_of_change = offences(base, head, violations, today)
    judged_preview = judged(compared.impact, stacks, problems_of_change)
    return Previewed(preview=judged_preview, compared=compared, base=base, head=head)


def _stacks(compared: Compared, environment: Environment) -> tuple[list[StackPreview], list[events.Violation]]:
    """Return the preview of each stack, and the policy violations that the engine reported."""
    sides = {pair.stack: pair for pair in stack_sides(compared.base, compared.head, undecided=compared.undecided)}
    differing = [stack for stack, pair in sides.items() if pair.differs and not pair.gone]
    engine = _engine(environment) if differing else ""
    answers: dict[str, _Answer]
    if isinstance(engine, str):
        answers = {stack: (failed(sides[stack], engine), ()) for stack in differing}
    else:
        answers = _answers(engine, environment, [sides[stack] for stack in differing])
    previews = [answers[stack][0] if stack in answers else without_engine(pair) for stack, pair in sides.items()]
    return previews, [violation for _, violations in answers.values() for violation in violations]


def _answers(engine: Engine, environment: Environment, differing: Sequence[StackSides]) -> dict[str, _Answer]:
    """Preview stacks in parallel, in any order, because nothing is applied.

    Raises:
        EngineStopped: the command was interrupted.
    """
    sides = {pair.stack: pair for pair in differing}
    outcomes = together(
        dict.fromkeys(sides, ()), lambda stack, screen: _asked(engine, sides[stack], environment, screen)
    )
    answers = results(outcomes, tolerated=lambda outcome: not outcome.stopped)
    return {
        outcome.stack: answers.get(outcome.stack) or (failed(sides[outcome.stack], str(outcome.failure)), ())
        for outcome in outcomes
    }


def _engine(environment: Environment) -> Engine | str:
    """Return the engine, or the reason why it is not available."""
    try:
        return Engine(environment.name, environment.region.state, {})
    except EngineError as error:
        return str(error)


def _asked(engine: Engine, sides: StackSides, environment: Environment, screen: Screen) -> _Answer:
    stack, title = sides.stack, f"preview of {sides.stack}"

    ready = engine.look(stack)
    plan_checks.require_writers(engine, ready)
    with previewing(engine, ready) as able:

        def run(*options: str) -> Run:
            with screen.phase(title) as shown:
                command = ("preview", stack, "--policy-pack", paths.policy_pack(), *options)
                return able.run(*command, watch=lambda progress: shown.engine(progress, 0, "resources"))

        answer = ask(run)
    preview, violations = by_engine(sides, answer, environment)
    ended(screen.console, title, answer.seconds, preview.outcome)
    return preview.model_copy(update={"state": state_digest(ready.resources)}), violations


def all_results(previews: Iterable[Previewed]) -> list[Result]:
    """Return the results of all environments."""
    return [result for item in previews for result in item.results()]
