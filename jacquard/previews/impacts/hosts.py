"""What a change does to each host of a region, where the rows of an impact name groups, halls and networks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from components.lookups.effects.effect import Effect, Subject, When
from components.lookups.host_use import CountedHost, HostUse, counted_hosts
from components.lookups.pools import pools
from components.specs.environment import Environment
from components.specs.hosts.inventory import HostSpec
from components.specs.keys import cluster_of, group_key
from components.specs.natural import natural
from jacquard.previews.impacts.impact import Impact, Row

_HALL = "hall "


class Move(StrEnum):
    """What a host does when its group scales."""

    COMES = "comes"
    """The host becomes a node."""
    GOES = "goes"
    """The host is a node no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostImpact:
    """A host, what it is there for, and what happens to it."""

    host: HostSpec
    use: HostUse | None
    """What it is there for once the change is made; None where the inventory has it no more."""
    tenant: str | None
    """Tenant whose pool it belongs to, or did until now; None for a host of nobody."""
    group: str | None
    """Rollout group in that pool, ``cluster/pool/failure-domain``."""
    effect: Effect
    """The worst that happens to the host or to its DPU."""
    when: When
    """Moment from which on the worst happens."""
    move: Move | None
    """Whether it comes or goes, where the worst is that its group scales."""
    rows: tuple[int, ...]
    """Indexes of the rows of the impact that fall on it, the worst first."""


def hosts(base: Environment, head: Environment, impact: Impact) -> tuple[HostImpact, ...]:
    """Return what becoming ``head`` does to each host of either side, by hall, rack and slot.

    Which hosts of a group are its nodes and which its spares, and which nodes go when it shrinks, is told as lock files
    count them; controllers choose. What nobody has decided falls on every host of the part that it is about.
    """
    places = [_Place(was, will) for was, will in _both(base, head)]
    places.sort(key=lambda place: _key(place.host))
    finder = _Finder(base, head, places)
    felt: dict[str, list[tuple[int, Move | None]]] = defaultdict(list)
    for index, row in sorted(enumerate(impact.rows), key=lambda item: -item[1].effect.severity):
        for name, move in finder.of(row):
            felt[name].append((index, move))
    tenants = {placed.key: placed.tenant.tenant for side in (base, head) for placed in pools(side)}
    return tuple(_impact(place, tenants, impact, felt[place.host.host]) for place in places)


@dataclass(frozen=True, slots=True)
class _Place:
    """A host as it is in the base and in the head; None where it is in no inventory."""

    was: CountedHost | None
    will: CountedHost | None

    @property
    def host(self) -> HostSpec:
        return next(side.host for side in (self.will, self.was) if side)

    @property
    def pool(self) -> str | None:
        """Return the pool that it is assigned to, or else was."""
        return next((side.pool for side in (self.will, self.was) if side and side.pool), None)

    @property
    def group(self) -> str | None:
        return next((group_of(side) for side in (self.will, self.was) if side and side.pool), None)

    @property
    def groups(self) -> set[str]:
        """Return the groups that it belongs to on either side."""
        return {group for side in (self.was, self.will) if side and (group := group_of(side))}


def group_of(placed: CountedHost | None, *, node: bool = False) -> str | None:
    """Return the rollout group that a host is assigned to, or only that of which it is a node; None without one."""
    if placed is None or placed.pool is None or (node and placed.use is not HostUse.NODE):
        return None
    return group_key(placed.pool, placed.failure_domain)


def _both(base: Environment, head: Environment) -> Iterator[tuple[CountedHost | None, CountedHost | None]]:
    was, will = ({placed.host.host: placed for placed in counted_hosts(side)} for side in (base, head))
    yield from ((was.get(name), will.get(name)) for name in dict.fromkeys((*will, *was)))


def _key(host: HostSpec) -> tuple[str, tuple[str | int, ...], int, str]:
    return host.hall, natural(host.rack), host.slot, host.host


