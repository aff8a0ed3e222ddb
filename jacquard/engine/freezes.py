"""What would change in the stacks that a freeze protects."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from components.specs.environment import Environment
from jacquard.engine.driver import Run
from policies.check import frozen
from policies.judging import Violation
from stacks.target import stack_names

Previews: TypeAlias = Callable[[Sequence[str]], Mapping[str, Run]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenStack:
    """A stack that freezes protect, and how many of its resources an apply would change."""

    stack: str
    violations: tuple[Violation, ...]
    """One for each tenant and freeze."""
    changes: int


def frozen_stacks(environment: Environment, now: dt.datetime, previews: Previews) -> list[FrozenStack]:
    """Return the stacks that are frozen at ``now``, in the order they are applied.

    Each is previewed, since the pack refuses to apply a frozen stack at all, though nothing of it may change.

    Args:
        environment: whose stacks.
        now: a moment with a time zone.
        previews: runs the preview of each of some stacks, and raises when one fails.
    """
    found = {stack: tuple(frozen(environment, stack, now)) for stack in stack_names(environment)}
    found = {stack: violations for stack, violations in found.items() if violations}
    runs = previews(tuple(found))
    return [
        FrozenStack(stack=stack, violations=violations, changes=runs[stack].progress.changes.total())
        for stack, violations in found.items()
    ]
