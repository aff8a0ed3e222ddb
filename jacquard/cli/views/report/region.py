"""The region as a map: halls, racks and cells, and the hosts to which the same happens, by name."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from jacquard.cli.views.report.signs import Sign, sign
from jacquard.previews.impacts.hosts import HostImpact

_SMALL = 240
"""Hosts up to which there is room for large cells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A host on the map."""

    host: str
    letter: str
    style: str
    tenant: int
    """Index of its tenant; -1 for a host of nobody."""
    alike: int
    """Index of the hosts that it is alike."""
    first: bool
    """Whether the keyboard enters its hall here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rack:
    """A rack on the map."""

    name: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hall:
    """A hall on the map."""

    name: str
    hosts: int
    touched: int
    racks: tuple[Rack, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Alike:
    """Hosts that are there for the same, and to which the same happens."""

    sign: Sign
    use: str
    tenant: str | None
    group: str | None
    instance_type: str
    number: int
    rows: tuple[int, ...]
    """Indexes of the rows of the impact that fall on them."""
    names: str
    """The hosts, neighbours as a range."""
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A region as it is drawn."""

    halls: tuple[Hall, ...]
    alike: tuple[Alike, ...]
    """What happens to hosts, the worst first."""
    legend: tuple[tuple[Sign, int], ...]
    """What is drawn how, the worst first, and how many hosts are drawn so."""
    small: bool
    """Whether there is room for large cells."""


_Key = tuple[Sign, str, str, str, str, tuple[int, ...]]


def region(hosts: Sequence[HostImpact], tenants: Mapping[str, int]) -> Region:
    """Return how ``hosts``, by hall, rack and slot, are drawn; ``tenants`` are told apart by numbers."""
    found: dict[_Key, list[int]] = defaultdict(list)
    for index, host in enumerate(hosts):
        found[_key(host)].append(index)
    keys = sorted(found)
    number = {key: index for index, key in enumerate(keys)}
    return Region(
        halls=tuple(_halls(hosts, tenants, number)),
        alike=tuple(_alike(number[key], hosts, found[key]) for key in keys),
        legend=tuple(sorted(Counter(map(sign, hosts)).items())),
        small=len(hosts) <= _SMALL,
    )


def _key(host: HostImpact) -> _Key:
    return sign(host), host.tenant or "", host.group or "", host.use or "", host.host.instance_type, host.rows


def _halls(hosts: Sequence[HostImpact], tenants: Mapping[str, int], number: dict[_Key, int]) -> Iterator[Hall]:
    for name, grouped in groupby(hosts, key=lambda host: host.host.hall):
        inside = list(grouped)
        first = next((host for host in inside if host.rows), inside[0])
        racks = [
            Rack(name=rack, cells=tuple(_cell(host, tenants, number, first=host is first) for host in of_rack))
            for rack, of_rack in groupby(inside, key=lambda host: host.host.rack)
        ]
        yield Hall(name=name, hosts=len(inside), touched=sum(bool(host.rows) for host in inside), racks=tuple(racks))


def _cell(host: HostImpact, tenants: Mapping[str, int], number: dict[_Key, int], *, first: bool) -> Cell:
    drawn = sign(host)
    return Cell(
        host=host.host.host,
        letter=drawn.letter,
        style=drawn.style,
        tenant=tenants[host.tenant] if host.tenant else -1,
        alike=number[_key(host)],
        first=first,
    )


def _alike(number: int, hosts: Sequence[HostImpact], indexes: Sequence[int]) -> Alike:
    one = hosts[indexes[0]]
    return Alike(
        number=number,
        sign=sign(one),
        use=one.use.value.replace("-", " ") if one.use else "gone",
        tenant=one.tenant,
        group=one.group,
        instance_type=one.host.instance_type,
        rows=one.rows,
        names=", ".join(_ranges(hosts, indexes)),
        count=len(indexes),
    )


def _ranges(hosts: Sequence[HostImpact], indexes: Sequence[int]) -> Iterator[str]:
    """Yield hosts by name, neighbours on the map by the first and the last of them."""
    runs: list[list[HostImpact]] = []
    for before, index in pairwise((-2, *indexes)):
        host = hosts[index]
        if index == before + 1 and host.host.hall == hosts[before].host.hall:
            runs[-1].append(host)
        else:
            runs.append([host])
    for run in runs:
        first, last = run[0].host.host, run[-1].host.host
        yield first if len(run) == 1 else f"{first} to {last} ({len(run)})"
