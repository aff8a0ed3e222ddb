"""Approvals of disruptive changes by tenants."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable

from components.specs.base import DataFile, Sha256, ShortName, Spec, Text


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
