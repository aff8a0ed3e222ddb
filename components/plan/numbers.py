"""Takes free numbers, addresses and prefixes from ranges, always the lowest: the same data gives the same numbers."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Iterable

from components.specs.base import Address, Network, NumberRange

ADDRESS_BITS = 32


def free_number(numbers: NumberRange, used: Collection[int]) -> int | None:
    """Return the lowest number of ``numbers`` that is not ``used``; None when all are."""
    return next((number for number in range(numbers.first, numbers.last + 1) if number not in used), None)


def free_address(networks: Iterable[Network], used: Collection[Address]) -> Address | None:
    """Return the lowest usable address of ``networks`` that is not ``used``; None when all are."""
    return next((address for network in networks for address in network.hosts() if address not in used), None)


def free_prefix(supernet: Network, prefix_length: int, used: Iterable[Network]) -> Network | None:
    """Return the lowest prefix of ``supernet`` that overlaps none of ``used``; None when there is no room."""
    size = 1 << (ADDRESS_BITS - prefix_length)
    start, end = int(supernet.network_address), int(supernet.broadcast_address)
    for taken in sorted(used):
        first, last = int(taken.network_address), int(taken.broadcast_address)
        if start + size <= first:
            break
        if last >= start:
            start = -(-(last + 1) // size) * size
    if prefix_length < supernet.prefixlen or start + size - 1 > end:
        return None
    return ipaddress.IPv4Network((start, prefix_length))
