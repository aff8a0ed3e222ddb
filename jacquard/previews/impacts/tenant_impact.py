"""Impact of a change on one tenant as data: approval, window, freezes and capacity."""

import datetime as dt

from components.lookups.effects.effect import Effect
from components.specs.base import Spec


class Freeze(Spec):
    """A period in which no changes of a tenant may be applied."""

    name: str
    """Name of the freeze."""
    begins: dt.datetime
    """Start of the freeze."""
    ends: dt.datetime
    """End of the freeze, exclusive."""


class TenantWindow(Spec):
    """Maintenance window in which the nodes of a tenant may be drained."""

    text: str
    """Days, hours and time zone of the window."""
    held: bool
    """Whether the region enforces the window (``nodes.windows: enforce``), instead of only recording it."""
    openings: int | None
    """Number of window openings that the longest rollout needs; None if windows are not enforced, or the duration is
    unknown."""


class Contracted(Spec):
    """Contracted nodes of a tenant, and the minimum number available during the change."""

    instance_type: str
    """Contracted instance type."""
    contracted: int
    """Number of contracted nodes."""
    lowest: int
    """Minimum number of available nodes in the tenant's pools during the change."""


class Agreement(Spec):
    """Approval of exactly this change by a tenant."""

    by: str
    """Person who approved on behalf of the tenant."""
    day: dt.date
    """Day of the approval."""
    expires: dt.date | None
    """First day on which the approval is void; None if it does not expire before the change is applied."""
    void: bool
    """Whether the approval has expired."""


class TenantImpact(Spec):
    """Impact of the change on one tenant."""

    tenant: str
    """Name of the tenant."""
    effect: Effect
    """Worst effect on any part of the tenant."""
    nodes: int
    """Number of nodes, hosts and DPUs that are replaced, rebooted, re-flashed or deleted."""
    asks: str | None
    """Contact whose approval is required; None if the tenant requires no approvals, or if no effect is disruptive or
    unknown."""
    window: TenantWindow | None
    """Window in which nodes may be drained; None if the tenant has no window, or no node is drained."""
    freezes: tuple[Freeze, ...]
    """Current and future freezes that protect the tenant."""
    capacity: tuple[Contracted, ...]
    """Available capacity of each affected instance type in the tenant's contract."""
    digest: str | None = None
    """Digest of the tenant's part of the change, required in the approval; None if no approval is required."""
    agreement: Agreement | None = None
    """Approval of this change by the tenant; None if it is missing or not required."""

    @property
    def missing(self) -> bool:
        """Return whether the tenant's approval is required, and is missing or expired."""
        return self.asks is not None and (self.agreement is None or self.agreement.void)
