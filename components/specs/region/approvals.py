"""Approvals of disruptive changes by tenants."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import Any

from components.specs.base import DataFile, Sha256, ShortName, Spec, Text
from components.specs.reading.edits import edited, loaded
from components.specs.reading.lock_text import entry_text


class ApprovalSpec(Spec):
    """Approval of one change by a tenant. It is valid for this change only, which its digest identifies."""

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
    """Number or URL of the ticket with the approval, if there is one."""
    expires: dt.date | None = None
    """First day on which the approval is void. By default it is valid until the change is applied."""

    def is_void(self, today: dt.date) -> bool:
        """Return whether the approval is expired on ``today``."""
        return self.expires is not None and self.expires <= today


class ApprovalsFile(DataFile):
    """``approvals.yaml``, an optional file to which ``jacquard approve`` adds entries.

    Approvals of changes that have been applied have no effect, and can be removed.
    """

    approvals: tuple[ApprovalSpec, ...] = ()
    """Approvals of changes by tenants."""


def word_of(approvals: Iterable[ApprovalSpec], tenant: str, digest: str) -> ApprovalSpec | None:
    """Return the approval of ``tenant`` for the change with ``digest`` that expires last, even if it is expired."""
    fitting = [approval for approval in approvals if (approval.tenant, approval.digest) == (tenant, digest)]
    return max(fitting, key=lambda approval: approval.expires or dt.date.max, default=None)


_EMPTY = f"""# yaml-language-server: $schema=../../schemas/approvals.schema.json
schema_version: {ApprovalsFile.FORMAT}
approvals:
"""
_WORDS = "approvals"


def with_approval(text: str, word: ApprovalSpec) -> str:
    """Return the text of ``approvals.yaml`` with ``word``, which replaces an approval of the same tenant and change.

    Args:
        text: Text of the file; empty if there is no file.
        word: Approval of the tenant.
    """
    entry = loaded(_entry(word))

    def edit(document: Any) -> Any:
        words = document.get(_WORDS) or loaded("[]")
        words.fa.set_block_style()
        at = next((index for index, approval in enumerate(words) if _same(approval, word)), None)
        if at is None:
            words.append(entry)
        else:
            words[at] = entry
        document[_WORDS] = words
        return document

    return edited(text or _EMPTY, edit)


def _same(approval: Any, word: ApprovalSpec) -> bool:
    return (approval.get("tenant"), approval.get("digest")) == (word.tenant, word.digest)


def _entry(word: ApprovalSpec) -> str:
    values = word.model_dump(mode="json", exclude_none=True)
    days = [name for name, value in word if isinstance(value, dt.date)]
    texts = (f"{name}: {value if name in days else entry_text(value)}" for name, value in values.items())
    return f"{{{', '.join(texts)}}}"
