"""Gives hosts to pools: what is assigned stays, what is missing comes evenly from as few failure domains as hold it."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from components.plan.pools import PlacedPool, failure_domain, group_key, inventory_file, pools, problem
from components.specs.base import PercentOrCount, count_of
from components.specs.environment import Environment
from components.specs.inventory import HostSpec
from components.specs.problems import Problem

MAX_DOMAINS_SHOWN = 8


@dataclass
class Assignment:
    """Hosts by pool, sizes of rollout groups, and the pools that could not be served."""

    hosts: dict[str, str] = field(default_factory=dict)
    groups: dict[str, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def assign(environment: Environment) -> Assignment:
    """Return the assignment of ``environment``'s hosts, beginning with the one in its lock file.

    A pool that shrinks keeps its hosts as spares: taking a host away means draining and wiping it first. For the same
    reason a host that a cluster loses goes to nobody else at once: it is free for the next allocation, after the change
    that releases it was applied.
    """
    return _Assigner(environment).run()


def spares_for(nodes: int, spares: PercentOrCount) -> int:
    """Return the spares that ``nodes`` of one pool in one failure domain need."""
    return count_of(spares, nodes) if nodes else 0


def nodes_within(hosts: int, spares: PercentOrCount) -> int:
    """Return how many nodes ``hosts`` can carry beside their own spares."""
    nodes = max(0, hosts - spares_for(hosts, spares))
    while nodes + 1 + spares_for(nodes + 1, spares) <= hosts:
        nodes += 1
    return nodes


def spread(nodes: int, now: dict[str, int], room: dict[str, int]) -> dict[str, int]:
    """Return ``nodes`` split over the domains of ``room``, as even as ``room`` allows and close to ``now``.

    The sum is below ``nodes`` when there is no room for all.
    """
    split = {domain: min(now.get(domain, 0), most) for domain, most in sorted(room.items())}
    while sum(split.values()) > nodes:
        split[max(split, key=lambda domain: (split[domain], domain))] -= 1
    smallest = [(count, domain) for domain, count in split.items() if count < room[domain]]
    heapq.heapify(smallest)
    for _ in range(min(nodes, sum(room.values())) - sum(split.values())):
        count, domain = smallest[0]
        split[domain] = count + 1
        if split[domain] < room[domain]:
            heapq.heapreplace(smallest, (count + 1, domain))
        else:
            heapq.heappop(smallest)
    return split


class _Assigner:
    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._spares = environment.region.spares
        self._result = Assignment()
        self._free: dict[tuple[str, str], list[HostSpec]] = defaultdict(list)
        self._held: dict[str, Counter[str]] = defaultdict(Counter)

    def run(self) -> Assignment:
        wanted = {placed.key: placed for placed in pools(self._environment)}
        for host in self._environment.hosts:
            domain = failure_domain(self._environment, host)
            key = self._environment.allocations.hosts.get(host.host)
            if key in wanted and wanted[key].pool.instance_type == host.instance_type:
                self._result.hosts[host.host] = key
                self._held[key][domain] += 1
            else:
                self._free[host.instance_type, domain].append(host)
        for placed in wanted.values():
            self._serve(placed)
        return self._result

    def _serve(self, placed: PlacedPool) -> None:
        wanted, held = placed.pool.nodes, self._held[placed.key]
        free = self._free_for(placed)
        capacity = {domain: held[domain] + len(free.get(domain, ())) for domain in {*held, *free}}
        room = {domain: nodes_within(hosts, self._spares) for domain, hosts in capacity.items()}
        if sum(room.values()) < wanted:
            self._result.problems.append(self._shortage(placed, room))
        now = {domain: self._nodes_now(placed, domain) for domain in held}
        used = self._fewest(wanted, list(now), room)
        for domain, nodes in spread(wanted, now, {domain: room[domain] for domain in used}).items():
            count = nodes + spares_for(nodes, self._spares) - held[domain]
            self._take(placed.key, free.get(domain, []), count)
            self._result.groups[group_key(placed.key, domain)] = nodes

    def _nodes_now(self, placed: PlacedPool, domain: str) -> int:
        group = self._environment.allocations.groups.get(group_key(placed.key, domain))
        return group.nodes if group else 0

    def _fewest(self, wanted: int, used: list[str], room: dict[str, int]) -> list[str]:
        """Return the domains in ``used`` and as few others as make room for ``wanted`` nodes, the emptiest first."""
        others = sorted((domain for domain in room if domain not in used), key=lambda domain: (-room[domain], domain))
        for domain in others:
            if sum(room[name] for name in used) >= wanted or not room[domain]:
                break
            used.append(domain)
        return used

    def _free_for(self, placed: PlacedPool) -> dict[str, list[HostSpec]]:
        """Return the hosts by domain that ``placed`` may take: none that another cluster is only about to release."""
        found = {
            domain: [
                host
                for host in hosts
                if host.host not in self._result.hosts and self._last_cluster(host) in {None, placed.cluster.name}
            ]
            for (kind, domain), hosts in self._free.items()
            if kind == placed.pool.instance_type
        }
        return {domain: hosts for domain, hosts in found.items() if hosts}

    def _last_cluster(self, host: HostSpec) -> str | None:
        """Return the cluster that the lock file still gives ``host`` to."""
        key = self._environment.allocations.hosts.get(host.host)
        return None if key is None else key.partition("/")[0]

    def _take(self, key: str, free: list[HostSpec], count: int) -> None:
        for host in sorted(free, key=lambda host: (host.rack, host.slot))[: max(0, count)]:
            self._result.hosts[host.host] = key

    def _shortage(self, placed: PlacedPool, room: dict[str, int]) -> Problem:
        pool, possible = placed.pool, sum(room.values())
        kind = self._environment.region.failure_domain
        total, halls = Counter[str](), set()
        for host in self._environment.hosts:
            if host.instance_type == pool.instance_type:
                total[failure_domain(self._environment, host)] += 1
                halls.add(inventory_file(host.hall))
        free = {domain: len(hosts) for domain, hosts in self._free_for(placed).items()}
        mine = {domain: self._held[placed.key][domain] + free.get(domain, 0) for domain in total}
        parts = [f"{kind} {name} has {_account(mine[name], total[name], room.get(name, 0))}" for name in sorted(total)]
        more = len(parts) - MAX_DOMAINS_SHOWN
        shown = parts[:MAX_DOMAINS_SHOWN] + ([f"{more} more"] if more > 0 else [])
        where = f"{', '.join(shown)} ({', '.join(sorted(halls))})" if parts else "the inventory has none"
        remedy = f"lower nodes to {possible} or add a rack" if possible else "remove the pool or add a rack"
        if leaving := self._leaving(placed):
            remedy += f"; {leaving} that other clusters give up can be taken once that is applied and allocated"
        text = f"{pool.nodes} {pool.instance_type} nodes wanted, {possible} can be given: {where}; {remedy}"
        return problem(self._environment, placed.file, (*placed.path, "nodes"), text)

    def _leaving(self, placed: PlacedPool) -> int:
        """Return how many hosts ``placed`` could take, were they not still given to another cluster."""
        return sum(
            host.host not in self._result.hosts and self._last_cluster(host) not in {None, placed.cluster.name}
            for (kind, _), hosts in self._free.items()
            if kind == placed.pool.instance_type
            for host in hosts
        )


def _account(mine: int, total: int, room: int) -> str:
    """Return what becomes of a domain's ``total`` hosts, of which a pool may have ``mine`` for ``room`` nodes."""
    spares, others = mine - room, total - mine
    if not mine:
        return f"{others}, all in other pools"
    parts = [f"{spares} {'is a spare' if spares == 1 else 'are spares'}"] if spares else []
    parts += [f"{others} {'is' if others == 1 else 'are'} in other pools"] if others else []
    return f"{total}" + (f" of which {' and '.join(parts)}" if parts else "")