def _impact(
    place: _Place, tenants: Mapping[str, str], impact: Impact, felt: list[tuple[int, Move | None]]
) -> HostImpact:
    first = impact.rows[felt[0][0]] if felt else None
    return HostImpact(
        host=place.host,
        use=place.will.use if place.will else None,
        tenant=tenants.get(place.pool) if place.pool else None,
        group=place.group,
        effect=first.effect if first else Effect.NONE,
        when=first.when if first else When.AT_ONCE,
        move=felt[0][1] if felt else None,
        rows=tuple(index for index, _ in felt),
    )


class _Finder:
    """Finds the hosts that a row falls on."""

    def __init__(self, base: Environment, head: Environment, places: list[_Place]) -> None:
        self._was = _by_group((place.host, {group_of(place.was, node=True)}) for place in places)
        self._will = _by_group((place.host, {group_of(place.will, node=True)}) for place in places)
        self._assigned = _by_group((place.host, place.groups) for place in places)
        self._halls = _by_group((place.host, {place.host.hall}) for place in places)
        self._all = [place.host.host for place in places]
        tenants = [tenant for side in (base, head) for tenant in side.tenants]
        self._vpcs = {cluster.name: cluster.vpc for tenant in tenants for cluster in tenant.clusters}
        self._tenants = {cluster.name: tenant.tenant for tenant in tenants for cluster in tenant.clusters}

    def of(self, row: Row) -> Iterator[tuple[str, Move | None]]:
        """Yield the hosts that ``row`` falls on, and whether they come or go."""
        if row.hosts:
            yield from ((name, None) for name in row.hosts)
        elif row.falls_on is Subject.NODES and row.effect is Effect.SCALES:
            yield from self._moving(row.part)
        elif row.falls_on is Subject.NODES:
            yield from ((name, None) for name in self._nodes(row))
        elif _is_undecided(row):
            yield from ((name, None) for name in self._about(row) or self._all)

    def _moving(self, group: str) -> Iterator[tuple[str, Move | None]]:
        was, will = self._was[group], self._will[group]
        yield from ((name, Move.COMES) for name in will if name not in was)
        yield from ((name, Move.GOES) for name in was if name not in will)

    def _nodes(self, row: Row) -> dict[str, None]:
        """Return the hosts of nodes that there were; where nobody knows what happens, also of those to come."""
        sides = (self._was, self._will) if row.effect is Effect.UNKNOWN else (self._was,)
        return _union(side[group] for side in sides for group in list(side) if _within(group, row.part))

    def _about(self, row: Row) -> dict[str, None]:
        """Return every host of the part that ``row`` is about; none where the part is no part of hosts."""
        hall, vpc = row.part.removeprefix(_HALL), row.part.partition(" ")[0]
        if hall != row.part:
            return self._halls[hall]
        groups = list(self._assigned)
        mine = [group for group in groups if _within(group, row.part) or self._vpcs.get(cluster_of(group)) == vpc]
        if not mine and row.tenant:
            mine = [group for group in groups if self._tenants.get(cluster_of(group)) == row.tenant]
        return _union(self._assigned[group] for group in mine)


def _by_group(hosts: Iterable[tuple[HostSpec, Iterable[str | None]]]) -> defaultdict[str, dict[str, None]]:
    """Return the names of hosts by each group that they are in, in order."""
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for host, groups in hosts:
        for group in groups:
            if group:
                found[group][host.host] = None
    return found


def _union(parts: Iterable[dict[str, None]]) -> dict[str, None]:
    return {name: None for part in parts for name in part}


def _within(group: str, part: str) -> bool:
    """Tell whether a rollout group is a part of a region, or in a part that is its pool or cluster."""
    return group == part or group.startswith(f"{part}/")


def _is_undecided(row: Row) -> bool:
    """Tell whether nobody has decided what a row does, so that it may fall on hosts, too."""
    return row.effect is Effect.UNKNOWN and any(
        one.effect is Effect.UNKNOWN and one.source is None for one in row.forced_by
    )
