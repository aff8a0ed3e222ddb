"""What a change means to each tenant: whether it is asked, when that may happen, what is left of its contract."""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from collections.abc import Iterator, Sequence

from components.lookups.effects.effect import Effect, worst_of
from components.lookups.pools import pools
from components.render.pools.pool_rollout import window_text
from components.specs.environment import Environment
from components.specs.keys import pool_of
from components.specs.pools.nodes import Windows
from components.specs.region.tenant import Approval, TenantSpec
from jacquard.previews.impacts.impact import DISRUPTIVE, Contracted, Freeze, Row, TenantImpact, TenantWindow
from jacquard.previews.impacts.nodes import out_at_once


def tenants(
    base: Environment, environment: Environment, rows: Sequence[Row], now: dt.datetime
) -> Iterator[TenantImpact]:
    """Yield what ``rows`` mean to each tenant that any of them is about, in order of tenants, those that go last.

    A change cannot spare itself the question: a tenant is asked if it is to be asked on either side, by the contact
    that it has in the base.

    Args:
        base: the region as it was.
        environment: the head.
        rows: all that happens.
        now: the moment from which on freezes count.
    """
    before = {tenant.tenant: tenant for tenant in base.tenants}
    after = {tenant.tenant: tenant for tenant in environment.tenants}
    for name, tenant in (after | {name: one for name, one in before.items() if name not in after}).items():
        mine = [row for row in rows if row.tenant == name]
        if mine:
            sides = [side[name] for side in (before, after) if name in side]
            yield _of_tenant(environment, tenant, mine, now, asks=_asked(sides, mine))


def _asked(sides: Sequence[TenantSpec], rows: Sequence[Row]) -> str | None:
    """Return who has to agree, by what a tenant says before and after; None where nobody has to."""
    asks = any(side.changes.approval is Approval.REQUIRED for side in sides)
    return sides[0].contacts.changes if asks and _felt(rows) else None


def _felt(rows: Sequence[Row]) -> list[Row]:
    """Return the rows that disturb, or may."""
    return [row for row in rows if row.effect in (*DISRUPTIVE, Effect.UNKNOWN)]


def _of_tenant(
    environment: Environment, tenant: TenantSpec, rows: Sequence[Row], now: dt.datetime, *, asks: str | None
) -> TenantImpact:
    felt = _felt(rows)
    return TenantImpact(
        tenant=tenant.tenant,
        effect=worst_of(row.effect for row in rows),
        nodes=sum(row.count or 0 for row in felt),
        asks=asks,
        window=_window(environment, tenant, felt),
        freezes=tuple(
            Freeze(name=freeze.name, begins=freeze.from_, ends=freeze.to)
            for freeze in environment.policy.freezes
            if felt and freeze.to > now and freeze.protects(tenant.tenant)
        ),
        capacity=tuple(_contracted(environment, tenant, rows)),
    )


def _window(environment: Environment, tenant: TenantSpec, rows: Sequence[Row]) -> TenantWindow | None:
    """Return the window in which nodes may be drained; None where there is none, or nothing is drained."""
    window = tenant.changes.window
    rolls = [row.roll for row in rows if row.roll]
    if window is None or not rolls:
        return None
    longest = max((roll.minutes for roll in rolls if roll.minutes is not None), default=None)
    held = environment.region.nodes.windows is Windows.ENFORCE
    return TenantWindow(
        text=window_text(window),
        held=held,
        openings=math.ceil(longest / window.minutes) if held and longest is not None else None,
    )


def _contracted(environment: Environment, tenant: TenantSpec, rows: Sequence[Row]) -> Iterator[Contracted]:
    """Yield what a tenant has at the lowest point of the change of each instance type that it paid for."""
    away, moved = out_at_once(rows), {pool_of(row.part) for row in rows if row.roll or row.change}
    sizes = Counter[str]()
    for key, group in environment.allocations.groups.items():
        sizes[pool_of(key)] += group.nodes
    nodes, gone, touched = Counter[str](), Counter[str](), set[str]()
    for placed in pools(environment):
        if placed.tenant.tenant == tenant.tenant:
            kind = placed.pool.instance_type
            nodes[kind] += sizes[placed.key]
            gone[kind] += away[placed.key]
            touched |= {kind} if placed.key in moved else set()
    for contract in tenant.contract:
        if contract.instance_type in touched:
            yield Contracted(
                instance_type=contract.instance_type,
                contracted=contract.nodes,
                lowest=nodes[contract.instance_type] - gone[contract.instance_type],
            )
