"""Parallel work on the stacks of an environment: a progress board, and a table of results after failures."""

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, TypeVar, cast

import typer

from components.specs.environment import Environment
from jacquard.cli.console import plural, stderr
from jacquard.cli.errors import ExitCode, Stop, approval_of, known, worst
from jacquard.cli.runs.engine import tell_stopping
from jacquard.cli.views.board import board
from jacquard.cli.views.progress import Screen
from jacquard.engine import parallelism
from jacquard.engine.errors import EngineStopped
from jacquard.engine.parallel import Needs, Outcome, side_by_side
from stacks.target import stack_names

Result = TypeVar("Result")


class Unfinished(Stop):
    """Some stacks failed; stacks that do not depend on them were completed.

    Args:
        environment: environment of the stacks.
        outcomes: outcomes of all stacks; at least one is a failure.
        done: result of a completed stack, such as ``applied``.
        resume: command that continues.
    """

    def __init__(self, environment: str, outcomes: Sequence[Outcome[Any]], *, done: str, resume: str) -> None:
        self.outcomes = outcomes
        self.done = done
        self.causes = _failures(outcomes)
        counts = Counter(self.word(outcome) for outcome in outcomes)
        first = f"{counts.pop(done, 0)} of {plural(len(outcomes), 'stack')} {done}"
        summary = ", ".join([first, *(f"{count} {word}" for word, count in counts.items())])
        stopped = any(outcome.stopped for outcome in outcomes)
        code = ExitCode.INTERRUPTED if stopped else worst(_failures(outcomes))
        super().__init__(f"{environment}: {summary}; '{resume}' continues from there", code)

    def word(self, outcome: Outcome[Any]) -> str:
        """Return the result of a stack in one or two words."""
        if not outcome.begun:
            return "not started"
        return approval_of(outcome.failure) if outcome.failure else self.done

    def rows(self, described: Callable[[Any], str]) -> list[tuple[str, str, str]]:
        """Return the name, the result, and the changes or the blocking stacks of each stack."""
        return [
            (
                outcome.stack.partition(".")[2],
                self.word(outcome),
                described(outcome.result) if outcome.done else _because_of(outcome),
            )
            for outcome in self.outcomes
        ]

    def to_json(self) -> dict[str, Any]:
        """Return the results of all stacks as data."""
        return {
            outcome.stack: {
                "result": self.word(outcome),
                "why": str(outcome.failure) if outcome.failure else None,
                "because_of": list(outcome.because_of),
            }
            for outcome in self.outcomes
        }


def _because_of(outcome: Outcome[Any]) -> str:
    names = [stack.partition(".")[2] for stack in outcome.because_of]
    return f"because of {', '.join(names)}" if names else ""


def together(
    needs: Needs, work: Callable[[str, Screen], Result], *, telling: bool = False, at_once: int = 0
) -> list[Outcome[Result]]:
    """Work on stacks in parallel, limited by the size of this machine, and return their outcomes.

    Args:
        needs: dependencies of each stack.
        work: called with a stack and the screen for its progress.
        telling: whether each failure is printed immediately if there are several stacks.
        at_once: minimum number of parallel stacks, for work that this machine only waits for.

    Raises:
        Exception: a failure that is not `known`, after all stacks have ended.
    """
    with _screen(len(needs), telling=telling) as screen:

        def work_on(stack: str) -> Result:
            failure = None
            try:
                return work(stack, screen)
            except Exception as raised:
                failure = raised
                raise
            finally:
                screen.ended(failure)

        stopping = partial(tell_stopping, screen.console)
        limit = max(at_once, parallelism.at_once())
        outcomes = side_by_side(needs, work_on, at_once=limit, stopping=stopping)
    for failure in _failures(outcomes):
        if known(failure) is None:
            raise failure
    return outcomes


def require_done(environment: str, outcomes: Sequence[Outcome[Any]], *, done: str, resume: str) -> None:
    """Pass if all stacks are completed.

    Raises:
        Exception: the failure, if there is only one stack.
        Unfinished: some of several stacks are not completed.
    """
    if all(outcome.done for outcome in outcomes):
        return
    if len(outcomes) == 1 and outcomes[0].failure:
        raise outcomes[0].failure
    raise Unfinished(environment, outcomes, done=done, resume=resume)


def results(
    outcomes: Sequence[Outcome[Result]], *, tolerated: Callable[[Outcome[Result]], bool] = lambda _: False
) -> dict[str, Result]:
    """Return the results by stack, without stacks with tolerated failures.

    Raises:
        EngineStopped: the command was interrupted.
        Exception: the only failure that is not tolerated, or a `Stop` with the messages of several.
    """
    failures = _failures([outcome for outcome in outcomes if not tolerated(outcome)])
    if any(outcome.stopped for outcome in outcomes):
        before_all = EngineStopped("stopped before the first stack was started")
        raise next((failure for failure in failures if isinstance(failure, EngineStopped)), before_all)
    if len(failures) == 1:
        raise failures[0]
    if failures:
        several = Stop("\n".join(str(failure) for failure in failures), worst(failures))
        several.causes = failures
        raise several
    return {outcome.stack: cast("Result", outcome.result) for outcome in outcomes if outcome.done}


def _failures(outcomes: Sequence[Outcome[Any]]) -> list[Exception]:
    return [outcome.failure for outcome in outcomes if outcome.failure]


def _screen(total: int, *, telling: bool) -> AbstractContextManager[Screen]:
    return nullcontext(Screen(stderr())) if total == 1 else board(stderr(), total, telling=telling)


def confirm_stage(environment: Environment) -> None:
    """Ask before stacks of a real region are applied.

    Raises:
        Stop: there is no terminal to ask.
    """
    count = plural(len(stack_names(environment)), "stack")
    question = f"apply {count} to {environment.region.stage} environment {environment.name}?"
    if not sys.stdin.isatty():
        stage = environment.region.stage
        msg = f"{environment.name}: stage {stage} requires confirmation; without a terminal, add --yes"
        raise Stop(msg, ExitCode.BAD_DATA)
    typer.confirm(question, abort=True, err=True)
