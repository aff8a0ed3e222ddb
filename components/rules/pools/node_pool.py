"""Rules about node pools: burn-in, reboots, rollouts, immutable fields, and removal in two steps."""

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Iterator

from components.lookups.pools import clusters, declared_spares, place, pools, problem
from components.rollout.limits import RolloutLimits
from components.rules.region.running import first_group, running_by_pool
from components.rules.rule import AdvisoryPeriod, Rules, advisory
from components.specs.environment import Environment
from components.specs.hosts.instance_types import Scale
from components.specs.keys import cluster_of, group_key, pool_key, pool_of
from components.specs.pools.node_pool import BurnIn
from components.specs.reading.loader import POLICY, REGION
from components.specs.reading.problems import Problem, listed
from components.specs.region.region import FailureDomain

AREA = "node-pools"
"""Prefix of the names of these rules in waivers and reports."""

_PATIENCE_SECONDS = 900
"""Minimum time for which a node with GPUs may be unready before it is rebooted."""


def burn_ins(environment: Environment) -> Iterator[Problem]:
    """Report pools with a gated burn-in in a region without a controller that sets its condition."""
    for placed in pools(environment):
        if placed.pool.health.burn_in is BurnIn.GATED and environment.region.nodes.gate is None:
            text = (
                f"{BurnIn.GATED} waits for a condition that no controller sets; add the tests of nodes to {REGION},"
                f" nodes: {{tests: {{}}}}, or another controller with burn_in, or write {BurnIn.NONE}"
            )
            yield problem(environment, placed.file, (*placed.path, "health", "burn_in"), text)


def patience(environment: Environment) -> Iterator[Problem]:
    """Report pools with GPUs whose nodes would be rebooted during a switch restart, which training jobs survive."""
    for placed in pools(environment):
        kind = environment.instance_types.by_name.get(placed.pool.instance_type)
        seconds = placed.pool.health.unhealthy_timeout_seconds
        if kind is not None and kind.gpu is not None and seconds < _PATIENCE_SECONDS:
            text = (
                f"{seconds} seconds are too few for nodes with GPUs: their jobs survive a restart of a switch but not a"
                f" reboot; write at least {_PATIENCE_SECONDS}"
            )
            yield problem(environment, placed.file, (*placed.path, "health", "unhealthy_timeout_seconds"), text)


@advisory(AdvisoryPeriod(since="0.2.0", binding=dt.date(2027, 3, 1)))
def bounds(environment: Environment) -> Iterator[Problem]:
    """Report bounds of pools without autoscaling, which have ``nodes`` nodes for all values of the bounds."""
    for placed in pools(environment):
        names = [name for name in ("min_nodes", "max_nodes") if getattr(placed.pool, name) is not None]
        if names and not placed.pool.autoscaling:
            disabled = "autoscaling" in placed.pool.model_fields_set
            why = "with autoscaling: false" if disabled else "without autoscaling"
            remedy = "remove" if disabled else "write autoscaling: true, or remove"
            has, it = ("have", "them") if names[1:] else ("has", "it")
            text = f"has {' and '.join(names)} {why}, which {has} no effect; {remedy} {it}"
            yield problem(environment, placed.file, placed.path, text)


def surges(environment: Environment) -> Iterator[Problem]:
    """Report pools with surge rollouts but without spare hosts."""
    for placed in pools(environment):
        surge, spares = placed.pool.rollout.surge, declared_spares(environment, placed.pool)
        if surge not in {0, "0%"} and spares in {0, "0%"}:
            text = f"{surge} requires spare hosts, but the pool has none; raise spares, or write 0"
            yield problem(environment, placed.file, (*placed.path, "rollout", "surge"), text)


def restarts(environment: Environment) -> Iterator[Problem]:
    """Report scheduled restarts outside the tenant's change window or within a freeze."""
    for placed in pools(environment):
        after, path = placed.pool.rollout.after, (*placed.path, "rollout", "after")
        if after is None:
            continue
        window = placed.tenant.changes.window
        if window is not None and not window.covers(after):
            there = place(environment, placed.file, ("changes", "window"))
            text = (
                f"{after.isoformat()} is outside the window of {placed.tenant.tenant} ({there}); write another time"
                " within the window"
            )
            yield problem(environment, placed.file, path, text)
        for index, freeze in enumerate(environment.policy.freezes):
            if freeze.covers(after, placed.tenant.tenant):
                there = place(environment, POLICY, ("freezes", index))
                text = (
                    f"{after.isoformat()} is in freeze {freeze.name} ({there}); write {freeze.to.isoformat()} or later"
                )
                yield problem(environment, placed.file, path, text)


