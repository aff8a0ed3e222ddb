"""What a preview says of a change, as data: its impact, what the engine would do, and what policies say of it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from enum import StrEnum

from components.specs.base import Spec
from components.specs.region.policy import Enforcement
from jacquard.previews.impacts.impact import Impact

FORMAT = 1


class Verdict(StrEnum):
    """Whether a change may be applied, from the worst on."""

    BLOCKED = "blocked"
    """Something refuses it, or nobody could find out what it does."""
    NEEDS_APPROVAL = "needs approval"
    """Tenants that are asked have not agreed yet."""
    UNDECIDED = "undecided"
    """Nobody can tell what it does to something."""
    SAFE = "safe"
    """Nothing speaks against it."""


class Outcome(StrEnum):
    """How the preview of a stack ended."""

    SAME_OBJECTS = "same objects"
    """Base and head render the same objects, so that the engine was not asked."""
    UNCHANGED = "unchanged"
    """The engine would do nothing."""
    CHANGED = "changed"
    """The engine would do something."""
    WAITING = "waiting"
    """A gate is not met: something must be there first."""
    REFUSED = "refused"
    """A mandatory policy refuses it."""
    FAILED = "failed"
    """The engine failed, or did not reach what it asks: what was found until then is told."""
    GONE = "gone"
    """The head has no such stack, and nothing applies it any more: its objects stay until somebody destroys it."""


class Operation(StrEnum):
    """What would be done to an object."""

    DELETE = "delete"
    REPLACE = "replace"
    CREATE = "create"
    UPDATE = "update"
    RETAIN = "retain"
    """The stack forgets it, the cluster keeps it."""


class Origin(StrEnum):
    """Why an object is not as it is declared."""

    CHANGE = "change"
    """Base and head declare it otherwise."""
    EARLIER = "earlier"
    """Base and head declare the same, which was never applied."""
    DRIFT = "drift"
    """What is declared was applied, and somebody changed it in the cluster since. ``up`` does not put it back by
    itself."""


class Field(Spec):
    """A value of an object that would be another."""

    path: str
    """The field, as the engine spells it."""
    old: str | None
    """Value that is there, as JSON; None where there is none. What is secret is not told."""
    new: str | None
    """Value that would be there; None where there would be none."""


class ObjectChange(Spec):
    """The same change of one object or of many."""

    operation: Operation
    """What would be done; to drift, what would put it back."""
    origin: Origin
    """Why."""
    kind: str
    """Kind of the objects, with their API group: ``<group>/<Kind>``."""
    names: tuple[str, ...]
    """The objects, each as ``cluster/namespace/name``."""
    fields: tuple[Field, ...] = ()
    """What would be another in each of them; nothing where the whole object comes or goes."""
    forced_by: tuple[str, ...] = ()
    """Fields that cannot change without a replacement."""


class StackPreview(Spec):
    """What the engine would do in one stack."""

    stack: str
    """Name of the stack."""
    outcome: Outcome
    """How its preview ended."""
    reason: str | None = None
    """Why it ended so, where it did not end well."""
    notes: tuple[str, ...] = ()
    """What could not be looked at, or is to be known besides."""
    operations: Mapping[Operation, int] = {}
    """How many resources the engine would do what to; a rack is one."""
    changes: tuple[ObjectChange, ...] = ()
    """What would become of which objects, the worst first."""
    held: tuple[str, ...] = ()
    """Objects that would be lost without anybody having asked for that, one line each."""
    accept: str | None = None
    """The word by which ``up`` loses exactly these; None where nothing is held."""
    state: str | None = None
    """SHA-256 of what was recorded of the stack when the engine was asked; None where it was not."""
    rendered: str | None = None
    """SHA-256 of all its objects as the head renders them; None where those of the base are the same."""


class Standing(StrEnum):
    """What became of an offence against a policy between base and head."""

    NEW = "new"
    """The head has it, and the base had not."""
    EXISTING = "existing"
    """Both have it."""
    FIXED = "fixed"
    """The base had it, and the head has not."""
    WAIVED = "waived"
    """The head has it, and a waiver lets it pass."""
    TOLD = "told"
    """Only a run of the engine tells it, so that nobody knows of the base."""


class Waiver(Spec):
    """Leave to offend for a time."""

    reason: str
    """Why the offence is right for now."""
    owner: str
    """Who has it removed in time."""
    ticket: str
    """What ends the offence."""
    expires: dt.date
    """First day on which the waiver is void."""
    days_left: int
    """Days on which it still holds, today among them."""


class Offence(Spec):
    """What a policy says against one object."""

    rule: str
    """Name of the policy."""
    subject: str
    """What offends, as a waiver would call it: a pool, a host, a tenant, or an object."""
    objects: tuple[str, ...] = ()
    """The objects of it that do, by kind, namespace, name and cluster."""
    standing: Standing
    """What became of it between base and head."""
    level: Enforcement
    """Whether it stops the deploy."""
    found: str
    """What is wrong."""
    fix: str
    """What to do about it."""
    waiver: Waiver | None = None
    """What lets it pass; None where nothing does."""

    @property
    def refuses(self) -> bool:
        """Tell whether it stops the deploy of the head."""
        return self.level is Enforcement.MANDATORY and self.standing not in (Standing.FIXED, Standing.WAIVED)


class Preview(Spec):
    """What is known of the change between a base and a head of one environment before it is merged."""

    schema_version: int = FORMAT
    """Version of this form."""
    environment: str
    """Name of the environment."""
    base: str
    """Commit that is compared with."""
    head: str
    """Commit, or ``work tree`` where something is not committed."""
    verdict: Verdict
    """Whether the change may be applied."""
    blocked_by: tuple[str, ...]
    """What blocks it, one line each."""
    approvals_missing: tuple[str, ...]
    """Tenants that are asked and have not agreed to this change."""
    impact: Impact
    """What the change does to nodes, tenants and the rest."""
    stacks: tuple[StackPreview, ...]
    """Stacks of the environment, in the order they are applied."""
    offences: tuple[Offence, ...]
    """What policies say, what refuses first."""
    digests: Mapping[str, str]
    """SHA-256 of what the preview is made from, by name."""
