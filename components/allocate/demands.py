"""Requests for numbers, with a problem for each request that cannot be met."""

from typing import Any

from components.allocate.ledger import Ledger, as_value, written
from components.lookups.number_kinds import Kind
from components.lookups.numbers import Block
from components.lookups.pools import DataPath, problem
from components.specs.environment import Environment
from components.specs.reading.loader import REGION
from components.specs.reading.problems import Problem, dotted
from components.specs.struct import Struct


class Want(Struct, kw_only=False):
    """Holder that requests a number, and its place in the data."""

    holder: str
    file: str
    path: DataPath


class Taker:
    """Allocator of numbers from a ledger that records a problem for each failed request."""

    def __init__(self, environment: Environment, ledger: Ledger) -> None:
        self._environment = environment
        self._ledger = ledger
        self.problems: list[Problem] = []

    def take(self, want: Want, what: str, kind: Kind, key: str = "", *, size: int = 1) -> Any:
        """Return a number, or the first of ``size`` numbers; None, with a recorded problem, if no block is free."""
        block = self._ledger.take(want.holder, kind, size)
        return self.value(want, what, kind, key, block)

    def value(self, want: Want, what: str, kind: Kind, key: str, block: Block | None) -> Any:
        """Return the value of ``block`` in a lock file; None, with a recorded problem, if ``block`` is None."""
        if block is not None:
            return as_value(kind, block)
        path, value = written(self._environment, kind)
        line = self._environment.positions.line(REGION, path)
        text = f"no free {what} in {dotted(path)} ({REGION}:{line}, {value or 'empty'}); widen it there"
        text += self._ledger.releasable(kind, self._environment.name)
        where = (*want.path, key) if key else want.path
        self.problems.append(problem(self._environment, want.file, where, text))
        return None