def failure_domains(environment: Environment) -> Iterator[Problem]:
    """Report a changed kind of failure domain: the rollout groups of each pool would be recreated simultaneously."""
    groups, kinds = environment.allocations.groups, environment.instance_types.by_name
    racks = {
        name for name, kind in kinds.items() if kind.scale is Scale.RACK
    }  # The setting failure_domain of the region does not apply.
    standing = {placed.key for placed in pools(environment) if placed.pool.instance_type not in racks}
    nodes = sum(group.nodes for key, group in groups.items() if pool_of(key) in standing)
    now, fits = environment.region.failure_domain, Counter[FailureDomain]()
    for host in environment.hosts:
        pool = environment.allocations.hosts.get(host.host)
        if pool in standing:
            fits.update(kind for kind in FailureDomain if group_key(pool, host.domain(kind)) in groups)
    before = max(FailureDomain, key=lambda kind: fits[kind])
    if nodes and fits[before] > fits[now]:
        there = first_group(environment, standing)
        text = (
            f"{nodes} nodes run in groups by {before} ({there}), but groups by {now} would replace all of them"
            f" simultaneously; write {before}"
        )
        yield problem(environment, REGION, ("failure_domain",), text)


def instance_types(environment: Environment) -> Iterator[Problem]:
    """Report pools whose instance type changed, which would replace all their hosts simultaneously."""
    running = running_by_pool(environment)
    kinds: dict[str, set[str]] = defaultdict(set)
    for host in environment.hosts:
        kinds[environment.allocations.hosts.get(host.host, "")].add(host.instance_type)
    for placed in pools(environment):
        kind, old = placed.pool.instance_type, kinds[placed.key]
        known = kind in environment.instance_types.by_name
        if known and running[placed.key] and old and kind not in old:
            there = first_group(environment, {placed.key})
            text = (
                f"{running[placed.key]} nodes run on {listed(sorted(old))} ({there}), and all of them would be replaced"
                f" simultaneously; write that type, and add a pool for {kind}"
            )
            yield problem(environment, placed.file, (*placed.path, "instance_type"), text)


def endings(environment: Environment) -> Iterator[Problem]:
    """Report pools removed from the data while they have running nodes: removal takes two steps."""
    running = running_by_pool(environment)
    for placed in clusters(environment):
        allocation = environment.allocations.clusters.get(placed.cluster.name)
        there = {pool_key(placed.cluster.name, pool.name): pool.name for pool in placed.cluster.pools}
        if allocation is None or allocation.tenant != placed.tenant.tenant or len(there) < len(placed.cluster.pools):
            continue  # Another rule reports a cluster of another tenant or a duplicate name.
        new = [name for key, name in there.items() if key not in running]
        for key, nodes in running.items():
            if nodes and cluster_of(key) == placed.cluster.name and key not in there:
                renamed = f"; a pool cannot be renamed to {listed(new)}" if new else ""
                where = first_group(environment, {key})
                text = (
                    f"{nodes} nodes run in {key} ({where}), which was removed here; restore it with retire: true, then"
                    f" run jacquard allocate {environment.name} and jacquard up {environment.name}, and only then"
                    f" remove it{renamed}"
                )
                yield problem(environment, placed.file, (*placed.path, "pools"), text)


def rollout_limits(environment: Environment) -> Iterator[Problem]:
    """Report rollout groups that alone exceed a limit of the region, because they could never be promoted."""
    limits, by_key = RolloutLimits(environment), {placed.key: placed for placed in pools(environment)}
    reported = set()
    for group in environment.allocations.groups:
        placed = by_key.get(pool_of(group))
        for excess in limits.broken_by([group]) if placed else ():
            there = place(environment, REGION, ("nodes", "rollouts", excess.limit))
            text = f"{excess} ({there}), and group {group} alone exceeds it; write less, or raise the limit"
            if placed and (placed.key, excess.limit) not in reported:
                yield problem(environment, placed.file, (*placed.path, "rollout", "max_unavailable"), text)
                reported.add((placed.key, excess.limit))


RULES = Rules(
    data=(burn_ins, patience, bounds, surges, restarts, failure_domains, instance_types, endings),
    locks=(rollout_limits,),
)
