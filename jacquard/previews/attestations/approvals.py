"""Which tenants have agreed to a change: each by a word that names the digest of its part of it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence

from components.specs.region.approvals import ApprovalSpec, word_of
from jacquard.previews.attestations.digests import part_digest
from jacquard.previews.impacts.impact import Agreement, Impact, Lost, Row, TenantImpact


def agreed(
    tenants: Iterable[TenantImpact],
    rows: Sequence[Row],
    lost: Sequence[Lost],
    words: Sequence[ApprovalSpec],
    today: dt.date,
) -> Iterator[TenantImpact]:
    """Yield ``tenants``, those that are asked with the digest of their part of a change and their word on it.

    Args:
        tenants: what the change means to each.
        rows: all that happens.
        lost: all objects that go.
        words: of ``approvals.yaml``.
        today: day in UTC, on which words expire.
    """
    for tenant in tenants:
        digest = part_digest(tenant, rows, lost) if tenant.asks else None
        word = word_of(words, tenant.tenant, digest) if digest else None
        yield tenant.model_copy(update={"digest": digest, "agreement": _agreement(word, today) if word else None})


def missing(impact: Impact) -> tuple[TenantImpact, ...]:
    """Return the tenants that are asked and have not agreed to this change, or whose word is void."""
    return tuple(tenant for tenant in impact.tenants if tenant.missing)


def _agreement(word: ApprovalSpec, today: dt.date) -> Agreement:
    return Agreement(by=word.by, day=word.day, expires=word.expires, void=word.is_void(today))
