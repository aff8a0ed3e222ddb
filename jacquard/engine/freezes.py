"""Finds pending changes in stacks that a freeze protects."""

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
    """A frozen stack, and the number of resources that an apply would change."""

    stack: str
    violations: tuple[Violation, ...]
    """One violation for each tenant and freeze."""
    changes: int


def frozen_stacks(environment: Environment, now: dt.datetime, previews: Previews) -> list[FrozenStack]:
    """Return the stacks that are frozen at ``now``, in order of application.

    Each stack is previewed, because the policy pack rejects an apply of a frozen stack even without changes.

    Args:
        environment: environment of the stacks.
        now: time with a time zone.
        previews: runs the previews of the given stacks; raises if a preview fails.
    """
    blocked = {stack: tuple(frozen(environment, stack, now)) for stack in stack_names(environment)}
    blocked = {stack: violations for stack, violations in blocked.items() if violations}
    runs = previews(tuple(blocked))
    return [
        FrozenStack(stack=stack, violations=violations, changes=runs[stack].progress.changes.total())
        for stack, violations in blocked.items()
    ]
