"""A machine that gets another name or namespace: its old object must be gone before its new one may come.

Two objects of one machine would both command its BMC. And a host changes its owner in steps only: it is released into
the set's own namespace, wiped on the way, and claimed from there by a second change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jacquard.providers.objectset.claims import machine
from jacquard.providers.objectset.inputs import Identity, ObjectSet


@dataclass(frozen=True, slots=True)
class Move:
    """One machine under two identities."""

    old: Identity
    new: Identity

    def refusal(self, home: str, reason: str | None) -> str | None:
        """Return why the move must not be made, with the remedy; None when it may.

        Args:
            home: The set's own namespace, where hosts that nobody owns live.
            reason: Why the old object must not be deleted, None when nobody uses it.
        """
        to = f"and would become {self.new}"
        if reason:
            return f"{self.old} {reason}, {to}; a host changes its namespace only when nobody uses it"
        if self.old.namespace == self.new.namespace or home in (self.old.namespace, self.new.namespace):
            return None
        return (
            f"{self.old} would become {self.new}: a host changes its owner in two changes; "
            f"release it to namespace {home} in this one, so that it is wiped, and claim it in the next"
        )


def moves(
    owner: ObjectSet, leaving: Iterable[Mapping[str, Any]], coming: Iterable[Mapping[str, Any]]
) -> Iterator[Move]:
    """Yield the machines of ``leaving`` objects that are among those that are ``coming``."""
    known = {(body["kind"], mark): owner.identity(body) for body in coming for mark in machine(body)}
    for body in leaving:
        news = {known[body["kind"], mark] for mark in machine(body) if (body["kind"], mark) in known}
        yield from (Move(owner.identity(body), new) for new in sorted(news))
