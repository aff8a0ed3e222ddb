"""Detects machines that get another name or namespace: the old object must be deleted before the new one is created.

Two objects of one machine would both control its BMC. A host can only change its owner in two steps: it is released
into the set's own namespace, which wipes it, and a second change claims it from there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jacquard.providers.objectset.claims import machine
from jacquard.providers.objectset.inputs import Identity, ObjectSet


@dataclass(frozen=True, slots=True)
class Move:
    """A machine under two identities."""

    old: Identity
    new: Identity

    def refusal(self, home: str, reason: str | None) -> str | None:
        """Return why the move is not permitted, with the remedy; None if it is permitted.

        Args:
            home: The set's own namespace, which contains the hosts without an owner.
            reason: Reason why the old object must not be deleted, None if it is not in use.
        """
        target = f"and would become {self.new}"
        if reason:
            return f"{self.old} {reason}, {target}; a host can only change its namespace while it is not in use"
        if self.old.namespace == self.new.namespace or home in (self.old.namespace, self.new.namespace):
            return None
        return (
            f"{self.old} would become {self.new}: a host changes its owner in two changes; "
            f"release it to namespace {home} in this change, so that it is wiped, and claim it in the next change"
        )


def moves(
    owner: ObjectSet, leaving: Iterable[Mapping[str, Any]], coming: Iterable[Mapping[str, Any]]
) -> Iterator[Move]:
    """Yield the machines of ``leaving`` objects that are also in ``coming`` objects."""
    known = {(body["kind"], mark): owner.identity(body) for body in coming for mark in machine(body)}
    for body in leaving:
        targets = {known[body["kind"], mark] for mark in machine(body) if (body["kind"], mark) in known}
        yield from (Move(owner.identity(body), target) for target in sorted(targets))
