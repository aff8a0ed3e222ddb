"""Windows, freezes, waivers and approvals: long enough, about tenants that exist, once each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from components.lookups.pools import DataPath, place, pools, problem, tenant_file
from components.render.pools.pool_rollout import drain_limit_seconds
from components.render.pools.pool_windows import LEAST_MINUTES
from components.render.workloads import KUBECTL
from components.specs.environment import Environment
from components.specs.pools.nodes import Windows
from components.specs.reading.loader import APPROVALS, POLICY, REGION, VERSIONS, WAIVERS
from components.specs.reading.problems import Problem, listed, suggestion
from components.specs.times import DAY_MINUTES


def tenants(environment: Environment) -> Iterator[Problem]:
    """Report tenants that a freeze names in vain: it would protect nobody.

    One whose clusters run is there and its file is not, which is told already.
    """
    declared = [tenant.tenant for tenant in environment.tenants]
    lost = {cluster.tenant for cluster in environment.allocations.clusters.values()}
    named: list[tuple[DataPath, str]] = [
        (("freezes", index, "tenants", at), tenant)
        for index, freeze in enumerate(environment.policy.freezes)
        for at, tenant in enumerate(freeze.tenants)
    ]
    for path, tenant in named:
        if tenant not in declared and tenant not in lost:
            text = (
                f"'{tenant}' has no file tenants/{tenant}.yaml (tenants: {listed(declared)}); remove it or pick one"
                f"{suggestion(tenant, declared)}"
            )
            yield problem(environment, POLICY, path, text)


def windows(environment: Environment) -> Iterator[Problem]:
    """Report pools whose drain may last longer than the window in which their tenant allows it."""
    for placed in pools(environment):
        window, longest = placed.tenant.changes.window, drain_limit_seconds(placed.pool)
        if window is None or longest is None:
            continue
        seconds = window.minutes * 60
        if longest > seconds:
            text = (
                f"{longest} seconds are longer than the window of {placed.tenant.tenant}"
                f" ({place(environment, placed.file, ('changes', 'window'))}, {seconds} seconds); write at most"
                " that, or a longer window"
            )
            path = (*placed.path, "rollout", "drain_timeout_seconds")
            yield problem(environment, placed.file, path, text, placed.key)


def window_tools(environment: Environment) -> Iterator[Problem]:
    """Report windows that are to be kept without the image that holds rolls."""
    known = [tool.name for tool in environment.versions.tools]
    if environment.region.nodes.windows is Windows.ENFORCE and KUBECTL not in known:
        text = (
            f"{Windows.ENFORCE} needs '{KUBECTL}', which is not among tools of {VERSIONS} ({listed(known)}); add it"
            f" there, or write {Windows.ANNOTATE}"
        )
        yield problem(environment, REGION, ("nodes", "windows"), text)


def window_turns(environment: Environment) -> Iterator[Problem]:
    """Report windows that are to be kept and are open, or shut, for less time than that takes."""
    for tenant in environment.tenants if environment.region.nodes.windows is Windows.ENFORCE else ():
        window = tenant.changes.window
        if window is None:
            continue
        times = {"open": window.minutes, "shut": DAY_MINUTES - window.minutes}
        for state, minutes in times.items():
            if minutes < LEAST_MINUTES:
                there = place(environment, REGION, ("nodes", "windows"))
                text = (
                    f"is {state} for {minutes} minutes, and {Windows.ENFORCE} ({there}) needs {LEAST_MINUTES} to turn"
                    " it; write other hours, or no window for any hour"
                )
                yield problem(environment, tenant_file(tenant), ("changes", "window"), text)


def twice(environment: Environment) -> Iterator[Problem]:
    """Report waivers that say the same twice: removing one would change nothing."""
    keys = [f"waiver of {one.rule} for {one.subject}" for one in environment.waivers.waivers]
    yield from _twice(environment, WAIVERS, "waivers", keys)


def approved_twice(environment: Environment) -> Iterator[Problem]:
    """Report words of a tenant on one change that stand twice: nobody could take such a word back by removing one."""
    keys = [f"word of {one.tenant} on change {one.digest[:12]}" for one in environment.approvals.approvals]
    yield from _twice(environment, APPROVALS, "approvals", keys)


def _twice(environment: Environment, file: str, section: str, said: Sequence[str]) -> Iterator[Problem]:
    """Report entries of a section that say what an earlier one says."""
    first: dict[str, str] = {}
    for index, text in enumerate(said):
        path = (section, index)
        if text in first:
            yield problem(environment, file, path, f"{text} stands twice, first in {first[text]}; remove one")
        first.setdefault(text, place(environment, file, path))
