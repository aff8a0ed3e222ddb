"""Detection of overlapping intervals in one sweep after sorting, for ten thousand prefixes."""

from collections.abc import Iterable
from typing import TypeVar

from components.specs.base import Network

_Label = TypeVar("_Label")
Interval = tuple[int, int, _Label]
"""First number, last number (included), and owner."""
_LAST_WITH_BROADCAST = 30
"""Longest prefix with network and broadcast address: /31 and /32 have neither (RFC 3021)."""


def overlaps(intervals: Iterable[Interval[_Label]]) -> list[tuple[_Label, _Label]]:
    """Return pairs of labels whose intervals overlap, in input order, the earlier label first.

    Each overlapping interval is in at least one pair; not every pair of mutually overlapping intervals is returned.
    """
    entries = list(intervals)
    pairs: list[tuple[int, int]] = []
    widest: int | None = None
    for index in sorted(range(len(entries)), key=lambda index: (entries[index][0], index)):
        if widest is not None and entries[index][0] <= entries[widest][1]:
            pairs.append((max(index, widest), min(index, widest)))
        if widest is None or entries[index][1] > entries[widest][1]:
            widest = index
    return [(entries[first][2], entries[second][2]) for second, first in sorted(pairs)]


def bounds(network: Network) -> tuple[int, int]:
    """Return the first and the last address of ``network`` as numbers."""
    return int(network.network_address), int(network.broadcast_address)


def usable(network: Network) -> int:
    """Return the number of host addresses of ``network``: all but the network and broadcast address."""
    return network.num_addresses if network.prefixlen > _LAST_WITH_BROADCAST else network.num_addresses - 2
