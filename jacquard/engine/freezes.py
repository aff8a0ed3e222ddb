"""Finds pending changes in stacks that a freeze protects."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from components.lookups.pools import clusters
from components.specs.environment import Environment
from components.specs.keys import DPUS, cluster_of, domain_of, refers_to_charts
from components.specs.struct import Struct
from policies.check import frozen
from policies.judging import Violation
from stacks.target import stack_names

if TYPE_CHECKING:
    from jacquard.engine.driver import Run

Previews: TypeAlias = "Callable[[Sequence[str]], Mapping[str, Run]]"


class FrozenStack(Struct):
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


def freezes(environment: Environment, promoted: Iterable[str], now: dt.datetime) -> list[str]:
    """Return a text for each tenant whose unwaived freeze blocks an apply of promoted groups at ``now``.

    Args:
        environment: environment of the groups.
        promoted: clusters, or keys of groups of pools, DPUs or charts. All tenants share DPUs.
        now: time with a time zone.
    """
    moved = {domain_of(key) if refers_to_charts(key) else cluster_of(key) for key in promoted}
    placed = [item for item in clusters(environment) if DPUS in moved or item.cluster.name in moved]
    stacks = stack_names(environment) if placed else ()
    by_tenant = {item.fact.at("tenant"): item.finding for stack in stacks for item in frozen(environment, stack, now)}
    return [
        f"{tenant}: 'up' refuses this change now: {by_tenant[tenant].found}; {by_tenant[tenant].fix}"
        for tenant in dict.fromkeys(item.tenant.tenant for item in placed)
        if tenant in by_tenant
    ]
