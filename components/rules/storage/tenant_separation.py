"""What keeps tenants apart on a storage system: logins, view policies and exports that no two have in common."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import PurePosixPath

from components.lookups.pools import place, problem
from components.rules.storage.storage import offered
from components.specs.environment import Environment
from components.specs.reading.loader import REGION, WAIVERS
from components.specs.reading.problems import Problem, listed
from components.specs.storage.storage import TENANT, NfsClassSpec, VastClassSpec

AREA = "storage-walls"
"""First part of the names of these rules, as waivers and reports write them."""

_MAX_TENANTS_SHOWN = 5
_Wall = tuple[str, str, str]
"""Storage system, field and value."""


def between_tenants(environment: Environment) -> Iterator[Problem]:
    """Report a login, a view policy or an export that two tenants have in common, or that holds another's.

    What decides is what clusters offer: a class that one tenant alone offers may name anything.
    """
    uses = list(_uses(environment))
    tenants: dict[_Wall, set[str]] = defaultdict(set)
    classes: dict[_Wall, set[int]] = defaultdict(set)
    for tenant, index, wall in uses:
        tenants[wall].add(tenant)
        classes[wall].add(index)
    held: dict[_Wall, tuple[set[str], set[int]]] = {}
    for tenant, index, (system, key, value) in uses:
        for holder in ((system, key, one) for one in _holders(value) if (system, key, one) in tenants):
            if tenants[holder] != {tenant}:
                who, where = held.setdefault(holder, (set(tenants[holder]), set(classes[holder])))
                who.add(tenant)
                where.add(index)
    for (_, key, value), (who, where) in held.items():
        yield _in_common(environment, key, value, sorted(who), sorted(where))


def _in_common(environment: Environment, key: str, value: str, tenants: list[str], classes: list[int]) -> Problem:
    """Return what is said of the last of ``classes``; the others are named with their lines."""
    *others, index = classes
    entry, lines = environment.region.storage[index], [("storage", one, key) for one in others]
    mine = str(getattr(entry, key))
    own = f"{mine.rstrip('/')}/{TENANT}" if mine.startswith("/") else f"{mine}-{TENANT}"
    beside = f" ({listed(place(environment, REGION, line) for line in lines)} too)" if lines else ""
    text = (
        f"'{value}' would be one for tenants {listed(tenants, _MAX_TENANTS_SHOWN)}{beside}, so that each reaches the"
        f" others' volumes; write {own if TENANT not in mine else 'another'}, or a waiver in {WAIVERS} for {entry.name}"
    )
    return problem(environment, REGION, ("storage", index, key), text, entry.name)


def _uses(environment: Environment) -> Iterator[tuple[str, int, _Wall]]:
    """Yield each wall of each tenant once, with the place of its class in the region's list."""
    places = {entry.name: index for index, entry in enumerate(environment.region.storage)}
    pairs = {(placed.tenant.tenant, entry.name): entry for placed, _, entry in offered(environment)}
    for (tenant, name), entry in pairs.items():
        if isinstance(entry, NfsClassSpec | VastClassSpec):
            own = entry.of_tenant(tenant)
            yield from ((tenant, places[name], (own.system, key, _plain(getattr(own, key)))) for key in own.WALLS)


def _plain(value: str) -> str:
    """Return ``value``, of a path the one form that all spellings come to."""
    return "/" + "/".join(filter(None, value.split("/"))) if value.startswith("/") else value


def _holders(value: str) -> Iterator[str]:
    """Yield ``value`` and, of a path, all that hold it."""
    yield value
    if value.startswith("/"):
        yield from map(str, PurePosixPath(value).parents)
