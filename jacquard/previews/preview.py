"""Preview of a change as data: its impact, the planned changes of the engine, and policy violations."""

import datetime as dt
from collections.abc import Mapping
from enum import StrEnum

from components.specs.base import Spec
from components.specs.region.policy import Enforcement
from jacquard.previews.impacts.impact import Impact

FORMAT = 1


class Verdict(StrEnum):
    """Verdict on a change, from worst to best."""

    BLOCKED = "blocked"
    """The change is refused or needs confirmation, or its preview failed."""
    NEEDS_APPROVAL = "needs approval"
    """Approvals of tenants are required and missing."""
    UNDECIDED = "undecided"
    """The effect of some changes is unknown."""
    SAFE = "safe"
    """All checks passed."""


class Outcome(StrEnum):
    """Outcome of the preview of a stack."""

    SAME_OBJECTS = "same objects"
    """Base and head render the same objects; the engine did not run."""
    UNCHANGED = "unchanged"
    """The engine would change nothing."""
    CHANGED = "changed"
    """The engine would make changes."""
    WAITING = "waiting"
    """A gate is not met: a required object does not exist yet."""
    REFUSED = "refused"
    """A mandatory policy refuses the change."""
    FAILED = "failed"
    """The engine failed, or a cluster was unreachable; the preview contains the changes detected until then."""
    GONE = "gone"
    """The stack does not exist in the head: it is no longer applied, and its objects remain until the stack is
    destroyed."""


class Operation(StrEnum):
    """Planned operation on an object."""

    DELETE = "delete"
    REPLACE = "replace"
    CREATE = "create"
    UPDATE = "update"
    RETAIN = "retain"
    """Removed from the state of the stack, kept in the cluster."""


class Origin(StrEnum):
    """Reason why an object differs from its declaration."""

    CHANGE = "change"
    """Base and head declare it differently."""
    EARLIER = "earlier"
    """Base and head declare it equally, but the declaration was not applied yet."""
    DRIFT = "drift"
    """The declaration was applied, and the object was changed in the cluster afterwards. ``up`` does not revert such a
    change."""


class Field(Spec):
    """A changed field of an object."""

    path: str
    """Path of the field in the notation of the engine."""
    old: str | None
    """Current value as JSON; None without a value. Secrets are masked."""
    new: str | None
    """New value as JSON; None without a value. Secrets are masked."""


class ObjectChange(Spec):
    """An equal change of one or more objects."""

    operation: Operation
    """Planned operation; for drift, the operation that would revert the drift."""
    origin: Origin
    """Reason of the change."""
    kind: str
    """Kind of the objects with their API group: ``<group>/<Kind>``."""
    names: tuple[str, ...]
    """Objects as ``cluster/namespace/name``."""
    fields: tuple[Field, ...] = ()
    """Changed fields of each object; empty if whole objects are created or deleted."""
    forced_by: tuple[str, ...] = ()
    """Fields that require a replacement."""


class StackPreview(Spec):
    """Engine preview of one stack."""

    stack: str
    """Name of the stack."""
    outcome: Outcome
    """Outcome of the preview."""
    reason: str | None = None
    """Reason of the outcome, if the preview did not succeed."""
    notes: tuple[str, ...] = ()
    """Warnings of the engine, and the reason if drift is unknown."""
    operations: Mapping[Operation, int] = {}
    """Number of resources by operation; a rack is one resource."""
    changes: tuple[ObjectChange, ...] = ()
    """Changes of objects, the worst first."""
    held: tuple[str, ...] = ()
    """Unconfirmed destructive changes, one line per object."""
    accept: str | None = None
    """Confirmation token for exactly these changes; None if no change is blocked."""
    state: str | None = None
    """SHA-256 of the recorded state of the stack at the preview; None if the engine did not run."""
    rendered: str | None = None
    """SHA-256 of the objects as rendered by the head; None if base and head render the same objects."""


class Standing(StrEnum):
    """State of a policy violation relative to base and head."""

    NEW = "new"
    """The violation exists in the head only."""
    EXISTING = "existing"
    """Base and head have the violation."""
    FIXED = "fixed"
    """The violation exists in the base only."""
    WAIVED = "waived"
    """The head has the violation, and a waiver covers it."""
    TOLD = "told"
    """Reported only by a run of the engine; the state of the base is unknown."""


class Waiver(Spec):
    """Temporary exemption from a policy."""

    reason: str
    """Reason why the violation is acceptable for now."""
    owner: str
    """Person or team that removes the violation in time."""
    ticket: str
    """Ticket for the removal of the violation."""
    expires: dt.date
    """First day on which the waiver is void."""
    days_left: int
    """Remaining days of validity, including today."""


class Offence(Spec):
    """A violation of a policy."""

    rule: str
    """Name of the policy."""
    subject: str
    """Subject as in waivers: a pool, a host, a tenant, or an object."""
    objects: tuple[str, ...] = ()
    """Violating objects of the subject, by kind, namespace, name and cluster."""
    standing: Standing
    """State of the violation relative to base and head."""
    level: Enforcement
    """Enforcement level: whether the violation blocks the deployment."""
    binding: dt.date | None = None
    """First day on which the violation of a new policy blocks; None unless it is a warning until then."""
    found: str
    """Problem."""
    fix: str
    """Remedy."""
    waiver: Waiver | None = None
    """Waiver that covers the violation; None without one."""

    @property
    def refuses(self) -> bool:
        """Return whether the violation blocks the deployment of the head."""
        return self.level is Enforcement.MANDATORY and self.standing not in (Standing.FIXED, Standing.WAIVED)


class Preview(Spec):
    """Preview of the change between a base and a head of one environment."""

    schema_version: int = FORMAT
    """Version of this format."""
    environment: str
    """Name of the environment."""
    base: str
    """Base commit."""
    head: str
    """Head commit, or ``work tree`` with uncommitted changes."""
    verdict: Verdict
    """Whether the change may be applied."""
    blocked_by: tuple[str, ...]
    """Blocking reasons, one line each."""
    approvals_missing: tuple[str, ...]
    """Tenants whose approval is required and missing."""
    impact: Impact
    """Impact of the change."""
    stacks: tuple[StackPreview, ...]
    """Stacks of the environment, in the order in which they are applied."""
    offences: tuple[Offence, ...]
    """Policy violations, blocking ones first."""
    digests: Mapping[str, str]
    """SHA-256 of impact, stacks and policies, by name."""
