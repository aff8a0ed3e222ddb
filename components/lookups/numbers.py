"""Allocation of the lowest free block of number ranges: the same data always result in the same numbers."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from components.specs.base import Address, Network
from components.specs.ipv6 import Network6
from components.specs.ranges import NumberRange
from components.specs.struct import Struct


class Block(Struct, kw_only=False, order=True):
    """Consecutive numbers, both ends included: a VNI, an address, a prefix or a range of GUIDs."""

    first: int
    last: int

    @property
    def size(self) -> int:
        """Return the number of numbers in the block."""
        return self.last - self.first + 1

    def __contains__(self, other: Block) -> bool:
        """Return whether ``other`` is within this block."""
        return self.first <= other.first and other.last <= self.last


class Blocks:
    """Number ranges, and the used numbers within them.

    Used numbers are stored as merged intervals, so that finding the lowest free block only scans the gaps.
    """

    def __init__(self, ranges: Iterable[Block]) -> None:
        self._ranges = tuple(ranges)
        self._taken: list[Block] = []

    def occupy(self, block: Block) -> None:
        """Mark ``block`` as used, even if parts of it are used already."""
        start = stop = self._first_touching(block.first)
        first, last = block.first, block.last
        while stop < len(self._taken) and self._taken[stop].first <= last + 1:
            first, last = min(first, self._taken[stop].first), max(last, self._taken[stop].last)
            stop += 1
        self._taken[start:stop] = [Block(first, last)]

    def take(self, size: int = 1) -> Block | None:
        """Return and mark the lowest free block of ``size`` numbers, a power of two, aligned to its size."""
        for allowed in self._ranges:
            first = _aligned(allowed.first, size)
            for taken in self._taken[self._first_touching(first) :]:
                if first + size <= taken.first:
                    break
                if taken.last >= first:
                    first = _aligned(taken.last + 1, size)
            if first + size - 1 <= allowed.last:
                block = Block(first, first + size - 1)
                self.occupy(block)
                return block
        return None

    def grow(self, block: Block, size: int) -> Block | None:
        """Return ``block`` extended upwards to ``size`` numbers; None if these are not all free."""
        grown = Block(block.first, block.first + size - 1)
        near = self._first_touching(block.last + 1)
        blocked = any(taken.last > block.last and taken.first <= grown.last for taken in self._taken[near : near + 2])
        if blocked or grown not in self:
            return None
        self.occupy(grown)
        return grown

    def __contains__(self, block: Block) -> bool:
        """Return whether ``block`` is within one of the ranges, free or not."""
        return any(block in allowed for allowed in self._ranges)

    def _first_touching(self, number: int) -> int:
        """Return the index of the first used interval that contains, touches or follows ``number``."""
        index = bisect_left(self._taken, Block(number, number))
        return index - 1 if index and self._taken[index - 1].last >= number - 1 else index


def as_block(value: Network | Network6 | NumberRange | Address | int) -> Block:
    """Return the numbers that a value in the data covers."""
    match value:
        case Network() | Network6():
            return Block(int(value.network_address), int(value.broadcast_address))
        case NumberRange():
            return Block(value.first, value.last)
        case _:
            return Block(int(value), int(value))


def hosts_of(network: Network) -> Block:
    """Return the host addresses of ``network``, without network and broadcast address."""
    block = as_block(network)
    return block if block.size <= 2 else Block(block.first + 1, block.last - 1)  # noqa: PLR2004 - RFC 3021


def _aligned(number: int, size: int) -> int:
    return -(-number // size) * size
