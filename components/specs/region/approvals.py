"""Approvals of disruptive changes by tenants."""

import datetime as dt
from collections.abc import Iterable
from typing import Any

from components.specs.base import DataFile, Sha256, ShortName, Spec, Text
from components.specs.reading.lock_text import entry_text


class ApprovalSpec(Spec):
    """Approval of one change by a tenant. The approval is valid only for the change with the digest."""

    tenant: ShortName
    """Tenant that approved the change."""
    digest: Sha256
    """Digest of the tenant's part of the change, as printed by ``jacquard impact``."""
    by: Text
    """Contact who approved the change for the tenant."""
    day: dt.date
    """Date of the approval."""
    reason: Text
    """Approved change or reason, for operators. Only the digest identifies the change."""
    ticket: Text | None = None
    """Number or URL of the ticket with the approval; optional."""
    expires: dt.date | None = None
    """First day on which the approval is void. By default it is valid until the change is applied."""

    def is_void(self, today: dt.date) -> bool:
        """Return whether the approval has expired on ``today``."""
        return self.expires is not None and self.expires <= today


class ApprovalsFile(DataFile):
    """``approvals.yaml``, an optional file to which ``jacquard approve`` adds entries.

    Approvals of changes that have been applied have no effect, and can be removed.
    """

    approvals: tuple[ApprovalSpec, ...] = ()
    """Approvals of changes by tenants."""


def approval_of(approvals: Iterable[ApprovalSpec], tenant: str, digest: str) -> ApprovalSpec | None:
    """Return the approval of ``tenant`` for the change with ``digest`` that expires last, even if it is expired."""
    fitting = [approval for approval in approvals if (approval.tenant, approval.digest) == (tenant, digest)]
    return max(fitting, key=lambda approval: approval.expires or dt.date.max, default=None)


_EMPTY = f"""# yaml-language-server: $schema=../../schemas/approvals.schema.json
schema_version: {ApprovalsFile.FORMAT}
approvals:
"""
_APPROVALS = "approvals"


def with_approval(text: str, approval: ApprovalSpec) -> str:
    """Return the text of ``approvals.yaml`` with ``approval``, which replaces one of the same tenant and change.

    Args:
        text: Text of the file; empty if there is no file.
        approval: Approval of the tenant.
    """
    from components.specs.reading.edits import edited, loaded  # noqa: PLC0415 - ruamel.yaml takes time to load

    entry = loaded(_entry(approval))

    def edit(document: Any) -> Any:
        approvals = document.get(_APPROVALS) or loaded("[]")
        approvals.fa.set_block_style()
        at = next((index for index, existing in enumerate(approvals) if _same(existing, approval)), None)
        if at is None:
            approvals.append(entry)
        else:
            approvals[at] = entry
        document[_APPROVALS] = approvals
        return document

    return edited(text or _EMPTY, edit)


def _same(existing: Any, approval: ApprovalSpec) -> bool:
    return (existing.get("tenant"), existing.get("digest")) == (approval.tenant, approval.digest)


def _entry(approval: ApprovalSpec) -> str:
    values = approval.model_dump(mode="json", exclude_none=True)
    days = [name for name, value in approval if isinstance(value, dt.date)]
    texts = (f"{name}: {value if name in days else entry_text(value)}" for name, value in values.items())
    return f"{{{', '.join(texts)}}}"
