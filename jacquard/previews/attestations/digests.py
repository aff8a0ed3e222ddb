"""Digests by which two people, or two runs, know that they speak of the same: of values, changes, impacts and files.

A digest of a change leaves out all that does not belong to it: lines and names of commits, the order in which parts are
told, estimates of time, what stands beside it. So it survives a rebase that does not alter the change.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from components.lookups.effects.changes import Change
from components.lookups.effects.table import CREATED
from jacquard.previews.impacts.impact import Impact, Lost, Row, TenantImpact

_ROW = ("falls_on", "part", "effect", "when", "count", "change", "gpus", "digest")
_ROLL = ("out_at_once", "surge", "paused")
"""What of a roll is decided by the change; how many spares are left, and how long it takes, others decide as well."""
_LOST = ("kind", "name", "outcome")


def sha256(content: bytes) -> str:
    """Return the SHA-256 of ``content`` as 64 hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def digest(value: Any) -> str:
    """Return the SHA-256 of a JSON value, however its keys are ordered."""
    return sha256(json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode())


def changes_digest(changes: Iterable[Change]) -> str:
    """Return the digest of what changes in objects, with values before and after; a new object is told whole."""
    return _unordered(
        (
            *(change.kind, change.manifest.cluster, change.manifest.namespace, change.manifest.name),
            *(change.path, change.old, change.manifest.body if change.path == CREATED else change.new),
        )
        for change in changes
    )


def impact_digest(impact: Impact) -> str:
    """Return the digest of a change as a whole: what happens to whom, and who is asked."""
    asked = _unordered((tenant.tenant, tenant.digest) for tenant in impact.tenants if tenant.asks)
    return digest([impact.environment, _rows(impact.rows), _lost(impact.lost), asked])


def part_digest(tenant: TenantImpact, rows: Iterable[Row], lost: Iterable[Lost]) -> str:
    """Return the digest of the part of a change that is ``tenant``'s own, which its word on the change names.

    Args:
        tenant: what the change means to it.
        rows: all that happens.
        lost: all objects that go.
    """
    window = tenant.window and [tenant.window.text, tenant.window.held]
    lowest = _unordered((one.instance_type, one.contracted, one.lowest) for one in tenant.capacity)
    mine = [row for row in rows if row.tenant == tenant.tenant]
    gone = [one for one in lost if one.tenant == tenant.tenant]
    return digest([tenant.tenant, window, lowest, _rows(mine), _lost(gone)])


def _rows(rows: Iterable[Row]) -> str:
    return _unordered(
        [
            *(getattr(row, name) for name in _ROW),
            *(getattr(row.roll, name, None) for name in _ROLL),
            _unordered((one.kind, one.path, one.effect, one.objects) for one in row.forced_by),
        ]
        for row in rows
    )


def _lost(lost: Iterable[Lost]) -> str:
    return _unordered([getattr(one, name) for name in _LOST] for one in lost)


def _unordered(values: Iterable[Any]) -> str:
    return digest(sorted(map(digest, values)))
