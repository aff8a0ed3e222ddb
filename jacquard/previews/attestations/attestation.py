"""What a preview attests: an in-toto statement about the objects of stacks, with all that they and the preview come of.

Its bytes are canonical: equal inputs give equal ones, but for the moments at which it was made and expires.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import AwareDatetime, Field, ValidationError

from components.specs.base import SHA256, Sha256, Spec
from components.specs.reading.problems import dotted
from jacquard.previews.impacts.impact import Agreement

FILE = "attestation.json"
DIGITS = 12
NOTHING = "nothing"
"""What stands where there is no digest, as of a file that is not there."""


class AttestationError(Exception):
    """There is no statement that can be relied on; the text says why."""


class DigestSet(Spec):
    """Digests of one thing by algorithm."""

    sha256: Sha256
    """SHA-256, the only one that is used here."""


class Subject(Spec):
    """What is attested: all objects of a stack, as they are rendered."""

    name: str
    """Name of the stack."""
    digest: DigestSet
    """Digest of its objects."""


class Asked(Spec):
    """A tenant that has to agree."""

    tenant: str
    """Name of the tenant."""
    digest: Sha256
    """Digest of its part of the change."""
    agreement: Agreement | None
    """Its word at the time of the preview; None if there was none."""


class Previewed(Spec):
    """What the preview of one environment was made from."""

    environment: str
    """Name of the environment."""
    stacks: tuple[str, ...]
    """Stacks that the engine was asked about, in the order they are applied: those whose objects base and head render
    otherwise."""
    asked: tuple[Asked, ...]
    """Tenants that have to agree to the change."""
    inputs: Mapping[str, str]
    """Digest of each input by its name: data files, code, recorded states, the impact."""
    tools: Mapping[str, str]
    """Version of each tool and plug-in, by its name."""


class Predicate(Spec):
    """What is said of the subjects."""

    base: str
    """Commit that the preview compares with."""
    commit: str | None
    """Commit that was previewed; None if something was not committed."""
    made_at: AwareDatetime
    """Moment at which the preview was made."""
    expires: AwareDatetime
    """Moment from which on nothing is applied by it."""
    environments: tuple[Previewed, ...]
    """Environments that were previewed."""


class Statement(Spec):
    """An in-toto statement, version 1."""

    type_: Literal["https://in-toto.io/Statement/v1"] = Field(default="https://in-toto.io/Statement/v1", alias="_type")
    """What this is, by in-toto's name for it."""
    subject: tuple[Subject, ...]
    """What it is about."""
    predicate_type: Literal["https://jacquard.dev/preview/v1"] = Field(
        default="https://jacquard.dev/preview/v1", alias="predicateType"
    )
    """What kind of predicate it has."""
    predicate: Predicate
    """What is said of the subjects."""

    def of(self, environment: str) -> Previewed | None:
        """Return what it says of ``environment``; None if that was not previewed."""
        return next((one for one in self.predicate.environments if one.environment == environment), None)

    def facts(self, environment: str) -> dict[str, str]:
        """Return all that an apply of ``environment`` depends on, by name: inputs, objects and versions."""
        said = self.of(environment)
        return facts(said, self.subject) if said else {}


def facts(said: Previewed, subjects: Iterable[Subject]) -> dict[str, str]:
    """Return all that an apply of an environment depends on, by name: inputs, objects and versions."""
    objects = {one.name: one.digest.sha256 for one in subjects if one.name in said.stacks}
    return {
        **said.inputs,
        **{f"objects of stack {name}": digest for name, digest in objects.items()},
        **{f"version of {name}": version for name, version in said.tools.items()},
    }


@dataclass(frozen=True, slots=True)
class Moved:
    """An input that is another than it was previewed."""

    name: str
    was: str
    now: str

    def __str__(self) -> str:
        """Return what it was and is, digests by their first digits."""
        return f"{self.name}: was {_short(self.was)}, is {_short(self.now)}"


def text(statement: Statement) -> str:
    """Return the canonical text of ``statement``."""
    return json.dumps(statement.model_dump(mode="json"), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def read(folder: Path) -> Statement:
    """Return the statement in ``folder``.

    Raises:
        AttestationError: there is none, or it is none.
    """
    path = folder / FILE
    try:
        return Statement.model_validate_json(path.read_bytes())
    except OSError as error:
        msg = f"{path}: {(error.strerror or str(error)).lower()}"
        raise AttestationError(msg) from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = f" at {dotted(first['loc'])}" if first["loc"] else ""
        msg = f"{path}: is not what 'jacquard preview --out' writes{where}: {first['msg'].lower()}"
        raise AttestationError(msg) from None


def moved(was: Mapping[str, str], now: Mapping[str, str]) -> Iterator[Moved]:
    """Yield what is another ``now`` than it was, in order of names."""
    for name in sorted(was.keys() | now.keys()):
        before, after = was.get(name, NOTHING), now.get(name, NOTHING)
        if before != after:
            yield Moved(name, before, after)


def is_over(statement: Statement, now: dt.datetime) -> bool:
    """Tell whether ``statement`` has expired, or is of a moment that is still to come, which no clock gave."""
    return not statement.predicate.made_at <= now < statement.predicate.expires


def _short(value: str) -> str:
    return value[:DIGITS] if re.fullmatch(SHA256, value) else value
