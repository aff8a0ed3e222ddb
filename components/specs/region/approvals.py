"""Words of tenants on changes that disturb them: who agreed to which change, on which day."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable

from components.specs.base import DataFile, Sha256, ShortName, Spec, Text


class ApprovalSpec(Spec):
    """A tenant's yes to one change. It holds for that change alone, which its digest names."""

    tenant: ShortName
    """Tenant that agreed."""
    digest: Sha256
    """Digest of the tenant's part of the change, as ``jacquard impact`` tells it."""
    by: Text
    """Who agreed, for the tenant."""
    day: dt.date
    """Day on which that was."""
    reason: Text
    """What was agreed to or why, for people; the digest decides."""
    ticket: Text | None = None
    """Number or URL of the ticket in which the tenant agreed, if there is one."""
    expires: dt.date | None = None
    """First day on which the word is void; it holds until the change is made when it is left out."""

    def is_void(self, today: dt.date) -> bool:
        """Tell whether the word does not hold any more on ``today``."""
        return self.expires is not None and self.expires <= today


class ApprovalsFile(DataFile):
    """``approvals.yaml``, an optional file, which ``jacquard approve`` adds to.

    A word on a change that was made does no harm, and may go.
    """

    approvals: tuple[ApprovalSpec, ...] = ()
    """Words of tenants on changes."""


def word_of(approvals: Iterable[ApprovalSpec], tenant: str, digest: str) -> ApprovalSpec | None:
    """Return the word of ``tenant`` on the change with ``digest`` that lasts the longest, also one that is void."""
    fitting = [one for one in approvals if (one.tenant, one.digest) == (tenant, digest)]
    return max(fitting, key=lambda one: one.expires or dt.date.max, default=None)
