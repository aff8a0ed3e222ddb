"""Digests of values, changes, impacts and files, which identify equal content for users and later runs.

The digest of a change does not cover line numbers, commit names, the order of parts, time estimates or unrelated
changes. A rebase that does not alter the change therefore does not alter its digest.
"""

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from components.lookups.effects.changes import Change
from components.lookups.effects.table import CREATED
from jacquard.previews.impacts.impact import Impact, Lost, Row
from jacquard.previews.impacts.tenant_impact import TenantImpact

_ROW = ("falls_on", "part", "effect", "when", "count", "change", "gpus", "digest")
_ROLL = ("out_at_once", "surge", "paused")
"""Fields of a rollout that depend only on the change; remaining spares and durations also depend on other data."""
_LOST = ("kind", "name", "outcome")


def sha256(content: bytes) -> str:
    """Return the SHA-256 of ``content`` as 64 hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def digest(value: Any) -> str:
    """Return the SHA-256 of a JSON value, independent of the order of its keys."""
    return sha256(json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode())


def changes_digest(changes: Iterable[Change]) -> str:
    """Return the digest of changes of objects, with values before and after; a new object is included completely."""
    return _unordered(
        (
            *(change.kind, change.manifest.cluster, change.manifest.namespace, change.manifest.name),
            *(change.path, change.old, change.manifest.body if change.path == CREATED else change.new),
        )
        for change in changes
    )


def impact_digest(impact: Impact) -> str:
    """Return the digest of a whole change: its effects, deleted objects, and tenants that must approve."""
    approvers = _unordered((tenant.tenant, tenant.digest) for tenant in impact.tenants if tenant.asks)
    return digest([impact.environment, _rows(impact.rows), _lost(impact.lost), approvers])


def part_digest(tenant: TenantImpact, rows: Iterable[Row], lost: Iterable[Lost]) -> str:
    """Return the digest of the part of a change that affects ``tenant``; the tenant's approval must contain the digest.

    Args:
        tenant: impact of the change on the tenant.
        rows: all rows of the impact.
        lost: all objects that are no longer declared.
    """
    window = tenant.window and [tenant.window.text, tenant.window.held]
    lowest = _unordered((item.instance_type, item.contracted, item.lowest) for item in tenant.capacity)
    tenant_rows = [row for row in rows if row.tenant == tenant.tenant]
    tenant_lost = [item for item in lost if item.tenant == tenant.tenant]
    return digest([tenant.tenant, window, lowest, _rows(tenant_rows), _lost(tenant_lost)])


def _rows(rows: Iterable[Row]) -> str:
    return _unordered(
        [
            *(getattr(row, name) for name in _ROW),
            *(getattr(row.roll, name, None) for name in _ROLL),
            _unordered((forced.kind, forced.path, forced.effect, forced.objects) for forced in row.forced_by),
        ]
        for row in rows
    )


def _lost(lost: Iterable[Lost]) -> str:
    return _unordered([getattr(item, name) for name in _LOST] for item in lost)


def _unordered(values: Iterable[Any]) -> str:
    return digest(sorted(map(digest, values)))
