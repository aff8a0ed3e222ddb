"""Assignment of hosts to pools: pools keep their hosts; new hosts are spread evenly over few failure domains."""

import heapq
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from components.allocate.free_hosts import FreeHosts
from components.allocate.shortage import Account, too_few_nodes, too_few_racks
from components.lookups.network.fabrics import halls_for
from components.lookups.pools import PlacedPool, clusters, declared_spares, most_nodes, pools, wanted_nodes
from components.lookups.spares import nodes_within, spares_for
from components.specs.environment import Environment
from components.specs.hosts.instance_types import Scale
from components.specs.hosts.inventory import HostSpec
from components.specs.keys import cluster_of, group_key
from components.specs.locks import GroupAllocation
from components.specs.natural import natural, naturally
from components.specs.reading.problems import Problem

Owner = tuple[str, str]
"""Tenant and cluster: clusters of different tenants may have the same name."""
Halls = tuple[str, ...]
_NO_GROUP = GroupAllocation(nodes=0)


@dataclass
class Assignment:
    """Pool of each host, sizes of rollout groups, and problems of pools that get too few hosts."""

    hosts: dict[str, str] = field(default_factory=dict)
    groups: dict[str, GroupAllocation] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def assign(environment: Environment, released: Collection[str] = ()) -> Assignment:
    """Return the assignment of the hosts of ``environment``, starting from its lock file.

    A pool that shrinks keeps its hosts as spares. Removing a host requires draining and wiping, so the removal must be
    requested explicitly with ``released``. For the same reason, a host that a cluster releases is not assigned to
    another cluster immediately. The host becomes free in the next allocation, after the release was applied.

    A host out of service is never newly assigned, but a pool keeps a host that is already assigned. The host still
    counts toward the size of its existing group, and is replaced only on request (``releases.replace_hosts``). A
    growing group cannot use the host.

    A pool sized in racks gets whole NVLink domains: racks without a host out of service. Its spares are hosts of these
    racks, since a node elsewhere would be in another NVLink domain. For example, 4 racks of 18 hosts with one spare
    each run 68 nodes.
    """
    return _Assigner(environment, released).run()


def spread(nodes: int, now: Mapping[str, int], room: Mapping[str, int]) -> dict[str, int]:
    """Return ``nodes`` divided over the domains of ``room``: as evenly as ``room`` allows, with few changes to ``now``.

    The sum is less than ``nodes`` if ``room`` is too small.
    """
    split = {domain: min(now.get(domain, 0), room[domain]) for domain in sorted(room, key=natural)}
    change = min(nodes, sum(room.values())) - sum(split.values())
    rank = {domain: index for index, domain in enumerate(split)}
    step = 1 if change > 0 else -1
    heap = [
        (step * count, step * rank[domain], domain)
        for domain, count in split.items()
        if _may(step, count, room[domain])
    ]
    heapq.heapify(heap)
    for _ in range(abs(change)):
        _, order, domain = heap[0]
        split[domain] += step
        if _may(step, split[domain], room[domain]):
            heapq.heapreplace(heap, (step * split[domain], order, domain))
        else:
            heapq.heappop(heap)
    return split


def _may(step: int, count: int, most: int) -> bool:
    return count < most if step > 0 else count > 0


