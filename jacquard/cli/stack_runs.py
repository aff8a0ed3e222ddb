"""Stacks of an environment that a verb works on side by side: one board while they run, one table when some failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, TypeVar, cast

from jacquard.cli.console import plural, stderr
from jacquard.cli.engine_runs import tell_stopping
from jacquard.cli.errors import ExitCode, Stop, known, word_of, worst
from jacquard.cli.views.board import board
from jacquard.cli.views.progress import Screen
from jacquard.engine import parallelism
from jacquard.engine.errors import EngineStopped
from jacquard.engine.parallel import Needs, Outcome, side_by_side

Result = TypeVar("Result")


class Unfinished(Stop):
    """Some stacks were not done with, and what did not need them was.

    Args:
        environment: whose stacks they are.
        outcomes: how all of them ended, at least one not well.
        done: what a stack is that was done with, such as ``applied``.
        resume: the command that goes on.
    """

    def __init__(self, environment: str, outcomes: Sequence[Outcome[Any]], *, done: str, resume: str) -> None:
        self.outcomes = outcomes
        self.done = done
        counts = Counter(self.word(one) for one in outcomes)
        first = f"{counts.pop(done, 0)} of {plural(len(outcomes), 'stack')} {done}"
        told = ", ".join([first, *(f"{count} {word}" for word, count in counts.items())])
        stopped = any(one.stopped for one in outcomes)
        code = ExitCode.INTERRUPTED if stopped else worst(_failures(outcomes))
        super().__init__(f"{environment}: {told}; '{resume}' goes on from there", code)

    def word(self, outcome: Outcome[Any]) -> str:
        """Return in a word how the work on a stack ended."""
        if not outcome.begun:
            return "not begun"
        return word_of(outcome.failure) if outcome.failure else self.done

    def rows(self, described: Callable[[Any], str]) -> list[tuple[str, str, str]]:
        """Return for each stack its name, how the work on it ended, and what was done or why nothing was."""
        return [
            (
                one.stack.partition(".")[2],
                self.word(one),
                described(one.result) if one.done else _because_of(one),
            )
            for one in self.outcomes
        ]

    def to_json(self) -> dict[str, Any]:
        """Return how each stack ended, as data."""
        return {
            one.stack: {
                "result": self.word(one),
                "why": str(one.failure) if one.failure else None,
                "because_of": list(one.because_of),
            }
            for one in self.outcomes
        }


def _because_of(outcome: Outcome[Any]) -> str:
    names = [stack.partition(".")[2] for stack in outcome.because_of]
    return f"because of {', '.join(names)}" if names else ""


def together(needs: Needs, work: Callable[[str, Screen], Result], *, telling: bool = False) -> list[Outcome[Result]]:
    """Work on stacks side by side, as many at once as this machine has room for, and return how each ended.

    Args:
        needs: the stacks, each with those that it needs.
        work: is called with a stack and where its progress is shown.
        telling: whether the failure of one among others is told as soon as it is there.

    Raises:
        Exception: a failure that is none of those that a person can do something about, once all have ended.
    """
    with _screen(len(needs), telling=telling) as screen:

        def one(stack: str) -> Result:
            failure = None
            try:
                return work(stack, screen)
            except Exception as raised:
                failure = raised
                raise
            finally:
                screen.ended(failure)

        stopping = partial(tell_stopping, screen.console)
        outcomes = side_by_side(needs, one, at_once=parallelism.at_once(), stopping=stopping)
    for failure in _failures(outcomes):
        if known(failure) is None:
            raise failure
    return outcomes


def require_done(environment: str, outcomes: Sequence[Outcome[Any]], *, done: str, resume: str) -> None:
    """Pass when all stacks are done with.

    Raises:
        Exception: the failure of the only stack.
        Unfinished: some of several are not.
    """
    if all(one.done for one in outcomes):
        return
    if len(outcomes) == 1 and outcomes[0].failure:
        raise outcomes[0].failure
    raise Unfinished(environment, outcomes, done=done, resume=resume)


def results(
    outcomes: Sequence[Outcome[Result]], *, tolerated: Callable[[Outcome[Result]], bool] = lambda _: False
) -> dict[str, Result]:
    """Return the results by stack; those whose failure is tolerated have none.

    Raises:
        EngineStopped: this command was asked to end.
        Exception: the failure that is not tolerated, or a `Stop` with the texts of several.
    """
    failures = _failures([one for one in outcomes if not tolerated(one)])
    if any(one.stopped for one in outcomes):
        never = EngineStopped("stopped before the first stack was begun")
        raise next((one for one in failures if isinstance(one, EngineStopped)), never)
    if len(failures) == 1:
        raise failures[0]
    if failures:
        raise Stop("\n".join(str(failure) for failure in failures), worst(failures))
    return {one.stack: cast("Result", one.result) for one in outcomes if one.done}


def _failures(outcomes: Sequence[Outcome[Any]]) -> list[Exception]:
    return [one.failure for one in outcomes if one.failure]


def _screen(total: int, *, telling: bool) -> AbstractContextManager[Screen]:
    return nullcontext(Screen(stderr())) if total == 1 else board(stderr(), total, telling=telling)
