"""Evidence that a wave of a rollout is settled: what ``jacquard status ENV --format json`` answers, kept in a file.

A promotion reads no clock. How long nodes have been well is the time between two moments that the file itself names:
when its groups became ready, and when they were looked at.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from components.specs.problems import dotted


class EvidenceError(ValueError):
    """A file is no evidence. The message names the place and what is wrong there."""


class _Seen(BaseModel):
    """The part of an answer that counts; an answer says more."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)


class GroupEvidence(_Seen):
    """One rollout group as it was seen."""

    failure_domain: str
    total: int = Field(ge=0)
    """Nodes that are ordered."""
    images: dict[str, int]
    """Image to the number of machines that were made with it."""
    settled: bool
    settled_since: AwareDatetime | None
    """When the last of its nodes became ready; None when it is not settled, or has no node."""
    why: list[str] = []
    """What was missing."""


class PoolEvidence(_Seen):
    """One pool as it was seen."""

    cluster: str
    name: str
    groups: list[GroupEvidence]


class RegionEvidence(_Seen):
    """A region as it was seen."""

    environment: str
    observed_at: AwareDatetime
    pools: list[PoolEvidence]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A file with evidence."""

    name: str
    """Of the file, for messages."""
    digest: str
    """``sha256:`` and the SHA-256 of the file, as the lock file keeps it."""
    seen: RegionEvidence


def read_evidence(name: str, raw: bytes) -> Evidence:
    """Return the evidence that the file ``name`` with content ``raw`` gives.

    Raises:
        EvidenceError: it is not the JSON that ``jacquard status`` writes.
    """
    try:
        seen = RegionEvidence.model_validate_json(raw)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = f" at {dotted(first['loc'])}" if first["loc"] else ""
        text = f"{name} is not what 'jacquard status ENV --format json' writes{where}: {first['msg'].lower()}"
        raise EvidenceError(text) from None
    return Evidence(name=name, digest=f"sha256:{hashlib.sha256(raw).hexdigest()}", seen=seen)
