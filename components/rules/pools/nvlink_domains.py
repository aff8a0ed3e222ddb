"""Rule about NVLink domains of several nodes: one tenant per domain, because NVLink has no isolation."""

from collections import defaultdict
from collections.abc import Iterator

from components.lookups.pools import PlacedPool, pools, problem
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.keys import parts_of, pool_of
from components.specs.reading.loader import WAIVERS
from components.specs.reading.problems import Problem, listed

_MAX_SHOWN = 3


def one_tenant(environment: Environment) -> Iterator[Problem]:
    """Report pools sized in nodes that share an NVLink domain with another tenant."""
    domains = _domains(environment)
    first: dict[str, str] = {}
    for placed in pools(environment):
        mine = domains.get(placed.key, [])
        shared = [name for name in mine if first.setdefault(name, placed.tenant.tenant) != placed.tenant.tenant]
        if shared and placed.pool.racks is None:
            yield _shared(environment, placed, shared, sorted({first[name] for name in shared}))


def _domains(environment: Environment) -> dict[str, list[str]]:
    """Return the NVLink domains with nodes of each pool, by pool, from the lock file."""
    kinds = environment.instance_types.by_name
    spanning = {
        placed.key
        for placed in pools(environment)
        if (kind := kinds.get(placed.pool.instance_type)) and kind.spans_nodes
    }
    domains: dict[str, list[str]] = defaultdict(list)
    for group in environment.allocations.groups:
        if pool_of(group) in spanning:
            domains[pool_of(group)].append(parts_of(group)[2])
    return domains


def _shared(environment: Environment, placed: PlacedPool, shared: list[str], tenants: list[str]) -> Problem:
    each = environment.instance_types.by_name[placed.pool.instance_type].nodes_per_rack
    racks = -(-(placed.pool.nodes or 1) // each)
    text = (
        f"{listed(shared, _MAX_SHOWN)} are NVLink domains where {listed(tenants)} has nodes too, without isolation"
        f" between GPU memory of tenants; write racks: {racks} instead, or add a waiver for {placed.key} to {WAIVERS}"
    )
    return problem(environment, placed.file, (*placed.path, "nodes"), text, placed.key)


RULES = Rules(locks=(one_tenant,), waivable=(one_tenant,))
