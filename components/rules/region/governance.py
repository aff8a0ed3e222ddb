"""Rules about windows, freezes, waivers and approvals: sufficient length, known tenants, no duplicates."""

from collections.abc import Iterator, Sequence

from components.lookups.pools import DataPath, place, pools, problem, tenant_file
from components.render.platform_pods import KUBECTL
from components.render.pools.pool_rollout import drain_limit_seconds
from components.render.pools.pool_windows import LEAST_MINUTES
from components.rules.rule import Rules
from components.rules.tools import missing_tool
from components.specs.environment import Environment
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.pools.nodes import Windows
from components.specs.reading.loader import APPROVALS, POLICY, REGION, WAIVERS
from components.specs.reading.problems import Problem, abbreviated, listed, suggestion
from components.specs.region.tenant import Approval
from components.specs.times import DAY_MINUTES


def tenants(environment: Environment) -> Iterator[Problem]:
    """Report undeclared tenants of a freeze, because the freeze would protect no clusters.

    Another rule reports a tenant with running clusters but without a file.
    """
    declared = [tenant.tenant for tenant in environment.tenants]
    allocated = {cluster.tenant for cluster in environment.allocations.clusters.values()}
    named: list[tuple[DataPath, str]] = [
        (("freezes", index, "tenants", at), tenant)
        for index, freeze in enumerate(environment.policy.freezes)
        for at, tenant in enumerate(freeze.tenants)
    ]
    for path, tenant in named:
        if tenant not in declared and tenant not in allocated:
            text = (
                f"'{tenant}' has no file tenants/{tenant}.yaml (tenants: {listed(declared)}); remove it or pick one"
                f"{suggestion(tenant, declared)}"
            )
            yield problem(environment, POLICY, path, text)


def windows(environment: Environment) -> Iterator[Problem]:
    """Report pools whose drain may last longer than the tenant's change window."""
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
    """Report enforced windows without the tool image that blocks rollouts."""
    if environment.region.nodes.windows is Windows.ENFORCE and (missing := missing_tool(environment, KUBECTL)):
        text = f"{Windows.ENFORCE} requires {missing}, or write {Windows.ANNOTATE}"
        yield problem(environment, REGION, ("nodes", "windows"), text)


def window_turns(environment: Environment) -> Iterator[Problem]:
    """Report enforced windows that are open or closed for less time than a transition requires."""
    for tenant in environment.tenants if environment.region.nodes.windows is Windows.ENFORCE else ():
        window = tenant.changes.window
        if window is None:
            continue
        times = {"open": window.minutes, "shut": DAY_MINUTES - window.minutes}
        for state, minutes in times.items():
            if minutes < LEAST_MINUTES:
                there = place(environment, REGION, ("nodes", "windows"))
                text = (
                    f"is {state} for {minutes} minutes, and {Windows.ENFORCE} ({there}) needs {LEAST_MINUTES} for a"
                    " transition; write other hours, or remove the window"
                )
                yield problem(environment, tenant_file(tenant), ("changes", "window"), text)


def repair_approvals(environment: Environment) -> Iterator[Problem]:
    """Report required approvals of repairs that the region never starts by itself."""
    region = environment.region
    missing = {
        ("nodes", "tests"): None if region.nodes.tests else "nodes.tests",
        ("bare_metal", "backend"): None if region.bare_metal.backend is BareMetalBackend.METAL3 else "metal3",
    }
    needed = [f"{text} ({place(environment, REGION, path)})" for path, text in missing.items() if text]
    for tenant in environment.tenants if needed else ():
        if tenant.changes.repair_approval is Approval.REQUIRED:
            text = (
                f"has no effect, because no idle node is repaired without {' and '.join(needed)}; remove it, or write"
                f" {Approval.NOT_REQUIRED}"
            )
            yield problem(environment, tenant_file(tenant), ("changes", "repair_approval"), text)


def twice(environment: Environment) -> Iterator[Problem]:
    """Report duplicate waivers, because removing one of them would have no effect."""
    keys = [f"waiver of {waiver.rule} for {waiver.subject}" for waiver in environment.waivers.waivers]
    yield from _twice(environment, WAIVERS, "waivers", keys)


def approved_twice(environment: Environment) -> Iterator[Problem]:
    """Report duplicate approvals of a change, because removing one of them would not revoke the approval."""
    keys = [
        (f"approval of {approval.tenant} for change {abbreviated(approval.digest)}")
        for approval in environment.approvals.approvals
    ]
    yield from _twice(environment, APPROVALS, "approvals", keys)


def _twice(environment: Environment, file: str, section: str, keys: Sequence[str]) -> Iterator[Problem]:
    """Report entries of a section that repeat an earlier entry."""
    first: dict[str, str] = {}
    for index, text in enumerate(keys):
        path = (section, index)
        if text in first:
            yield problem(environment, file, path, f"{text} is duplicated, first in {first[text]}; remove one")
        first.setdefault(text, place(environment, file, path))


RULES = Rules(
    data=(tenants, windows, window_tools, window_turns, repair_approvals, twice, approved_twice), waivable=(windows,)
)
