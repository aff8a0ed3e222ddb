"""What is not as it is declared in the clusters of a region, as data: by object, field, and who owns it now."""

from __future__ import annotations

from enum import StrEnum

from pydantic import AwareDatetime

from components.specs.base import Spec

FORMAT = 1


class What(StrEnum):
    """In what an object is not as it is declared."""

    DIFFERS = "differs"
    """Fields of the object have other values."""
    MISSING = "missing"
    """The object is declared, and not there."""
    GOING = "going"
    """The object is declared, and is being deleted."""
    LEFT_OVER = "left over"
    """The object was made by this project, and is declared no more."""
    FOREIGN = "foreign"
    """The object carries our marks, and somebody else made it."""


class By(StrEnum):
    """Who owns a field that is not as it is declared, by what the API server keeps of each write."""

    HAND = "by hand"
    """A person, with kubectl."""
    OTHER = "other manager"
    """A controller, or another program."""
    OURS = "not applied"
    """Nobody but us: what is declared now was not applied yet."""
    NOBODY = "nobody"
    """Nobody: the field is not there, or nobody who set it owns it any more."""


class FieldDrift(Spec):
    """A field that is not as it is declared."""

    path: str
    """The field, with dots; a key that has dots itself stands in brackets."""
    declared: str | None
    """Value that applying would give it, as JSON; None where it would take it away, or would leave it alone because
    nobody declared it. What is secret is not told."""
    live: str | None
    """Value that it has, as JSON; None where it has none."""
    by: By
    """Who owns it now."""
    manager: str | None
    """Field manager that owns it; None for nobody."""
    since: AwareDatetime | None
    """Moment at which that manager last wrote to the object."""


class ObjectDrift(Spec):
    """An object that is not as it is declared."""

    cluster: str
    """Cluster in which it is, or should be."""
    kind: str
    """Kind with its API group, ``<group>/<Kind>``."""
    name: str
    """The object, as ``namespace/name``, or the name of one that has no namespace."""
    what: What
    """In what it is not as declared."""
    fields: tuple[FieldDrift, ...] = ()
    """Fields with other values."""
    note: str | None = None
    """What else is to be known, such as who made it, or why the API server could not say what applying would do."""


class Unread(Spec):
    """What could not be looked at, so that nothing is known of it."""

    cluster: str
    """Cluster in which it is."""
    what: str | None
    """Kind or object; None for the whole cluster."""
    reason: str
    """Why it could not be read."""


class Drift(Spec):
    """How the clusters of a region differ from what is declared."""

    schema_version: int = FORMAT
    """Version of this form."""
    environment: str
    """Name of the environment."""
    observed_at: AwareDatetime
    """Moment of the look, not later than any of the answers."""
    compared: int
    """Declared objects that were compared."""
    objects: tuple[ObjectDrift, ...]
    """Objects that are not as declared, in order of cluster, kind and name."""
    unread: tuple[Unread, ...]
    """What could not be looked at."""
