"""Changed checks as data: of nodes, with actions and the nodes that have the fault, and thresholds of alerts."""

import datetime as dt

from components.specs.base import Spec
from components.specs.health.node_checks import HealthAction


class CheckAction(Spec):
    """Action of a check of nodes."""

    action: HealthAction
    """Action on a node with the fault."""
    when_idle: HealthAction | None = None
    """Action on a quarantined node once it is idle; None if it stays quarantined."""
    hold_seconds: int | None = None
    """Seconds that the fault must last before a repair; None for other actions."""


class CheckedNodes(Spec):
    """Nodes of one pool, or of a cluster without a known pool, with the fault of a changed check."""

    part: str
    """Pool as ``cluster/pool``; the cluster for nodes of the history without a known pool."""
    instance_type: str | None
    """Instance type of the pool; None for a cluster."""
    tenant: str
    """Tenant of the cluster."""
    faulty: int | None = None
    """Nodes that have the fault now; None if unknown."""
    due: int | None = None
    """Nodes of these on which the changed check acts at once; None if unknown."""
    past: int | None = None
    """Nodes on which the changed check would have acted in the history; None if unknown."""
    past_before: int | None = None
    """Nodes on which the check of the base would have acted in the history; None if unknown."""


class ChangedCheck(Spec):
    """A check of nodes whose action or hold time changes."""

    check: str
    """Name of the check."""
    before: CheckAction | None
    """Action before the change; None for an added check."""
    after: CheckAction | None
    """Action after the change; None for a removed check."""
    nodes: tuple[CheckedNodes, ...]
    """Pools with the changed check."""
    history_until: dt.datetime | None = None
    """End of the 7 days of the history; None without a history."""
    unknown: tuple[str, ...] = ()
    """Reasons why numbers are unknown or too low."""


class ChangedThreshold(Spec):
    """An alert whose threshold changes."""

    alert: str
    """Name of the alert."""
    before: int
    """Threshold before the change, in ``unit``."""
    after: int
    """Threshold after the change, in ``unit``."""
    unit: str
    """Unit of both, such as ``%`` or ``min``."""
