"""A fact that records the paths that a policy reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from policies.facts import Fact


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingFact(Fact):
    """Fact with the paths that were read."""

    read: list[tuple[str, ...]] = field(default_factory=list)

    def at(self, *path: str) -> Any:
        self.read.append(path)
        return Fact.at(self, *path)

    @classmethod
    def of(cls, fact: Fact) -> RecordingFact:
        """Return a copy of ``fact`` without read paths."""
        return cls(kind=fact.kind, title=fact.title, body=fact.body, cluster=fact.cluster)
