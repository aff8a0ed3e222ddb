"""Rules about values that several pools share: an edit is reported once, and other rules see the previous value.

The lock file has the state from before the edit and reveals it. Otherwise the consequences would be reported at each
tenant. The relation of `consequences` cannot hide these: almost every rule reads such a value, so a problem of any rule
may follow from the edit, while another problem of the same rule does not.
"""

from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

from components.allocate.allocation import attempt
from components.lookups.pools import (
    PlacedCluster,
    PlacedPool,
    clusters,
    inventory_file,
    most_nodes,
    place,
    pools,
    problem,
    wanted_nodes,
)
from components.lookups.spares import spares_for
from components.rules.region import locks
from components.rules.region.running import first_group, running_by_pool, running_nodes
from components.rules.rule import named
from components.specs.environment import Environment
from components.specs.hosts.instance_types import InstanceType, Scale
from components.specs.hosts.inventory import HostSpec
from components.specs.keys import group_key, pool_key, pool_of
from components.specs.reading.loader import ALLOCATIONS, INSTANCE_TYPES, REGION
from components.specs.reading.problems import Problem, dotted, listed

AREA = "shared"
"""Prefix of the names of these rules in waivers and reports."""

Judged = tuple[list[Problem], Environment]
"""Problems about edits, and the environment with the values from before the edits."""
_MAX_NAMES = 3


def nodes_per_rack(environment: Environment) -> Judged:
    """Report a ``nodes_per_rack`` that no rack reaches, among racks that pools allocate whole."""
    rows, found = {host.host: host for host in environment.hosts}, []
    whole = {placed.key for placed in pools(environment) if placed.pool.racks is not None}
    taken = [name for name, key in environment.allocations.hosts.items() if key in whole]
    if not any(_is_astray(environment, rows.get(name), name) for name in taken):
        sizes = Counter((host.instance_type, host.rack) for host in environment.hosts)
        for index, kind in enumerate(environment.instance_types.instance_types):
            racks = {rows[name].rack: rows[name] for name in taken if rows[name].instance_type == kind.name}
            most = max((sizes[kind.name, rack] for rack in racks), default=kind.nodes_per_rack)
            if most < kind.nodes_per_rack:
                first = next(iter(racks.values()))
                there = place(environment, inventory_file(first.hall), (first.host,))
                text = (
                    f"{kind.nodes_per_rack} in a rack, but none of the {len(racks)} racks of pools has more than {most}"
                    f" {kind.name} ({there}); write {most}"
                )
                found.append(_instance_type_problem(environment, index, "nodes_per_rack", text))
                environment = _with(environment, kind, nodes_per_rack=most)
    return found, environment


def scale(environment: Environment) -> Judged:
    """Report a ``scale`` that contradicts the racks and rollout groups of running pools."""
    found = []
    for index, kind in enumerate(environment.instance_types.instance_types):
        other = Scale.NODE if kind.scale is Scale.RACK else Scale.RACK
        before = _with(environment, kind, scale=other)
        why = _of_another_domain(environment, before, kind) or _beside_others(environment, kind)
        if why:
            text = f"is {kind.scale}, but {why}; write scale: {other}"
            found.append(_instance_type_problem(environment, index, "scale", text))
            environment = before
    return found, environment


def infiniband_ports(environment: Environment) -> Judged:
    """Report a number of ports by which running clusters require more GUIDs than they have, or none."""
    found: list[Problem] = []
    for index, kind in enumerate(environment.instance_types.instance_types):
        fitting = _fitting_ports(environment, kind)
        if fitting:
            names = list(fitting)
            need = "require more GUIDs than they have" if kind.infiniband_ports else "have GUIDs without ports"
            text = (
                f"with {kind.infiniband_ports} ports and {kind.dpu.virtual_functions} virtual functions each,"
                f" {listed(names, _MAX_NAMES)} {need} ({place(environment, ALLOCATIONS, ('clusters', names[0]))});"
                " restore both numbers (git diff shows them), or add another instance type for other hosts"
            )
            found.append(_instance_type_problem(environment, index, "infiniband_ports", text))
            environment = _with(environment, kind, infiniband_ports=min(fitting.values()))
    return found, environment


