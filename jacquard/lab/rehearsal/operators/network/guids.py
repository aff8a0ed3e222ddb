"""GUID pool of ib-kubernetes, as in Mellanox/ib-kubernetes:pkg/guid/guid_pool.go."""

import re
from itertools import chain

_OCTETS = re.compile(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){7}")
_LAST = 0xFFFF_FFFF_FFFF_FFFF


class NoGuid(Exception):  # noqa: N818 - a reason why a pod waits
    """A pod gets no GUID, or not the requested GUID; the message contains the reason."""


class GuidPool:
    """An inclusive range of GUIDs, with the assigned GUIDs."""

    def __init__(self, first: str, last: str) -> None:
        """Set the range, in the octet notation of ib-kubernetes.

        Raises:
            ValueError: The range is invalid.
        """
        self._first, self._last = number(first), number(last)
        self._next = self._first
        self._taken: set[int] = set()
        if not 0 < self._first <= self._last < _LAST:
            msg = f"invalid guid range. rangeStart: {first} rangeEnd: {last}"
            raise ValueError(msg)

    def reset(self, taken: list[int]) -> None:
        """Mark only the GUIDs of ``taken`` in the range as assigned."""
        self._taken = {guid for guid in taken if self._first <= guid <= self._last}

    def take(self, guid: int) -> None:
        """Assign a requested GUID.

        Raises:
            NoGuid: The GUID is not in the range or already assigned.
        """
        if not self._first <= guid <= self._last:
            msg = f"out of range guid {octets(guid)}, pool range {octets(self._first)} - {octets(self._last)}"
            raise NoGuid(msg)
        if guid in self._taken:
            msg = f"failed to allocate requested guid {octets(guid)}, already allocated"
            raise NoGuid(msg)
        self._taken.add(guid)

    def give(self) -> int:
        """Assign the next free GUID; after the last GUID, continue with the first.

        Raises:
            NoGuid: All GUIDs are assigned.
        """
        for guid in chain(range(self._next, self._last + 1), range(self._first, self._next)):
            if guid not in self._taken:
                self._taken.add(guid)
                self._next = guid + 1
                return guid
        msg = "GUID pool is exhausted"
        raise NoGuid(msg)

    def release(self, guid: int) -> None:
        """Release a GUID."""
        self._taken.discard(guid)


def number(text: str) -> int:
    """Parse a GUID in octet notation.

    Raises:
        ValueError: The text is not a GUID.
    """
    if not _OCTETS.fullmatch(text):
        msg = f"invalid GUID address {text}"
        raise ValueError(msg)
    return int(text.replace(":", ""), 16)


def octets(guid: int) -> str:
    """Format a GUID in the octet notation of ib-kubernetes."""
    return guid.to_bytes(8).hex(":")
