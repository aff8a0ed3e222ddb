"""Type of a rule, and the rules of one module, grouped by the condition under which rules run."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from components.specs.environment import Environment
from components.specs.reading.problems import Problem

Rule: TypeAlias = Callable[[Environment], Iterable[Problem]]
"""Cross-check that returns the problems of an environment. `jacquard explain` prints the docstring of the rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Rules of one module."""

    references: tuple[Rule, ...] = ()
    """Rules about names that refer to entries. An allocation requires that all references resolve."""
    data: tuple[Rule, ...] = ()
    """Rules about the data that users write."""
    belonging: tuple[Rule, ...] = ()
    """Rules about whether the lock files belong to this region. If such a rule reports a problem, the content of lock
    files is not checked."""
    locks: tuple[Rule, ...] = ()
    """Rules about generated data. They run only if all references resolve."""
    waivable: tuple[Rule, ...] = ()
    """Rules of the tuples above that ``waivers.yaml`` may waive: rules about tested limits and about promises. Each
    problem of such a rule has a subject that a waiver names. A violation of any other rule would be rejected upstream,
    would never be reconciled, or would be meaningless.
    """
