"""A fact that records the paths that a policy reads."""

from __future__ import annotations

from typing import Any

from components.specs.struct import field
from policies.facts import Fact


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
