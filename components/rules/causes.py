"""Rules about edits of hosts with nodes: ``check`` reports the edit instead of the problems that follow from it."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import combinations

from components.intents.images import find_image
from components.lookups.pools import PlacedPool, place, pools, problem, wanted_nodes
from components.rules.hosts import inventory
from components.rules.pools import node_pool
from components.rules.references import host_problem
from components.rules.region import contracts, locks
from components.rules.region.running import running_hosts
from components.rules.rule import Findings, Rules
from components.specs.environment import Environment
from components.specs.hosts.inventory import HostSpec
from components.specs.keys import domain_of, pool_of
from components.specs.natural import naturally
from components.specs.reading.loader import ALLOCATIONS, IMAGE_PINS
from components.specs.reading.problems import Problem, listed
from components.specs.struct import Struct

MISSING_HOSTS = (
    locks.allocations,
    contracts.contracted_capacity,
    node_pool.instance_types,
    inventory.out_of_service,
)
"""Rules that report a tenant's data or a list of hosts when hosts are missing in the inventory."""
_MAX_NAMES = 3


class _Change(Struct, kw_only=False):
    """Hosts of a pool whose inventory rows all changed in the same way."""

    placed: PlacedPool
    column: str
    now: str
    hosts: tuple[str, ...]


def removed_rows(environment: Environment) -> Iterator[Problem]:
    """Report hosts of pools with nodes that are no longer in the inventory: a node may run on each of them.

    The lock file does not record which hosts of a pool are spares. Cluster API removes the oldest node when a pool
    shrinks, and not the node of the removed host. Release a host before you remove its row.
    """
    known = {host.host for host in environment.hosts} | inventory.renamed(environment).keys()
    placed = {one.key for one in pools(environment)}
    gone: dict[str, list[str]] = defaultdict(list)
    for name, key in running_hosts(environment).items():
        if name not in known and key in placed:
            gone[key].append(name)
    for key, names in gone.items():
        first, *others = naturally(names)
        verb, where = (
            ("are", "nodes may run there; restore the rows or their names")
            if others
            else ("is", "a node may run there; restore the row or its name")
        )
        text = (
            f"{listed([first, *others], _MAX_NAMES)} of {key} {verb} no longer in any inventory/hall-*.csv, but {where}"
            f" (git diff shows them); to remove a host, first run jacquard host {environment.name} {first} --to STATE"
            " and follow its steps"
        )
        yield problem(environment, ALLOCATIONS, ("hosts", first), text, subject=key)


def changed_rows(environment: Environment) -> list[Problem]:
    """Report changed inventory rows of hosts with nodes, where the nodes have no other host."""
    rows = {host.host: host for host in environment.hosts}
    return [_row_problem(environment, change, rows) for change in _changes(environment, rows)]


def swapped_pools(environment: Environment) -> list[Problem]:
    """Report two pools of a cluster whose wanted sizes match the running size of the other: names were exchanged."""
    runs = Counter[str]()
    for key, group in environment.allocations.groups.items():
        runs[pool_of(key)] += group.nodes
    found, placed = [], [one for one in pools(environment) if runs[one.key]]
    for one, other in combinations(placed, 2):
        wish, others = wanted_nodes(environment, one.pool), wanted_nodes(environment, other.pool)
        if (
            one.cluster.name == other.cluster.name
            and wish != others
            and (wish, others) == (runs[other.key], runs[one.key])
        ):
            there = place(environment, other.file, (*other.path, "name"))
            text = (
                f"{one.pool.name} requests {wish} nodes and {other.pool.name} ({there}) requests {others}, but {others}"
                f" and {wish} nodes run; hosts do not move between pools; restore the names if the names were"
                " exchanged, else restore the sizes"
            )
            found.append(problem(environment, one.file, (*one.path, "name"), text))
    return found


def lack_hosts(environment: Environment, findings: Findings) -> bool:
    """Return whether nodes lack hosts; otherwise changed rows and exchanged sizes are not a mistake.

    Tries an allocation if ``findings`` contain the result of none. Differences from lock files do not count.
    """
    if locks.allocations not in findings:
        findings = {**findings, locks.allocations: [*locks.allocations(environment)]}
    files = {problem.file for rule in MISSING_HOSTS for problem in findings.get(rule, ())}
    return not files <= {ALLOCATIONS, IMAGE_PINS}


def _changes(environment: Environment, rows: dict[str, HostSpec]) -> Iterator[_Change]:
    placed = {one.key: one for one in pools(environment)}
    domains: dict[str, set[str]] = defaultdict(set)
    for group in environment.allocations.groups:
        domains[pool_of(group)].add(domain_of(group))
    found: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    renamed = inventory.renamed(environment)
    for name, key in environment.allocations.hosts.items():
        row, pool = rows.get(name), placed.get(key)
        if pool is None or row is None or name in renamed:
            continue
        if row.instance_type not in environment.instance_types.by_name:
            continue  # the undeclared type is reported by another rule
        elif row.instance_type != pool.pool.instance_type:
            found[key, "instance_type", row.instance_type].append(name)
        elif (domain := environment.failure_domain(row)) not in domains[key]:
            found[key, environment.failure_domain_kind(row.instance_type).value, domain].append(name)
    count = Counter(environment.allocations.hosts.values())
    for (key, column, now), hosts in found.items():
        whole = len(hosts) == count[key]
        if _is_older(environment, placed[key], now) if column == "instance_type" else not whole:
            yield _Change(placed[key], column, now, tuple(naturally(hosts)))


def _is_older(environment: Environment, placed: PlacedPool, now: str) -> bool:
    """Return whether the pool still has the instance type of its running nodes: then the rows changed, not the pool."""
    pins = environment.image_pins
    names = {pins.intents[name].image for name in pins.groups_by_pool.get(placed.key, {}).values()}
    fits = {kind for name in names if (image := find_image(environment, name)) for kind in image.fits}
    if (now in fits) != (placed.pool.instance_type in fits):
        return placed.pool.instance_type in fits
    rows = {host.host: host.instance_type for host in environment.hosts}
    mine = [name for name, key in environment.allocations.hosts.items() if key == placed.key]
    return any(rows.get(name) == placed.pool.instance_type for name in mine)


def _row_problem(environment: Environment, change: _Change, rows: dict[str, HostSpec]) -> Problem:
    placed, first = change.placed, change.hosts[0]
    names = listed(change.hosts, _MAX_NAMES)
    wanted = place(environment, placed.file, (*placed.path, "nodes" if placed.pool.racks is None else "racks"))
    follows = (
        f"but the nodes of {wanted} require them" if len(change.hosts) > 1 else f"but the nodes of {wanted} require it"
    )
    was = f"{placed.key} has type {placed.pool.instance_type}"
    if change.column != "instance_type":
        groups = naturally(map(domain_of, environment.allocations.groups_by_pool.get(placed.key, ())))
        was = f"{placed.key} runs in {change.column} {listed(groups)}"
    text = (
        f"is {change.now} for {names}, {was} ({place(environment, ALLOCATIONS, ('hosts', first))}), {follows}; restore"
        " the row (git diff shows it); to change a host in use, lower nodes there first"
    )
    return host_problem(environment, rows[first], change.column, text)


RULES = Rules(data=(removed_rows,), edits=(changed_rows, swapped_pools), waivable=(removed_rows,))
