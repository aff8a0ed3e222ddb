"""What ``allocate`` does on request only: take hosts from a pool, replace broken ones, let numbers go."""

from __future__ import annotations

from collections import Counter, defaultdict
from operator import itemgetter

from components.allocate.allocation import allocate
from components.allocate.free_hosts import position
from components.lookups.fabrics import halls_for
from components.lookups.pools import PlacedPool, declared_spares, pool_named, problem
from components.lookups.spares import spares_for
from components.specs.environment import Environment
from components.specs.hosts.inventory import HostSpec
from components.specs.keys import domain_of, group_key, pool_of
from components.specs.locks import AllocationsLock, ImagesLock
from components.specs.natural import natural, naturally
from components.specs.reading.loader import ALLOCATIONS, OUT_OF_SERVICE
from components.specs.reading.lock_text import paired
from components.specs.reading.problems import Problem, SpecError, listed, suggestion

EVERYTHING = "all"
"""Releases the whole quarantine."""


def release_hosts(environment: Environment, pool: str, count: int | None = None) -> tuple[AllocationsLock, ImagesLock]:
    """Return the lock files in which ``pool`` has given up hosts: all it does not need, or the first ``count``.

    Not needed is what its nodes and spares do not need. Hosts out of service go first, then those of groups without
    nodes, then the last ones of others. A pool that counts in racks gives up whole racks, and ``count`` counts these.

    Raises:
        SpecError: there is no such pool, it has fewer to give up, or something cannot be allocated.
    """
    placed = pool_named(environment, pool, ALLOCATIONS, "hosts")
    numbers, _ = allocate(environment)
    found = _surplus(environment.model_copy(update={"allocations": numbers}), placed)
    if not found or (count is not None and count > len(found)):
        raise SpecError(environment.name, [_too_few(environment, placed, len(found), count)])
    released = {host.host for unit in found[:count] for host in unit}
    # Hosts as they were before: what a cluster gives up in this very step is nobody's yet.
    before = environment.allocations.model_copy(update={"groups": numbers.groups})
    return allocate(environment.model_copy(update={"allocations": before}), released)


def replace_hosts(environment: Environment, pool: str) -> tuple[AllocationsLock, ImagesLock]:
    """Return the lock files in which ``pool`` has got a free host for each that is out of service and missed.

    A free host is one of the same failure domain. The broken ones stay: once they are repaired they are surplus.

    Raises:
        SpecError: there is no such pool, nothing to replace it with, or something cannot be allocated.
    """
    placed = pool_named(environment, pool, ALLOCATIONS, "hosts")
    numbers, pins = allocate(environment)
    free: dict[str, list[HostSpec]] = defaultdict(list)
    held = Counter[str]()
    halls = _halls(environment, placed)
    for host in environment.hosts:
        domain, owner = environment.failure_domain(host), numbers.hosts.get(host.host)
        in_service = host.host not in environment.out_of_service
        held[domain] += in_service and owner == pool
        nobody = owner is None and host.host not in environment.allocations.hosts
        if nobody and in_service and host.instance_type == placed.pool.instance_type and host.hall in halls:
            free[domain].append(host)
    given: dict[str, str] = {}
    missed = Counter[str]()
    nodes = able = 0
    for key, group in numbers.groups.items():
        if pool_of(key) == pool:
            domain, size = domain_of(key), group.most_nodes
            missed[domain] = max(0, size + spares_for(size, declared_spares(environment, placed.pool)) - held[domain])
            given |= {host.host: pool for host in sorted(free[domain], key=position)[: missed[domain]]}
            nodes, able = nodes + size, able + min(size, held[domain])
    if not given:
        text = _nothing_to_replace(pool, +missed, f"{able} of {nodes} nodes can run")
        raise SpecError(environment.name, [problem(environment, ALLOCATIONS, ("hosts",), text)])
    return paired(environment.name, numbers.model_copy(update={"hosts": numbers.hosts | given}), pins)


def _nothing_to_replace(pool: str, missed: Counter[str], able: str) -> str:
    if not missed:
        return f"{pool} misses no host: all its nodes and spares are in service, {able}"
    return (
        f"{pool} misses {missed.total()} in {listed(naturally(missed))}, where no host is free; spares stand in,"
        f" {able}; remove a host from {OUT_OF_SERVICE} once it works again"
    )


def _halls(environment: Environment, placed: PlacedPool) -> tuple[str, ...]:
    kind = environment.instance_types.by_name[placed.pool.instance_type]
    return halls_for(environment, placed, kind)


def _surplus(environment: Environment, placed: PlacedPool) -> list[list[HostSpec]]:
    """Return what ``placed`` does not need, host by host or rack by rack, the first to go first."""
    mine: dict[str, list[HostSpec]] = defaultdict(list)
    for host in environment.hosts:
        if environment.allocations.hosts.get(host.host) == placed.key:
            mine[environment.failure_domain(host)].append(host)
    found: list[tuple[bool, bool, list[HostSpec]]] = []
    for domain in sorted(mine, key=natural, reverse=True):
        size = environment.allocations.groups[group_key(placed.key, domain)].most_nodes
        if placed.pool.racks is not None:
            found += [] if size else [(True, False, mine[domain])]
            continue
        spare = len(mine[domain]) - size - spares_for(size, declared_spares(environment, placed.pool))
        in_service = {host.host: host.host not in environment.out_of_service for host in mine[domain]}
        leaving = sorted(sorted(mine[domain], key=position, reverse=True), key=lambda host: in_service[host.host])
        found += [(in_service[host.host], size > 0, [host]) for host in leaving[: max(0, spare)]]
    return [unit for _, _, unit in sorted(found, key=itemgetter(0, 1))]


def _too_few(environment: Environment, placed: PlacedPool, found: int, asked: int | None) -> Problem:
    key, units = ("nodes", "hosts") if placed.pool.racks is None else ("racks", "racks")
    have = f"{found} {units}" if found else f"no {units}"
    wanted = "" if asked is None or not found else f", not {asked}"
    text = f"{placed.key} has {have} beyond its nodes and spares{wanted}; lower {key} here first"
    return problem(environment, placed.file, (*placed.path, key), text)


def release_quarantine(environment: Environment, name: str) -> Environment:
    """Return ``environment`` without what is in quarantine for ``name``: a holder, all of a tenant, or ``all``.

    Raises:
        SpecError: nothing is there for ``name``.
    """
    held = environment.allocations.quarantine
    stay = {
        holder: freed
        for holder, freed in held.items()
        if name not in {EVERYTHING, holder} and not holder.startswith(f"{name}/")
    }
    if len(stay) == len(held):
        text = f"nothing of '{name}' is there (there: {listed(held)}){suggestion(name, held)}"
        raise SpecError(environment.name, [problem(environment, ALLOCATIONS, ("quarantine",), text)])
    lock = environment.allocations.model_copy(update={"quarantine": stay})
    return environment.model_copy(update={"allocations": lock})
