"""Processes stacks in parallel and in dependency order; a failure only stops the dependants of the failed stack."""

from collections.abc import Callable, Collection, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from graphlib import TopologicalSorter
from typing import Generic, TypeAlias, TypeVar

from components.specs.struct import Struct
from jacquard.engine.errors import EngineStopped
from jacquard.engine.shutdown import asked

Result = TypeVar("Result")
Needs: TypeAlias = Mapping[str, Collection[str]]
"""Stacks in order, each with the stacks that must finish before its start."""


class Outcome(Struct, Generic[Result]):
    """Result of the work on one stack."""

    stack: str
    begun: bool = True
    result: Result | None = None
    """Return value of the work; None if it did not finish."""
    failure: Exception | None = None
    """Exception of the work."""
    because_of: tuple[str, ...] = ()
    """Failed stacks that prevented the start of this stack; empty if the command was stopped first."""

    @property
    def done(self) -> bool:
        """Return whether the work finished."""
        return self.begun and self.failure is None

    @property
    def stopped(self) -> bool:
        """Return whether the work did not finish because the command was stopped."""
        return isinstance(self.failure, EngineStopped) if self.begun else not self.because_of


def side_by_side(
    needs: Needs,
    work: Callable[[str], Result],
    *,
    at_once: int,
    stopping: Callable[[], None] = lambda: None,
) -> list[Outcome[Result]]:
    """Run ``work`` for each stack in threads, and return the outcomes in the order of ``needs``.

    Stacks that are ready start in that order. After a stop request, no further stack starts; the request is forwarded
    to running engines, which are awaited.

    Args:
        needs: the stacks, each with its dependencies. Dependencies that are not keys of ``needs`` count as finished.
        work: called with the name of a stack; an exception marks that stack as failed.
        at_once: maximum number of parallel stacks.
        stopping: called once, at the first stop request to this command.
    """
    places = {stack: place for place, stack in enumerate(needs)}
    order = TopologicalSorter({stack: [other for other in needed if other in needs] for stack, needed in needs.items()})
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
    """Return the dependencies of each of ``stacks`` within ``stacks``, including indirect dependencies."""
    closest: dict[str, tuple[str, ...]] = {}
    for stack, needed in needs.items():
        near = [(other,) if other in stacks else closest[other] for other in needed]
        closest[stack] = tuple(dict.fromkeys(other for others in near for other in others))
    return {stack: needed for stack, needed in closest.items() if stack in stacks}


def backwards(needs: Needs) -> dict[str, list[str]]:
    """Return the reversed order: each stack starts after all stacks that depend on it have finished."""
    return {stack: [other for other, needed in needs.items() if stack in needed] for stack in reversed(list(needs))}


def _ended(stack: str, future: Future[Result]) -> Outcome[Result]:
    failure = future.exception()
    if failure is None:
        return Outcome(stack=stack, result=future.result())
    if isinstance(failure, Exception):
        return Outcome(stack=stack, failure=failure)
    raise failure


def _failed(needed: Collection[str], outcomes: Mapping[str, Outcome[Result]]) -> tuple[str, ...]:
    """Return the failed stacks among ``needed`` and their dependencies."""
    failed: dict[str, None] = {}
    for outcome in (outcomes[stack] for stack in needed if stack in outcomes):
        if outcome.failure and not outcome.stopped:
            failed[outcome.stack] = None
        failed |= dict.fromkeys(outcome.because_of)
    return tuple(failed)
