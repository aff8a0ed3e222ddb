"""Region map of a report: halls, racks and cells, and groups of hosts with the same effects."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise

from components.specs.struct import Struct
from jacquard.cli.views.report.signs import Sign, sign
from jacquard.previews.impacts.hosts import HostImpact

_SMALL = 240
"""Maximum number of hosts for large cells."""


class Cell(Struct):
    """A host on the map."""

    host: str
    letter: str
    style: str
    tenant: int
    """Index of its tenant; -1 for a host without a tenant."""
    alike: int
    """Index of its group in ``Region.alike``."""
    first: bool
    """Whether keyboard focus enters the hall at this cell."""


class Rack(Struct):
    """A rack on the map."""

    name: str
    cells: tuple[Cell, ...]


class Hall(Struct):
    """A hall on the map."""

    name: str
    hosts: int
    touched: int
    racks: tuple[Rack, ...]


class Alike(Struct):
    """Hosts with equal use, tenant, group and instance type, affected by the same rows."""

    sign: Sign
    use: str
    tenant: str | None
    group: str | None
    instance_type: str
    number: int
    rows: tuple[int, ...]
    """Indexes of the rows of the impact that affect the hosts."""
    names: str
    """Names of the hosts; neighbours are written as a range."""
    count: int


class Region(Struct):
    """A region as drawn on the map."""

    halls: tuple[Hall, ...]
    alike: tuple[Alike, ...]
    """Groups of equal hosts, the worst effect first."""
    legend: tuple[tuple[Sign, int], ...]
    """Signs with their number of hosts, the worst first."""
    small: bool
    """Whether cells are drawn large."""


_Key = tuple[Sign, str, str, str, str, tuple[int, ...]]


def region(hosts: Sequence[HostImpact], tenants: Mapping[str, int]) -> Region:
    """Return the map of ``hosts``, ordered by hall, rack and slot; ``tenants`` maps names to numbers."""
    grouped: dict[_Key, list[int]] = defaultdict(list)
    for index, host in enumerate(hosts):
        grouped[_key(host)].append(index)
    keys = sorted(grouped)
    number = {key: index for index, key in enumerate(keys)}
    return Region(
        halls=tuple(_halls(hosts, tenants, number)),
        alike=tuple(_alike(number[key], hosts, grouped[key]) for key in keys),
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
    first = hosts[indexes[0]]
    return Alike(
        number=number,
        sign=sign(first),
        use=first.use.value.replace("-", " ") if first.use else "removed",
        tenant=first.tenant,
        group=first.group,
        instance_type=first.host.instance_type,
        rows=first.rows,
        names=", ".join(_ranges(hosts, indexes)),
        count=len(indexes),
    )


def _ranges(hosts: Sequence[HostImpact], indexes: Sequence[int]) -> Iterator[str]:
    """Yield the names of hosts; neighbours on the map as a range of the first and the last name."""
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
