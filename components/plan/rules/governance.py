"""Windows, freezes and waivers: long enough, about tenants that exist, once each."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

from components.plan.pools import DataPath, pools, problem
from components.plan.rules.places import place
from components.specs.environment import Environment
from components.specs.loader import POLICY, WAIVERS
from components.specs.problems import Problem, listed, suggestion

DAY_MINUTES = 24 * 60


def tenants(environment: Environment) -> Iterator[Problem]:
    """Report tenants that a freeze names in vain: it would protect nobody."""
    declared = [tenant.tenant for tenant in environment.tenants]
    named: list[tuple[DataPath, str]] = [
        (("freezes", index, "tenants", at), tenant)
        for index, freeze in enumerate(environment.policy.freezes)
        for at, tenant in enumerate(freeze.tenants)
    ]
    for path, tenant in named:
        if tenant not in declared:
            text = (
                f"'{tenant}' has no file tenants/{tenant}.yaml (tenants: {listed(declared)}); remove it or pick one"
                f"{suggestion(tenant, declared)}"
            )
            yield problem(environment, POLICY, path, text)


def windows(environment: Environment) -> Iterator[Problem]:
    """Report pools whose drain may last longer than the window in which their tenant allows it."""
    for placed in pools(environment):
        window, longest = placed.tenant.changes.window, placed.pool.rollout.drain_timeout_seconds
        if window is None:
            continue
        minutes = (_minutes(window.to) - _minutes(window.from_)) % DAY_MINUTES
        if longest > minutes * 60:
            text = (
                f"{longest} seconds are longer than the window of {placed.tenant.tenant}"
                f" ({place(environment, placed.file, ('changes', 'window'))}, {minutes * 60} seconds); write at most"
                " that, or a longer window"
            )
            path = (*placed.path, "rollout", "drain_timeout_seconds")
            yield problem(environment, placed.file, path, text)


def _minutes(time: dt.time) -> int:
    return time.hour * 60 + time.minute


def twice(environment: Environment) -> Iterator[Problem]:
    """Report waivers that say the same twice: removing one would change nothing."""
    first: dict[tuple[str, str], str] = {}
    for index, waiver in enumerate(environment.waivers.waivers):
        path, key = ("waivers", index), (waiver.rule, waiver.subject)
        if key in first:
            text = f"waiver of {waiver.rule} for {waiver.subject} stands twice, first in {first[key]}; remove one"
            yield problem(environment, WAIVERS, path, text)
        first.setdefault(key, place(environment, WAIVERS, path))
