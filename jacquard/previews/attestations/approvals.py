"""Approvals of a change by tenants; each approval contains the digest of the tenant's part of the change."""

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence

from components.specs.region.approvals import ApprovalSpec, approval_of
from jacquard.previews.attestations.digests import part_digest
from jacquard.previews.impacts.impact import Impact, Lost, Row
from jacquard.previews.impacts.tenant_impact import Agreement, TenantImpact


def agreed(
    tenants: Iterable[TenantImpact],
    rows: Sequence[Row],
    lost: Sequence[Lost],
    words: Sequence[ApprovalSpec],
    today: dt.date,
) -> Iterator[TenantImpact]:
    """Yield ``tenants``, with the digest of their part of the change and their approval if they must approve.

    Args:
        tenants: impact of the change on each tenant.
        rows: all rows of the impact.
        lost: all objects that are no longer declared.
        words: approvals of ``approvals.yaml``.
        today: current day in UTC, by which approvals expire.
    """
    for tenant in tenants:
        digest = part_digest(tenant, rows, lost) if tenant.asks else None
        approval = approval_of(words, tenant.tenant, digest) if digest else None
        agreement = _agreement(approval, today) if approval else None
        yield tenant.model_copy(update={"digest": digest, "agreement": agreement})


def missing(impact: Impact) -> tuple[TenantImpact, ...]:
    """Return the tenants whose approval of this change is required, and is missing or expired."""
    return tuple(tenant for tenant in impact.tenants if tenant.missing)


def _agreement(approval: ApprovalSpec, today: dt.date) -> Agreement:
    return Agreement(by=approval.by, day=approval.day, expires=approval.expires, void=approval.is_void(today))
