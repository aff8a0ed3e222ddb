"""A rule, its name and advisory period, and the rules of one module, grouped by the condition under which they run."""

import datetime as dt
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar

from components.specs.environment import Environment
from components.specs.reading.problems import FORM, Problem
from components.specs.struct import Struct

Rule: TypeAlias = Callable[[Environment], Iterable[Problem]]
"""Cross-check that returns the problems of an environment. `jacquard explain` prints the docstring of the rule."""
Findings: TypeAlias = Mapping[Rule, Sequence[Problem]]
"""Problems of each rule that ran."""
_Any = TypeVar("_Any", bound=Callable[..., Any])
_PERIOD = "advisory_period"


class AdvisoryPeriod(Struct):
    """Time in which violations of a new rule are warnings, so that an upgrade of the library stops no deployment.

    Only a convention or a new demand on data may have a period (`docs/reference/rules.md`, "New rules").
    """

    since: str
    """Release that introduces the rule."""
    binding: dt.date
    """First day on which violations are errors."""

    def is_open(self, today: dt.date) -> bool:
        """Return whether violations are warnings on ``today``."""
        return today < self.binding

    def __str__(self) -> str:
        return f"advisory until {self.binding}, new in {self.since}"


def advisory(period: AdvisoryPeriod) -> Callable[[_Any], _Any]:
    """Declare the advisory period of a rule."""

    def declared(rule: _Any) -> _Any:
        setattr(rule, _PERIOD, period)
        return rule

    return declared


def advisory_period(rule: Callable[..., object]) -> AdvisoryPeriod | None:
    """Return the declared advisory period of ``rule``; None if its violations are always errors."""
    return getattr(rule, _PERIOD, None)


class Rules(Struct):
    """Rules of one module."""

    identity: tuple[Rule, ...] = ()
    """Rules about whether the data belong to this region. If such a rule reports a problem, no other rule runs."""
    references: tuple[Rule, ...] = ()
    """Rules about names that refer to entries. An allocation requires that all references resolve."""
    data: tuple[Rule, ...] = ()
    """Rules about the data that users write."""
    belonging: tuple[Rule, ...] = ()
    """Rules about whether the lock files belong to this region. If such a rule reports a problem, the content of lock
    files is not checked."""
    locks: tuple[Rule, ...] = ()
    """Rules about generated data. They run only if all references resolve."""
    blocking: tuple[Rule, ...] = ()
    """Rules of ``locks`` that must pass before an allocation."""
    acceptable: tuple[Rule, ...] = ()
    """Rules of ``blocking`` that ``jacquard allocate --accept-edits`` skips."""
    promoted: tuple[Rule, ...] = ()
    """Rules of ``locks`` whose violations a promotion fixes."""
    edits: tuple[Rule, ...] = ()
    """Rules about edits of hosts with nodes. Their problems count only if nodes lack hosts (`causes.lack_hosts`)."""
    waivable: tuple[Rule, ...] = ()
    """Rules of the tuples above that ``waivers.yaml`` may waive: rules about tested limits and about promises. Each
    problem of such a rule has a subject that a waiver names. A violation of any other rule would be rejected upstream,
    would never be reconciled, or would be meaningless.
    """


def rule_name(rule: Callable[..., object]) -> str:
    """Return the name of ``rule`` in reports and waivers: area and function, such as ``networks.vpc-sizes``.

    The area is the name of the rule's module, or its ``AREA`` where the module has an older published name.
    """
    area = getattr(sys.modules[rule.__module__], "AREA", rule.__module__.rpartition(".")[2])
    return f"{area}.{rule.__name__}".replace("_", "-")


def named(rule: Callable[..., object], problem: Problem) -> Problem:
    """Return ``problem`` with the name of ``rule``, unless a policy already set its rule, which decides the waiver."""
    return replace(problem, rule=rule_name(rule)) if problem.rule == FORM else problem
