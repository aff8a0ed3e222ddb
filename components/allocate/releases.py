"""Explicit operations of ``allocate``: release hosts of a pool, replace broken hosts, release quarantined numbers."""

from collections import Counter, defaultdict
from operator import itemgetter

from components.allocate.allocation import allocate
from components.allocate.free_hosts import position
from components.lookups.network.fabrics import halls_for
from components.lookups.pools import PlacedPool, declared_spares, pool_named, problem
from components.lookups.spares import spares_for
from components.specs.environment import Environment
from components.specs.hosts.inventory import HostSpec
from components.specs.keys import domain_of, group_key, pool_of
from components.specs.locks import AllocationsLock, ImagesLock
from components.specs.natural import natural, naturally
from components.specs.reading.loader import ALLOCATIONS
from components.specs.reading.problems import ArgumentError, Problem, SpecError, listed, suggestion

EVERYTHING = "all"
"""Argument that releases all quarantined numbers."""


def release_hosts(environment: Environment, pool: str, count: int | None = None) -> tuple[AllocationsLock, ImagesLock]:
    """Return the lock files after ``pool`` released all surplus hosts, or the first ``count`` of them.

    Surplus hosts are hosts beyond the pool's nodes and spares. Hosts out of service are released first, then hosts of
    groups without nodes, then the last hosts of other groups. A pool sized in racks releases whole racks; ``count`` is
    then a number of racks.

    Raises:
        SpecError: the pool does not exist, it has fewer surplus hosts, or an allocation fails.
    """
    placed = pool_named(environment, pool, "--release-hosts")
    numbers, _ = allocate(environment)
    surplus = _surplus(environment.model_copy(update={"allocations": numbers}), placed)
    if not surplus or (count is not None and count > len(surplus)):
        raise SpecError(environment.name, [_too_few(environment, placed, len(surplus), count)])
    released = {host.host for unit in surplus[:count] for host in unit}
    # Keep the previous assignment: a host that a cluster releases in this step is not free yet.
    before = environment.allocations.model_copy(update={"groups": numbers.groups})
    return allocate(environment.model_copy(update={"allocations": before}), released)


def replace_hosts(environment: Environment, pool: str) -> tuple[AllocationsLock, ImagesLock]:
    """Return the lock files after ``pool`` got a free host in place of each missing host.

    Replacement hosts are in the same failure domain. Broken hosts stay assigned and are surplus after their repair.

    Raises:
        SpecError: the pool does not exist, no host is free or needed, or an allocation fails.
    """
    placed = pool_named(environment, pool, "--replace-hosts")
    numbers, pins = allocate(environment)
    free: dict[str, list[HostSpec]] = defaultdict(list)
    present = Counter[str]()
    halls = _halls(environment, placed)
    for host in environment.hosts:
        domain, owner = environment.failure_domain(host), numbers.hosts.get(host.host)
        in_service = host.host not in environment.out_of_service
        present[domain] += in_service and owner == pool
        unassigned = owner is None and host.host not in environment.allocations.hosts
        if unassigned and in_service and host.instance_type == placed.pool.instance_type and host.hall in halls:
            free[domain].append(host)
    replacements: dict[str, str] = {}
    missing = Counter[str]()
    nodes = runnable = 0
    for key, group in numbers.groups.items():
        if pool_of(key) == pool:
            domain, size = domain_of(key), group.most_nodes
            spares = spares_for(size, declared_spares(environment, placed.pool))
            missing[domain] = max(0, size + spares - present[domain])
            replacements |= {host.host: pool for host in sorted(free[domain], key=position)[: missing[domain]]}
            nodes, runnable = nodes + size, runnable + min(size, present[domain])
    if not replacements:
        text = _nothing_to_replace(environment.name, pool, +missing, f"{runnable} of {nodes} nodes can run")
        raise SpecError(environment.name, [problem(environment, ALLOCATIONS, ("hosts",), text)])
    # The second allocation assigns links and addresses to the replacement hosts.
    claimed = numbers.model_copy(update={"hosts": numbers.hosts | replacements})
    return allocate(environment.model_copy(update={"allocations": claimed, "image_pins": pins}))


def _nothing_to_replace(environment: str, pool: str, missing: Counter[str], runnable: str) -> str:
    if not missing:
        return f"{pool} needs no replacement: the hosts of all its nodes and spares are in service, {runnable}"
    count = missing.total()
    return (
        f"{pool} needs {count} host{'' if count == 1 else 's'} in {listed(naturally(missing))}, where no host is free;"
        f" spares are in use, {runnable}; return a host once it is repaired:"
        f" jacquard host {environment} HOST --to production --evidence FILE"
    )


def _halls(environment: Environment, placed: PlacedPool) -> tuple[str, ...]:
    kind = environment.instance_types.by_name[placed.pool.instance_type]
    return halls_for(environment, placed, kind)


def _surplus(environment: Environment, placed: PlacedPool) -> list[list[HostSpec]]:
    """Return the surplus hosts of ``placed``, host by host or rack by rack, in order of release."""
    hosts_of: dict[str, list[HostSpec]] = defaultdict(list)
    for host in environment.hosts:
        if environment.allocations.hosts.get(host.host) == placed.key:
            hosts_of[environment.failure_domain(host)].append(host)
    units: list[tuple[bool, bool, list[HostSpec]]] = []
    for domain in sorted(hosts_of, key=natural, reverse=True):
        size = environment.allocations.groups[group_key(placed.key, domain)].most_nodes
        if placed.pool.racks is not None:
            units += [] if size else [(True, False, hosts_of[domain])]
            continue
        spare = len(hosts_of[domain]) - size - spares_for(size, declared_spares(environment, placed.pool))
        in_service = {host.host: host.host not in environment.out_of_service for host in hosts_of[domain]}
        leaving = sorted(sorted(hosts_of[domain], key=position, reverse=True), key=lambda host: in_service[host.host])
        units += [(in_service[host.host], size > 0, [host]) for host in leaving[: max(0, spare)]]
    return [unit for _, _, unit in sorted(units, key=itemgetter(0, 1))]


def _too_few(environment: Environment, placed: PlacedPool, surplus: int, requested: int | None) -> Problem:
    key, unit = ("nodes", "hosts") if placed.pool.racks is None else ("racks", "racks")
    amount = f"{surplus} {unit}" if surplus else f"no {unit}"
    wanted = "" if requested is None or not surplus else f", not {requested}"
    text = f"{placed.key} has {amount} beyond its nodes and spares{wanted}; lower {key} here first"
    return problem(environment, placed.file, (*placed.path, key), text)


def release_quarantine(environment: Environment, name: str) -> Environment:
    """Return ``environment`` without the quarantined numbers of ``name``: a holder, a tenant, or ``all``.

    Raises:
        SpecError: ``name`` has no quarantined numbers.
    """
    quarantine = environment.allocations.quarantine
    kept = {
        holder: freed
        for holder, freed in quarantine.items()
        if name not in {EVERYTHING, holder} and not holder.startswith(f"{name}/")
    }
    if len(kept) == len(quarantine):
        text = f"'{name}' has no quarantined numbers (holders: {listed(quarantine)}){suggestion(name, quarantine)}"
        raise ArgumentError(environment.name, "--release-quarantine", text)
    lock = environment.allocations.model_copy(update={"quarantine": kept})
    return environment.model_copy(update={"allocations": lock})
