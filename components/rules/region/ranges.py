"""Check of ranges in ``region.yaml`` that exclude assigned numbers, reported once per changed range."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from components.allocate.ledger import ranges, shown, written
from components.lookups.number_kinds import Kind
from components.lookups.numbers import Block
from components.lookups.pools import DataPath, place, problem
from components.rules.region.running import running_nodes
from components.specs.environment import Environment
from components.specs.reading.loader import ALLOCATIONS, REGION
from components.specs.reading.lock_text import digest_of
from components.specs.reading.problems import Problem, dotted

Given = tuple[Kind, DataPath, Block]
"""Kind of number, path in the lock file, and block."""
_MAX_NUMBERS = 3


def left_out(environment: Environment, found: Iterable[Given], redo: Callable[[DataPath], str]) -> Iterator[Problem]:
    """Yield problems for numbers of the lock file that are in use and outside their range.

    In an edited lock file, each number is reported at its line. In an unedited lock file the cause is a changed range:
    the range is reported once, regardless of how many numbers it excludes.

    Args:
        environment: the region.
        found: numbers of the lock file.
        redo: function that returns the remedy to allocate the number at a path again, or to restore the number.
    """
    allowed, outside = ranges(environment), defaultdict[Kind, list[Given]](list)
    for kind, path, block in found:
        if kind in allowed and path[0] != "quarantine" and not any(block in part for part in allowed[kind]):
            outside[kind].append((kind, path, block))
    lock = environment.allocations
    for kind, numbers in outside.items():
        where, size = written(environment, kind)
        if lock.digest == digest_of(lock):
            yield problem(environment, REGION, where, _moved(environment, size, numbers, redo))
            continue
        for _, path, block in numbers:
            text = (
                f"{shown(kind, block)} is outside {dotted(where)} ({size or 'empty'},"
                f" {place(environment, REGION, where)}); widen it there, or {redo(path)}"
            )
            yield problem(environment, ALLOCATIONS, path, text)


def _moved(environment: Environment, size: str, numbers: list[Given], redo: Callable[[DataPath], str]) -> str:
    running = running_nodes(environment)
    nodes = sum(running[entry] for entry in {path[:2] for _, path, _ in numbers})
    examples = [
        f"{shown(kind, block)} ({dotted(path)}, {place(environment, ALLOCATIONS, path)})"
        for kind, path, block in numbers[:_MAX_NUMBERS]
    ]
    rest = f" and {len(numbers) - _MAX_NUMBERS} more" if len(numbers) > _MAX_NUMBERS else ""
    by = f", used by {nodes} nodes" if nodes else ""
    text = f"{size or 'empty, and'} excludes assigned numbers, {', '.join(examples)}{rest}{by}; widen it"
    if nodes or len(numbers) > 1:
        return f"{text}, or restore the previous value (git diff shows it)"
    return f"{text}, or {redo(numbers[0][1])}"
