"""Impact of a change on each host of a region, derived from rows about groups, halls and networks."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum

from components.lookups.effects.effect import Effect, Subject, When
from components.lookups.host_use import CountedHost, HostUse, counted_hosts
from components.lookups.pools import pools
from components.specs.environment import Environment
from components.specs.hosts.inventory import HostSpec
from components.specs.keys import cluster_of, group_key
from components.specs.natural import natural
from components.specs.struct import Struct
from jacquard.previews.impacts.impact import Impact, Row

_HALL = "hall "
_ON_HOSTS = (Effect.RESTARTED, Effect.UNKNOWN)
"""Effects on pods of a cluster, such as agents, that can disturb each of its nodes."""


class Move(StrEnum):
    """Effect on a host when its group scales."""

    COMES = "comes"
    """The host becomes a node."""
    GOES = "goes"
    """The host stops being a node."""


class HostImpact(Struct):
    """A host, its use, and the impact on it."""

    host: HostSpec
    use: HostUse | None
    """Use of the host after the change; None if it is removed from the inventory."""
    tenant: str | None
    """Tenant of the host's current or previous pool; None for a host without a pool."""
    group: str | None
    """Rollout group of the host, ``cluster/pool/failure-domain``."""
    effect: Effect
    """Worst effect on the host or its DPU."""
    when: When
    """Time of the worst effect."""
    move: Move | None
    """Whether the host is added or removed; None unless the worst effect is the scaling of a group."""
    rows: tuple[int, ...]
    """Indexes of the rows of the impact that affect the host, the worst first."""


def hosts(base: Environment, head: Environment, impact: Impact) -> tuple[HostImpact, ...]:
    """Return the impact of the change to ``head`` on each host of both sides, ordered by hall, rack and slot.

    The nodes and spares of a group, and the nodes removed when it shrinks, are estimated from the lock files;
    controllers select the actual hosts. An unknown effect counts for every host of its part.
    """
    places = [_Place(was, will) for was, will in _both(base, head)]
    places.sort(key=lambda place: _key(place.host))
    finder = _Finder(base, head, places)
    effects: dict[str, list[tuple[int, Move | None]]] = defaultdict(list)
    for index, row in sorted(enumerate(impact.rows), key=lambda item: -item[1].effect.severity):
        for name, move in finder.of(row):
            effects[name].append((index, move))
    tenants = {placed.key: placed.tenant.tenant for side in (base, head) for placed in pools(side)}
    return tuple(_impact(place, tenants, impact, effects[place.host.host]) for place in places)


class _Place(Struct, kw_only=False):
    """A host in the base and in the head; None for a side whose inventory does not contain it."""

    was: CountedHost | None
    will: CountedHost | None

    @property
    def host(self) -> HostSpec:
        return next(side.host for side in (self.will, self.was) if side)

    @property
    def pool(self) -> str | None:
        """Return the pool of the host in the head, otherwise in the base."""
        return next((side.pool for side in (self.will, self.was) if side and side.pool), None)

    @property
    def group(self) -> str | None:
        return next((group_of(side) for side in (self.will, self.was) if side and side.pool), None)

    @property
    def groups(self) -> set[str]:
        """Return the groups of the host on both sides."""
        return {group for side in (self.was, self.will) if side and (group := group_of(side))}


def group_of(placed: CountedHost | None, *, node: bool = False) -> str | None:
    """Return the rollout group of a host; with ``node``, None for a spare host of the group."""
    if placed is None or placed.pool is None or (node and placed.use is not HostUse.NODE):
        return None
    return group_key(placed.pool, placed.failure_domain)


def _both(base: Environment, head: Environment) -> Iterator[tuple[CountedHost | None, CountedHost | None]]:
    was, will = ({placed.host.host: placed for placed in counted_hosts(side)} for side in (base, head))
    yield from ((was.get(name), will.get(name)) for name in dict.fromkeys((*will, *was)))


def _key(host: HostSpec) -> tuple[str, tuple[str | int, ...], int, str]:
    return host.hall, natural(host.rack), host.slot, host.host


def _impact(
    place: _Place, tenants: Mapping[str, str], impact: Impact, effects: list[tuple[int, Move | None]]
) -> HostImpact:
    first = impact.rows[effects[0][0]] if effects else None
    return HostImpact(
        host=place.host,
        use=place.will.use if place.will else None,
        tenant=tenants.get(place.pool) if place.pool else None,
        group=place.group,
        effect=first.effect if first else Effect.NONE,
        when=first.when if first else When.AT_ONCE,
        move=effects[0][1] if effects else None,
        rows=tuple(index for index, _ in effects),
    )


class _Finder:
    """Finds the hosts that a row affects."""

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
        """Yield the hosts that ``row`` affects, and whether they are added or removed."""
        if row.hosts:
            yield from ((name, None) for name in row.hosts)
        elif row.falls_on is Subject.NODES and row.change is not None:
            yield from self._moving(row.part)
        elif row.falls_on is Subject.NODES:
            yield from ((name, None) for name in self._nodes(row))
        elif _is_undecided(row):
            yield from ((name, None) for name in self._about(row) or self._all)
        elif row.falls_on is Subject.PODS and row.effect in _ON_HOSTS:
            yield from ((name, None) for name in self._about(row))

    def _moving(self, group: str) -> Iterator[tuple[str, Move | None]]:
        was, will = self._was[group], self._will[group]
        yield from ((name, Move.COMES) for name in will if name not in was)
        yield from ((name, Move.GOES) for name in was if name not in will)

    def _nodes(self, row: Row) -> dict[str, None]:
        """Return the hosts of the nodes of the base; for an unknown effect, also the hosts in the head."""
        sides = (self._was, self._will) if row.effect is Effect.UNKNOWN else (self._was,)
        return _union(side[group] for side in sides for group in list(side) if _within(group, row.part))

    def _about(self, row: Row) -> dict[str, None]:
        """Return all hosts of the part that ``row`` is about; none if the part has no hosts."""
        hall, vpc = row.part.removeprefix(_HALL), row.part.partition(" ")[0]
        if hall != row.part:
            return self._halls[hall]
        groups = list(self._assigned)
        mine = [group for group in groups if _within(group, row.part) or self._vpcs.get(cluster_of(group)) == vpc]
        if not mine and row.tenant:
            mine = [group for group in groups if self._tenants.get(cluster_of(group)) == row.tenant]
        return _union(self._assigned[group] for group in mine)


def _by_group(hosts: Iterable[tuple[HostSpec, Iterable[str | None]]]) -> defaultdict[str, dict[str, None]]:
    """Return the names of hosts by group, in order."""
    by_group: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for host, groups in hosts:
        for group in groups:
            if group:
                by_group[group][host.host] = None
    return by_group


def _union(parts: Iterable[dict[str, None]]) -> dict[str, None]:
    return {name: None for part in parts for name in part}


def _within(group: str, part: str) -> bool:
    """Return whether a rollout group is ``part`` itself, or belongs to the pool or cluster ``part``."""
    return group == part or group.startswith(f"{part}/")


def _is_undecided(row: Row) -> bool:
    """Return whether the effect of a row is missing in the table of effects; such an effect may also affect hosts."""
    return row.effect is Effect.UNKNOWN and any(
        forced.effect is Effect.UNKNOWN and forced.source is None for forced in row.forced_by
    )
