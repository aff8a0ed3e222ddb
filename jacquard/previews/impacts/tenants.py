"""Impact of a change on each tenant: required approval, windows and freezes, available contracted capacity."""

import datetime as dt
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from components.lookups.contracts import most_contracted
from components.lookups.effects.effect import Effect, worst_of
from components.lookups.pools import pools
from components.render.pools.pool_rollout import window_text
from components.specs.environment import Environment
from components.specs.keys import pool_of
from components.specs.pools.nodes import Windows
from components.specs.region.tenant import Approval, TenantSpec
from jacquard.previews.impacts.impact import DISRUPTIVE, Row
from jacquard.previews.impacts.nodes import out_at_once
from jacquard.previews.impacts.tenant_impact import Contracted, Freeze, TenantImpact, TenantWindow


def tenants(
    base: Environment, environment: Environment, rows: Sequence[Row], now: dt.datetime
) -> Iterator[TenantImpact]:
    """Yield the impact on each affected tenant, in order of tenants, with removed tenants last.

    A change cannot remove its own approval requirement: a tenant must approve if base or head requires approvals, and
    the contact of the base approves.

    Args:
        base: region before the change.
        environment: region after the change.
        rows: all rows of the impact.
        now: time from which freezes are considered.
    """
    before = {tenant.tenant: tenant for tenant in base.tenants}
    after = {tenant.tenant: tenant for tenant in environment.tenants}
    removed = {name: tenant for name, tenant in before.items() if name not in after}
    for name, tenant in (after | removed).items():
        tenant_rows = [row for row in rows if row.tenant == name]
        if tenant_rows:
            versions = [side[name] for side in (before, after) if name in side]
            yield _of_tenant(environment, tenant, tenant_rows, now, asks=_approver(versions, tenant_rows))


def _approver(versions: Sequence[TenantSpec], rows: Sequence[Row]) -> str | None:
    """Return the contact whose approval is required, by the data of base and head; None if no approval is required."""
    required = any(version.changes.approval is Approval.REQUIRED for version in versions)
    return versions[0].contacts.changes if required and _disruptive(rows) else None


def _disruptive(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with a disruptive or unknown effect."""
    return [row for row in rows if row.effect in (*DISRUPTIVE, Effect.UNKNOWN)]


def _of_tenant(
    environment: Environment, tenant: TenantSpec, rows: Sequence[Row], now: dt.datetime, *, asks: str | None
) -> TenantImpact:
    disruptive = _disruptive(rows)
    return TenantImpact(
        tenant=tenant.tenant,
        effect=worst_of(row.effect for row in rows),
        nodes=sum(row.count or 0 for row in disruptive),
        asks=asks,
        window=_window(environment, tenant, disruptive),
        freezes=tuple(
            Freeze(name=freeze.name, begins=freeze.from_, ends=freeze.to)
            for freeze in environment.policy.freezes
            if disruptive and freeze.to > now and freeze.protects(tenant.tenant)
        ),
        capacity=tuple(_contracted(environment, tenant, rows)),
    )


def _window(environment: Environment, tenant: TenantSpec, rows: Sequence[Row]) -> TenantWindow | None:
    """Return the window in which nodes may be drained; None without a window, or if no node is drained."""
    window = tenant.changes.window
    rolls = [row.roll for row in rows if row.roll]
    if window is None or not rolls:
        return None
    longest = max((roll.minutes for roll in rolls if roll.minutes is not None), default=None)
    enforced = environment.region.nodes.windows is Windows.ENFORCE
    return TenantWindow(
        text=window_text(window),
        held=enforced,
        openings=math.ceil(longest / window.minutes) if enforced and longest is not None else None,
    )


def _contracted(environment: Environment, tenant: TenantSpec, rows: Sequence[Row]) -> Iterator[Contracted]:
    """Yield the minimum available nodes during the change for each affected instance type of the tenant's contract.

    A release of DPUs in a VPC may drain hosts of one instance type only.
    """
    unavailable, affected = out_at_once(rows), {pool_of(row.part) for row in rows if row.roll or row.change}
    sizes = Counter[str]()
    for key, group in environment.allocations.groups.items():
        sizes[pool_of(key)] += group.nodes
    released = {row.part: row.release.out_at_once for row in rows if row.release}
    nodes, missing, kinds = Counter[str](), Counter[str](), set[str]()
    drained = defaultdict[str, set[str]](set)
    for placed in pools(environment):
        if placed.tenant.tenant == tenant.tenant:
            kind = placed.pool.instance_type
            nodes[kind] += sizes[placed.key]
            missing[kind] += unavailable[placed.key]
            kinds |= {kind} if placed.key in affected or placed.cluster.vpc in released else set()
            drained[kind] |= {placed.cluster.vpc} & released.keys()
    for kind, contracted in most_contracted(tenant).items():
        if kind in kinds:
            yield Contracted(
                instance_type=kind,
                contracted=contracted,
                lowest=nodes[kind] - missing[kind] - sum(released[vpc] for vpc in drained[kind]),
            )
