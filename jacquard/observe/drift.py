"""Data model of drift: differences between declared and live objects, by object, field and owner."""

import hashlib
from enum import StrEnum

from pydantic import AwareDatetime, Field, ValidationError

from components.specs.base import OCI_DIGEST, Spec
from components.specs.environment import Environment
from components.specs.reading.problems import first_violation

FORMAT = 1


class DriftFileError(ValueError):
    """File that is not an output of ``jacquard drift``. The message contains the position and the problem."""


class What(StrEnum):
    """Kind of the difference between an object and its declaration."""

    DIFFERS = "differs"
    """Fields of the object have other values."""
    MISSING = "missing"
    """The object is declared, but does not exist."""
    GOING = "going"
    """The object is declared, but is being deleted."""
    LEFT_OVER = "left over"
    """The object was created by this project, and is no longer declared."""
    FOREIGN = "foreign"
    """The object carries Jacquard's marks, but was created by another program."""


class By(StrEnum):
    """Owner of a field that differs from its declaration, according to the managed fields of the API server."""

    HAND = "by hand"
    """A person, with kubectl."""
    OTHER = "other manager"
    """A controller, or another program."""
    OURS = "not applied"
    """Jacquard: the current declaration is not applied yet."""
    NOBODY = "nobody"
    """No owner: the field does not exist, or its former managers no longer own it."""


class FieldDrift(Spec):
    """A field that differs from its declaration."""

    path: str
    """Path of the field, with dots; a key that contains dots is in brackets."""
    declared: str | None
    """Value after an apply, as JSON; None if the apply would remove the field, or if the field is not declared and
    stays unchanged. Secret values are hidden."""
    live: str | None
    """Live value, as JSON; None if the field does not exist."""
    by: By
    """Current owner of the field."""
    manager: str | None
    """Field manager that owns the field; None without an owner."""
    since: AwareDatetime | None
    """Time of the manager's last write to the object."""


class ObjectDrift(Spec):
    """An object that differs from its declaration."""

    cluster: str
    """Cluster of the object."""
    kind: str
    """Kind with its API group, ``<group>/<Kind>``."""
    name: str
    """Object as ``namespace/name``; only the name if it is cluster-scoped."""
    what: What
    """Kind of the difference."""
    fields: tuple[FieldDrift, ...] = ()
    """Fields with other values."""
    note: str | None = None
    """Further information, such as the creator, or the reason why the API server could not evaluate the apply."""


class Unread(Spec):
    """An object, kind or cluster that could not be read."""

    cluster: str
    """Name of the cluster."""
    what: str | None
    """Kind or object; None for the whole cluster."""
    reason: str
    """Reason of the failure."""


class Drift(Spec):
    """Drift of all clusters of a region."""

    schema_version: int = FORMAT
    """Version of this format."""
    environment: str
    """Name of the environment."""
    observed_at: AwareDatetime
    """Time of the observation; every answer was received at this time or later."""
    data: str | None = Field(default=None, pattern=OCI_DIGEST)
    """Digest of the data that the clusters were compared with; None in files of older versions."""
    compared: int
    """Number of declared objects that were compared."""
    objects: tuple[ObjectDrift, ...]
    """Objects that differ from their declarations, sorted by cluster, kind and name."""
    unread: tuple[Unread, ...]
    """Objects, kinds and clusters that could not be read."""


def data_digest(environment: Environment) -> str:
    """Return the digest of the data of a region, in the notation of lock files; lines and comments do not count."""
    text = environment.model_dump_json(exclude={"positions"})
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def read_drift(name: str, raw: bytes) -> Drift:
    """Return the drift in the file ``name`` with content ``raw``.

    Raises:
        DriftFileError: the file is not the JSON output of ``jacquard drift``.
    """
    try:
        return Drift.model_validate_json(raw)
    except ValidationError as error:
        text = f"{name} is not an output of 'jacquard drift ENV --format json'{first_violation(error)}"
        raise DriftFileError(text) from None