class _Assigner:
    def __init__(self, environment: Environment, released: Collection[str]) -> None:
        self._environment = environment
        self._lock = environment.allocations
        self._tenants = {placed.cluster.name: placed.tenant.tenant for placed in clusters(environment)}
        self._result = Assignment()
        self._free: dict[str, FreeHosts] = defaultdict(FreeHosts)
        self._in_service: dict[str, Counter[str]] = defaultdict(Counter)
        """Hosts in service, by pool and domain."""
        self._out_of_service: dict[str, Counter[str]] = defaultdict(Counter)
        """Hosts out of service, by pool and domain; unassigned hosts by instance type."""
        self._leaving: dict[Owner, list[tuple[str, HostSpec]]] = defaultdict(list)
        self._sort(released)

    def run(self) -> Assignment:
        for placed in sorted(clusters(self._environment), key=lambda placed: natural(placed.tenant.tenant)):
            owner = (placed.tenant.tenant, placed.cluster.name)
            leaving = self._leaving.get(owner, [])
            self._make_available(leaving)
            for index, pool in enumerate(placed.cluster.pools):
                path = (*placed.path, "pools", index)
                self._serve(PlacedPool(tenant=placed.tenant, cluster=placed.cluster, pool=pool, path=path))
            for domain, host in leaving:
                self._free[host.instance_type].remove(domain, host)
            self._leaving[owner] = [item for item in leaving if item[1].host not in self._result.hosts]
        return self._result

    def _sort(self, released: Collection[str]) -> None:
        wanted = {placed.key: placed for placed in pools(self._environment) if self._keeps(placed)}
        free = []
        for host in self._environment.hosts:
            domain, key = self._environment.failure_domain(host), self._lock.hosts.get(host.host)
            placed = wanted.get(key) if key and host.host not in released else None
            in_service = host.host not in self._environment.out_of_service
            if key and placed and placed.pool.instance_type == host.instance_type:
                self._result.hosts[host.host] = key
                (self._in_service if in_service else self._out_of_service)[key][domain] += 1
            elif not in_service:
                self._out_of_service[host.instance_type][domain] += 1
            elif key is None:
                free.append((domain, host))
            else:
                self._leaving[self._owner(key)].append((domain, host))
        self._make_available(free)

    def _make_available(self, hosts: Iterable[tuple[str, HostSpec]]) -> None:
        """Add ``hosts``, each paired with its domain, to the free hosts."""
        by_domain: dict[tuple[str, str], list[HostSpec]] = defaultdict(list)
        for domain, host in hosts:
            by_domain[host.instance_type, domain].append(host)
        for (kind, domain), members in by_domain.items():
            self._free[kind].add(domain, members)

    def _owner(self, key: str) -> Owner:
        """Return the owner of pool ``key`` according to the lock file."""
        cluster = cluster_of(key)
        entry = self._lock.clusters.get(cluster)
        return (entry.tenant if entry else self._tenants.get(cluster, ""), cluster)

    def _keeps(self, placed: PlacedPool) -> bool:
        return self._owner(placed.key)[0] == placed.tenant.tenant

    def _serve(self, placed: PlacedPool) -> None:
        kind = self._environment.instance_types.by_name.get(placed.pool.instance_type)
        if kind is None:
            return
        halls = halls_for(self._environment, placed, kind)
        if placed.pool.racks is not None and kind.scale is Scale.RACK:
            self._serve_racks(placed, placed.pool.racks, kind.nodes_per_rack, halls)
        else:
            self._serve_nodes(placed, wanted_nodes(self._environment, placed.pool), halls)

    def _serve_nodes(self, placed: PlacedPool, wanted: int, halls: Halls) -> None:
        pool = placed.pool
        most = most_nodes(self._environment, pool)
        room = self._fewest(placed, most, halls)
        if sum(room.values()) < most:
            self._result.problems.append(self._too_few_nodes(placed, most, halls))
        groups = {domain: self._group(placed, domain) for domain in room}
        ceiling = spread(most, self._sizes(placed, groups, most), room)
        nodes = spread(wanted, {domain: group.nodes for domain, group in groups.items()}, ceiling)
        least = spread(pool.min_nodes or 0, {}, nodes)
        spares = declared_spares(self._environment, pool)
        for domain, size in ceiling.items():
            present = self._in_service[placed.key][domain]
            if size <= groups[domain].most_nodes:
                present += self._out_of_service[placed.key][domain]
            self._assign_hosts(placed, domain, size + spares_for(size, spares) - present, halls)
            bounds = {"min_nodes": least[domain], "max_nodes": size} if pool.autoscaling else {}
            self._result.groups[group_key(placed.key, domain)] = GroupAllocation(nodes=nodes[domain], **bounds)

    def _sizes(self, placed: PlacedPool, groups: Mapping[str, GroupAllocation], most: int) -> dict[str, int]:
        """Return the sizes of ``groups`` from which a change to ``most`` nodes starts.

        A pool that shrinks loses nodes first in the domains of its hosts out of service.
        """
        sizes = {domain: group.most_nodes for domain, group in groups.items()}
        if most >= sum(sizes.values()):
            return sizes
        present, spares = self._in_service[placed.key], declared_spares(self._environment, placed.pool)
        return {domain: min(size, nodes_within(present[domain], spares)) for domain, size in sizes.items()}

    def _fewest(self, placed: PlacedPool, wanted: int, halls: Halls) -> dict[str, int]:
        """Return the capacity by domain: domains in use, plus as few other domains as ``wanted`` nodes need."""
        room = {domain: self._room(placed, domain, halls) for domain in self._domains(placed)}
        missing = wanted - sum(room.values())
        for domain in self._free[placed.pool.instance_type].emptiest(halls) if missing > 0 else ():
            more = 0 if domain in room else self._room(placed, domain, halls)
            missing -= more
            room |= {domain: more} if more else {}
            if missing <= 0:
                break
        return room

    def _domains(self, placed: PlacedPool) -> list[str]:
        return naturally({*self._in_service[placed.key], *self._out_of_service[placed.key]})

    def _room(self, placed: PlacedPool, domain: str, halls: Halls) -> int:
        """Return the maximum number of nodes of ``placed`` in ``domain``; hosts out of service never shrink a group."""
        spares = declared_spares(self._environment, placed.pool)
        hosts = self._in_service[placed.key][domain] + self._free[placed.pool.instance_type].count(domain, halls)
        standing = nodes_within(hosts + self._out_of_service[placed.key][domain], spares)
        return max(nodes_within(hosts, spares), min(self._group(placed, domain).most_nodes, standing))

    def _group(self, placed: PlacedPool, domain: str) -> GroupAllocation:
        return self._lock.groups.get(group_key(placed.key, domain), _NO_GROUP)

    def _serve_racks(self, placed: PlacedPool, racks: int, full: int, halls: Halls) -> None:
        free, present = self._free[placed.pool.instance_type], self._in_service[placed.key]
        broken = self._out_of_service[placed.key]
        current = self._domains(placed)
        current.sort(key=lambda domain: (not self._group(placed, domain).nodes, broken[domain]))
        used = current[:racks]
        for domain in free.emptiest(halls) if len(used) < racks else ():
            if len(used) == racks or free.count(domain, halls) < full:
                break
            used.append(domain)
        if len(used) < racks:
            self._result.problems.append(self._too_few_racks(placed, len(used), halls))
        spares = declared_spares(self._environment, placed.pool)
        for domain in (*used, *current[racks:]):
            if domain in used:
                self._assign_hosts(placed, domain, full - present[domain] - broken[domain], halls)
            nodes = nodes_within(present[domain] + broken[domain], spares) if domain in used else 0
            self._result.groups[group_key(placed.key, domain)] = GroupAllocation(nodes=nodes)

    def _assign_hosts(self, placed: PlacedPool, domain: str, count: int, halls: Halls) -> None:
        free = self._free[placed.pool.instance_type]
        for host in free.take(domain, min(count, free.count(domain, halls))):
            self._result.hosts[host.host] = placed.key
            self._in_service[placed.key][domain] += 1

    def _too_few_nodes(self, placed: PlacedPool, wanted: int, halls: Halls) -> Problem:
        leaving = sum(len(hosts) for hosts in self._released_hosts(placed, halls).values())
        return too_few_nodes(self._environment, placed, wanted, self._accounts(placed, halls), leaving)

    def _too_few_racks(self, placed: PlacedPool, possible: int, halls: Halls) -> Problem:
        leaving = len(self._released_hosts(placed, halls))
        return too_few_racks(self._environment, placed, possible, self._accounts(placed, halls), leaving)

    def _accounts(self, placed: PlacedPool, halls: Halls) -> dict[str, Account]:
        """Return the account of the hosts that ``placed`` could use, by domain."""
        kind = placed.pool.instance_type
        return {
            domain: Account(
                hall=hall,
                total=total,
                mine=self._in_service[placed.key][domain] + self._free[kind].count(domain, halls),
                out_of_service=self._out_of_service[placed.key][domain] + self._out_of_service[kind][domain],
                room=self._room(placed, domain, halls),
            )
            for (hall, domain), total in self._totals[kind].items()
            if hall in halls
        }

    @cached_property
    def _totals(self) -> dict[str, Counter[tuple[str, str]]]:
        """Return the number of hosts, by instance type, hall and domain."""
        totals: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
        for host in self._environment.hosts:
            totals[host.instance_type][host.hall, self._environment.failure_domain(host)] += 1
        return totals

    def _released_hosts(self, placed: PlacedPool, halls: Halls) -> dict[str, list[HostSpec]]:
        """Return the number of hosts, by domain, that ``placed`` could use after other clusters have released them."""
        released: dict[str, list[HostSpec]] = defaultdict(list)
        for domain, host in (
            item
            for owner, items in self._leaving.items()
            if owner != (placed.tenant.tenant, placed.cluster.name)
            for item in items
        ):
            if host.instance_type == placed.pool.instance_type and host.hall in halls:
                released[domain].append(host)
        return released