def spares(environment: Environment) -> Judged:
    """Report spares of the region that leave too few hosts for running nodes, if the lock file is as written."""
    short = _short(environment)
    if not short or any(edit.file == ALLOCATIONS for edit in locks.hand_edits(environment)):
        return [], environment
    none = environment.model_copy(update={"region": environment.region.model_copy(update={"spares": 0})})
    at = {(found.file, found.path) for found in attempt(environment).problems}
    at -= {(found.file, found.path) for found in attempt(none).problems}
    names = [
        one.key for one in short if any(one.file == file and path.startswith(dotted(one.path)) for file, path in at)
    ]
    if not names:
        return [], environment
    text = (
        f"{environment.region.spares} in each failure domain leave too few hosts for running nodes of"
        f" {listed(names, _MAX_NAMES)}; restore the previous value (git diff shows it), or make these pools smaller"
        " first"
    )
    return [problem(environment, REGION, ("spares",), text)], none


RULES: tuple[Callable[[Environment], Judged], ...] = (nodes_per_rack, scale, infiniband_ports, spares)
"""Rules about edits. Each gets the environment that the previous one returns."""


def rewind(environment: Environment) -> Judged:
    """Return edits of values that several pools share, and ``environment`` with the values from before them."""
    found: list[Problem] = []
    for rule in RULES:
        problems, environment = rule(environment)
        found += [named(rule, one) for one in problems]
    return found, environment


def _instance_type_problem(environment: Environment, index: int, key: str, text: str) -> Problem:
    return problem(environment, INSTANCE_TYPES, ("instance_types", index, key), text)


def _with(environment: Environment, kind: InstanceType, **values: Any) -> Environment:
    """Return ``environment`` with ``values`` set in instance type ``kind``."""
    catalog = environment.instance_types
    changed = kind.model_copy(update=values)
    kinds = tuple(changed if one.name == kind.name else one for one in catalog.instance_types)
    return environment.model_copy(update={"instance_types": catalog.model_copy(update={"instance_types": kinds})})


def _in_groups(environment: Environment, kind: str) -> int:
    """Return the number of hosts of ``kind`` in failure domains where their pool has a rollout group."""
    given, groups = environment.allocations.hosts, environment.allocations.groups
    return sum(
        group_key(given[host.host], environment.failure_domain(host)) in groups
        for host in environment.hosts
        if host.instance_type == kind and host.host in given
    )


def _is_astray(environment: Environment, row: HostSpec | None, name: str) -> bool:
    """Return whether the row of a pool's host is missing, or in a failure domain where its pool has no group."""
    lock = environment.allocations
    return row is None or group_key(lock.hosts[name], environment.failure_domain(row)) not in lock.groups


def _of_another_domain(environment: Environment, before: Environment, kind: InstanceType) -> str:
    """Return a message if nodes of ``kind`` would be recreated because more of them match the domains of ``before``.

    `node_pools.failure_domains` reports racks, if no other type is in groups of the region's kind of failure domain.
    """
    if environment.failure_domain_kind(kind.name) is before.failure_domain_kind(kind.name):
        return ""
    there = _in_groups(before, kind.name)
    if there <= _in_groups(environment, kind.name):
        return ""
    others = [one.name for one in environment.instance_types.instance_types if one.scale is Scale.NODE]
    if kind.scale is Scale.NODE and not any(_in_groups(environment, name) for name in others):
        return ""
    hosts = environment.allocations.hosts
    given = (host for host in environment.hosts if host.instance_type == kind.name and host.host in hosts)
    holders = {hosts[host.host] for host in given}
    return (
        f"{there} hosts of {kind.name} are in groups by {before.failure_domain_kind(kind.name)}"
        f" ({first_group(environment, holders)}), whose nodes would all be recreated"
    )


