"""Free hosts of one instance type, indexed by failure domain to avoid full scans."""

import heapq
from collections import defaultdict
from collections.abc import Collection, Iterator

from components.specs.hosts.inventory import HostSpec
from components.specs.natural import natural

Position = tuple[tuple[str | int, ...], int, str]


class FreeHosts:
    """Assignable hosts, by failure domain.

    Each hall has a heap of its domains, ordered by descending number of free hosts. Every change adds a new entry;
    entries with an outdated count are skipped.
    """

    def __init__(self) -> None:
        self._hosts: dict[str, list[HostSpec]] = defaultdict(list)
        self._halls: dict[str, str] = {}
        self._heaps: dict[str, list[tuple[int, tuple[str | int, ...], str]]] = defaultdict(list)

    def add(self, domain: str, hosts: Collection[HostSpec]) -> None:
        """Add ``hosts``, all of ``domain``, to the free hosts."""
        self._hosts[domain] = sorted([*self._hosts[domain], *hosts], key=position)
        self._halls.setdefault(domain, self._hosts[domain][0].hall)
        self._enter(domain)

    def remove(self, domain: str, host: HostSpec) -> None:
        """Remove ``host`` from the free hosts if it is still free."""
        if host in self._hosts[domain]:
            self._hosts[domain].remove(host)
            self._enter(domain)

    def take(self, domain: str, count: int) -> list[HostSpec]:
        """Remove and return up to ``count`` hosts of ``domain``, by rack and slot."""
        if count <= 0 or domain not in self._hosts:
            return []
        taken, self._hosts[domain] = self._hosts[domain][:count], self._hosts[domain][count:]
        self._enter(domain)
        return taken

    def count(self, domain: str, halls: Collection[str]) -> int:
        """Return the number of free hosts of ``domain``; 0 if the domain is not in ``halls``."""
        return len(self._hosts[domain]) if self._halls.get(domain) in halls else 0

    def domains(self, halls: Collection[str]) -> list[str]:
        """Return all domains in ``halls`` that have free hosts, in natural order."""
        return sorted((domain for domain in self._hosts if self.count(domain, halls)), key=natural)

    def emptiest(self, halls: Collection[str]) -> Iterator[str]:
        """Yield the domains in ``halls`` with free hosts, by descending count; do not take hosts while iterating."""
        heaps = [self._heaps[hall] for hall in halls if hall in self._heaps]
        visited: set[str] = set()
        try:
            while heaps := [heap for heap in heaps if heap]:
                count, _, domain = heapq.heappop(min(heaps))
                if -count == len(self._hosts[domain]) and count and domain not in visited:
                    visited.add(domain)
                    yield domain
        finally:
            for domain in sorted(visited):
                self._enter(domain)

    def _enter(self, domain: str) -> None:
        if self._hosts[domain]:
            entry = (-len(self._hosts[domain]), natural(domain), domain)
            heapq.heappush(self._heaps[self._halls[domain]], entry)


def position(host: HostSpec) -> Position:
    """Return the sort key of ``host``: rack, slot, name."""
    return natural(host.rack), host.slot, host.host
