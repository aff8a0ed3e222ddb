"""Work on several stacks side by side: in order, so many at once, and a failure stops only what needs what failed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Generic, TypeAlias, TypeVar

from jacquard.engine.errors import EngineStopped
from jacquard.engine.shutdown import asked

Result = TypeVar("Result")
Needs: TypeAlias = Mapping[str, Collection[str]]
"""Stacks, each after those that must be done with before it is begun, which are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome(Generic[Result]):
    """How the work on one stack ended."""

    stack: str
    begun: bool = True
    result: Result | None = None
    """What the work returned; None if it did not come to its end."""
    failure: Exception | None = None
    """What it raised."""
    because_of: tuple[str, ...] = ()
    """Stacks that failed and for which it was not begun; none where this command was asked to end before its turn."""

    @property
    def done(self) -> bool:
        """Tell whether the work came to its end."""
        return self.begun and self.failure is None

    @property
    def stopped(self) -> bool:
        """Tell whether it did not come to its end because this command was asked to end."""
        return isinstance(self.failure, EngineStopped) if self.begun else not self.because_of


def side_by_side(
    needs: Needs,
    work: Callable[[str], Result],
    *,
    at_once: int,
    stopping: Callable[[], None] = lambda: None,
) -> list[Outcome[Result]]:
    """Do ``work`` for each stack, in threads, and return how each ended, in the order of ``needs``.

    Of stacks that may begin the first in that order does. Once this command is asked to end none begins any more; what
    runs an engine is told to end, and awaited.

    Args:
        needs: the stacks, each with those that must be done before. One that is no stack of these counts as done.
        work: is called with the name of a stack; whatever it raises is the failure of that stack.
        at_once: how many may run at the same time.
        stopping: is called when this command is asked to end and the engines are told.
    """
    places = {stack: place for place, stack in enumerate(needs)}
    order = TopologicalSorter({stack: [one for one in needed if one in needs] for stack, needed in needs.items()})
    order.prepare()
    outcomes: dict[str, Outcome[Result]] = {}
    ready: list[str] = []
    running: dict[Future[Result], str] = {}
    with asked.listened(stopping), ThreadPoolExecutor(at_once) as threads:
        while True:
            ready = sorted([*ready, *order.get_ready()], key=places.__getitem__)
            while ready and len(running) < at_once and not asked:
                stack = ready.pop(0)
                running[threads.submit(work, stack)] = stack
            if not running:
                break
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                stack = running.pop(future)
                outcomes[stack] = _ended(stack, future)
                if outcomes[stack].done:
                    order.done(stack)
    for stack, needed in needs.items():
        if stack not in outcomes:
            outcomes[stack] = Outcome(stack=stack, begun=False, because_of=_failed(needed, outcomes))
    return [outcomes[stack] for stack in needs]


def among(needs: Needs, stacks: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return what each of ``stacks`` needs of the others, be it by way of one that is left out."""
    found: dict[str, tuple[str, ...]] = {}
    for stack, needed in needs.items():
        near = [(one,) if one in stacks else found[one] for one in needed]
        found[stack] = tuple(dict.fromkeys(one for ones in near for one in ones))
    return {stack: needed for stack, needed in found.items() if stack in stacks}


def backwards(needs: Needs) -> dict[str, list[str]]:
    """Return the stacks the other way round: each is begun once all that need it are done with."""
    return {stack: [other for other, needed in needs.items() if stack in needed] for stack in reversed(list(needs))}


def _ended(stack: str, future: Future[Result]) -> Outcome[Result]:
    failure = future.exception()
    if failure is None:
        return Outcome(stack=stack, result=future.result())
    if isinstance(failure, Exception):
        return Outcome(stack=stack, failure=failure)
    raise failure


def _failed(needed: Collection[str], outcomes: Mapping[str, Outcome[Result]]) -> tuple[str, ...]:
    """Return the stacks that failed among those that are needed and all that these need."""
    found: dict[str, None] = {}
    for outcome in (outcomes[stack] for stack in needed if stack in outcomes):
        if outcome.failure and not outcome.stopped:
            found[outcome.stack] = None
        found |= dict.fromkeys(outcome.because_of)
    return tuple(found)
