"""The range of GUIDs that an ib-kubernetes gives out of, as Mellanox/ib-kubernetes:pkg/guid/guid_pool.go does."""

from __future__ import annotations

import re
from itertools import chain

_OCTETS = re.compile(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){7}")
_LAST = 0xFFFF_FFFF_FFFF_FFFF


class NoGuid(Exception):  # noqa: N818 - a reason why a pod waits
    """A pod that gets no GUID, or not the one it asks for, and why."""


class GuidPool:
    """GUIDs from one to another, both included, and those of them that are taken."""

    def __init__(self, first: str, last: str) -> None:
        """Take a range as ib-kubernetes is told it, by octets.

        Raises:
            ValueError: It is none.
        """
        self._first, self._last = number(first), number(last)
        self._next = self._first
        self._taken: set[int] = set()
        if not 0 < self._first <= self._last < _LAST:
            msg = f"invalid guid range. rangeStart: {first} rangeEnd: {last}"
            raise ValueError(msg)

    def reset(self, taken: list[int]) -> None:
        """Take exactly these of ``taken`` for taken that are in the range."""
        self._taken = {guid for guid in taken if self._first <= guid <= self._last}

    def take(self, guid: int) -> None:
        """Take the GUID that somebody asks for.

        Raises:
            NoGuid: It is not of the range, or is taken.
        """
        if not self._first <= guid <= self._last:
            msg = f"out of range guid {octets(guid)}, pool range {octets(self._first)} - {octets(self._last)}"
            raise NoGuid(msg)
        if guid in self._taken:
            msg = f"failed to allocate requested guid {octets(guid)}, already allocated"
            raise NoGuid(msg)
        self._taken.add(guid)

    def give(self) -> int:
        """Take the next free GUID, and begin anew once the last one was given.

        Raises:
            NoGuid: All are taken.
        """
        for guid in chain(range(self._next, self._last + 1), range(self._first, self._next)):
            if guid not in self._taken:
                self._taken.add(guid)
                self._next = guid + 1
                return guid
        msg = "GUID pool is exhausted"
        raise NoGuid(msg)

    def release(self, guid: int) -> None:
        """Let a GUID go."""
        self._taken.discard(guid)


def number(text: str) -> int:
    """Return the number of a GUID that is written by octets.

    Raises:
        ValueError: It is none.
    """
    if not _OCTETS.fullmatch(text):
        msg = f"invalid GUID address {text}"
        raise ValueError(msg)
    return int(text.replace(":", ""), 16)


def octets(guid: int) -> str:
    """Return a GUID as ib-kubernetes writes it."""
    return guid.to_bytes(8).hex(":")
