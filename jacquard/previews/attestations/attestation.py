"""Attestation of a preview: an in-toto statement about the objects of stacks, with all inputs of the preview.

The serialization is canonical: equal inputs result in equal bytes, except for the creation and expiry times.
"""

import datetime as dt
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal

from pydantic import AwareDatetime, Field, ValidationError

from components.specs.base import SHA256, Sha256, Spec
from components.specs.reading.problems import abbreviated, first_violation
from components.specs.struct import Struct
from jacquard.previews.impacts.tenant_impact import Agreement

FILE = "attestation.json"
NOTHING = "nothing"
"""Placeholder for a missing digest, such as the digest of a missing file."""


class AttestationError(Exception):
    """The statement is missing or invalid; the message contains the reason."""


class DigestSet(Spec):
    """Digests of a subject by algorithm."""

    sha256: Sha256
    """SHA-256, the only algorithm in use."""


class Subject(Spec):
    """Subject of a statement: all rendered objects of a stack."""

    name: str
    """Name of the stack."""
    digest: DigestSet
    """Digest of the objects of the stack."""


class Asked(Spec):
    """A tenant whose approval is required."""

    tenant: str
    """Name of the tenant."""
    digest: Sha256
    """Digest of the tenant's part of the change."""
    agreement: Agreement | None
    """Approval of the tenant at the time of the preview; None without one."""


class Previewed(Spec):
    """Inputs of the preview of one environment."""

    environment: str
    """Name of the environment."""
    stacks: tuple[str, ...]
    """Stacks that the engine previewed, because their rendered objects differ between base and head; in the order of
    the apply."""
    asked: tuple[Asked, ...]
    """Tenants whose approval of the change is required."""
    inputs: Mapping[str, str]
    """Digest of each input by name: data files, code, recorded states, the impact."""
    tools: Mapping[str, str]
    """Version of each tool and plug-in by name."""


class Predicate(Spec):
    """Predicate of a statement."""

    base: str
    """Base commit of the preview."""
    commit: str | None
    """Commit that was previewed; None with uncommitted changes."""
    made_at: AwareDatetime
    """Time of the preview."""
    expires: AwareDatetime
    """Time from which the preview cannot be applied."""
    environments: tuple[Previewed, ...]
    """Previewed environments."""


class Statement(Spec):
    """An in-toto statement, version 1."""

    type_: Literal["https://in-toto.io/Statement/v1"] = Field(default="https://in-toto.io/Statement/v1", alias="_type")
    """Type of the statement, as defined by in-toto."""
    subject: tuple[Subject, ...]
    """Stacks that the statement attests."""
    predicate_type: Literal["https://jacquard.dev/preview/v1"] = Field(
        default="https://jacquard.dev/preview/v1", alias="predicateType"
    )
    """Type of the predicate."""
    predicate: Predicate
    """Inputs and validity of the preview."""

    def of(self, environment: str) -> Previewed | None:
        """Return the inputs of the preview of ``environment``; None without a preview of ``environment``."""
        return next((item for item in self.predicate.environments if item.environment == environment), None)

    def facts(self, environment: str) -> dict[str, str]:
        """Return all dependencies of an apply of ``environment`` by name: inputs, objects and versions."""
        previewed = self.of(environment)
        return facts(previewed, self.subject) if previewed else {}


def facts(previewed: Previewed, subjects: Iterable[Subject]) -> dict[str, str]:
    """Return all dependencies of an apply of an environment by name: inputs, objects and versions."""
    objects = {subject.name: subject.digest.sha256 for subject in subjects if subject.name in previewed.stacks}
    return {
        **previewed.inputs,
        **{f"objects of stack {name}": digest for name, digest in objects.items()},
        **{f"version of {name}": version for name, version in previewed.tools.items()},
    }


class Moved(Struct, kw_only=False):
    """An input that changed since the preview."""

    name: str
    was: str
    now: str

    def __str__(self) -> str:
        """Return the old and new value; digests are shortened."""
        return f"{self.name}: was {_short(self.was)}, is {_short(self.now)}"


def text(statement: Statement) -> str:
    """Return the canonical text of ``statement``."""
    return json.dumps(statement.model_dump(mode="json"), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def read(folder: Path) -> Statement:
    """Return the statement in ``folder``.

    Raises:
        AttestationError: the file cannot be read or is not a statement.
    """
    path = folder / FILE
    try:
        return Statement.model_validate_json(path.read_bytes())
    except OSError as error:
        msg = f"{path}: {(error.strerror or str(error)).lower()}"
        raise AttestationError(msg) from None
    except ValidationError as error:
        msg = f"{path}: is not an attestation written by 'jacquard preview --out'{first_violation(error)}"
        raise AttestationError(msg) from None


def moved(was: Mapping[str, str], now: Mapping[str, str]) -> Iterator[Moved]:
    """Yield the values that differ between ``was`` and ``now``, ordered by name."""
    for name in sorted(was.keys() | now.keys()):
        before, after = was.get(name, NOTHING), now.get(name, NOTHING)
        if before != after:
            yield Moved(name, before, after)


def is_over(statement: Statement, now: dt.datetime) -> bool:
    """Return whether ``statement`` has expired, or its creation time is in the future."""
    return not statement.predicate.made_at <= now < statement.predicate.expires


def _short(value: str) -> str:
    return abbreviated(value) if re.fullmatch(SHA256, value) else value