def _beside_others(environment: Environment, kind: InstanceType) -> str:
    """Return a message if a rack of rack-scale type ``kind`` has hosts of another type in the lock file too."""
    racks: dict[str, dict[str, HostSpec]] = defaultdict(dict)
    for host in environment.hosts if kind.scale is Scale.RACK else ():
        if host.host in environment.allocations.hosts:
            racks[host.rack].setdefault(host.instance_type, host)
    for rack, hosts in racks.items():
        if kind.name in hosts and len(hosts) > 1:
            other = next(host for name, host in hosts.items() if name != kind.name)
            there = place(environment, inventory_file(other.hall), (other.host,))
            return f"rack {rack} of {kind.name} also has {other.instance_type} ({there})"
    return ""


def _is_resized(environment: Environment, placed: PlacedCluster) -> bool:
    """Return whether a pool of a cluster requests another number of nodes, or of most nodes, than the lock file has."""
    groups = environment.allocations.groups_by_pool
    for pool in placed.cluster.pools:
        mine = groups.get(pool_key(placed.cluster.name, pool.name), {}).values()
        sizes = sum(group.nodes for group in mine), sum(group.most_nodes for group in mine)
        if mine and sizes != (wanted_nodes(environment, pool), most_nodes(environment, pool)):
            return True
    return False


def _fitting_ports(environment: Environment, kind: InstanceType) -> dict[str, int]:
    """Return the number of ports that the GUIDs of each running cluster suffice for, if it differs from the data.

    Only for clusters whose nodes with InfiniBand (or else with GPUs) all have type ``kind``, in the number that runs.
    """
    found, nodes = {}, running_nodes(environment)
    for placed in clusters(environment):
        name = placed.cluster.name
        given = environment.allocations.clusters.get(name)
        if given and given.guids and nodes["clusters", name] and not _is_resized(environment, placed):
            functions = _functions(environment, placed)
            has = min(numbers.last - numbers.first + 1 for numbers in given.guids.values())
            each = functions[kind.name]
            if [*functions] == [kind.name] and (not kind.infiniband_ports or each * kind.infiniband_ports > has):
                found[name] = max(1, has // each)
    return found


def _functions(environment: Environment, placed: PlacedCluster) -> Counter[str]:
    """Return the virtual functions of one port by instance type, for the types of a cluster that have InfiniBand.

    If no type has any: for types with GPUs and adapters, which may have lost their ports by an edit.
    """
    kinds = environment.instance_types.by_name
    mine = [(pool, kinds[pool.instance_type]) for pool in placed.cluster.pools if pool.instance_type in kinds]
    connected = [one for one in mine if one[1].infiniband_ports] or [one for one in mine if one[1].gpu and one[1].nics]
    found = Counter[str]()
    for pool, kind in connected:
        found[kind.name] += most_nodes(environment, pool) * kind.dpu.virtual_functions
    return found


def _short(environment: Environment) -> list[PlacedPool]:
    """Return pools with their wanted nodes on all their previous hosts, but fewer spares than the region requests."""
    rows = {host.host: host for host in environment.hosts}
    held, gone, needed = Counter[str](), set[str](), Counter[str]()
    for name, key in environment.allocations.hosts.items():
        held[key] += 1
        gone |= {key} if _is_astray(environment, rows.get(name), name) else set()
    for group, size in environment.allocations.groups.items():
        needed[pool_of(group)] += size.most_nodes + spares_for(size.most_nodes, environment.region.spares)
    runs = running_by_pool(environment)
    return [
        placed
        for placed in pools(environment)
        if placed.pool.spares is None and placed.key not in gone and held[placed.key] < needed[placed.key]
        if runs[placed.key] == wanted_nodes(environment, placed.pool)
    ]
