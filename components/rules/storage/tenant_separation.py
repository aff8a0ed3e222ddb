"""Rule about tenant isolation on storage systems: separate logins, view policies and exports."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import PurePosixPath

from components.lookups.pools import place, problem
from components.rules.rule import Rules
from components.rules.storage.storage import offered
from components.specs.environment import Environment
from components.specs.reading.loader import REGION, WAIVERS
from components.specs.reading.problems import Problem, listed
from components.specs.storage.storage_class import TENANT

AREA = "storage-walls"
"""Prefix of the names of these rules in waivers and reports."""

_MAX_TENANTS_SHOWN = 5
_Wall = tuple[str, str, str]
"""Storage system, field and value."""


def between_tenants(environment: Environment) -> Iterator[Problem]:
    """Report logins, view policies and exports that two tenants share, and exports inside another tenant's export.

    Only storage classes that clusters offer are checked. Classes of a single tenant may share any value.
    """
    uses = list(_uses(environment))
    tenants: dict[_Wall, set[str]] = defaultdict(set)
    classes: dict[_Wall, set[int]] = defaultdict(set)
    for tenant, index, wall in uses:
        tenants[wall].add(tenant)
        classes[wall].add(index)
    users: dict[_Wall, tuple[set[str], set[int]]] = {}
    for tenant, index, (system, key, value) in uses:
        for holder in ((system, key, holder) for holder in _holders(value) if (system, key, holder) in tenants):
            if tenants[holder] != {tenant}:
                who, where = users.setdefault(holder, (set(tenants[holder]), set(classes[holder])))
                who.add(tenant)
                where.add(index)
    for (_, key, value), (who, where) in users.items():
        yield _in_common(environment, key, value, sorted(who), sorted(where))


def _in_common(environment: Environment, key: str, value: str, tenants: list[str], classes: list[int]) -> Problem:
    """Return the problem at the last of ``classes``; the message lists the lines of the others."""
    *others, index = classes
    entry, lines = environment.region.storage[index], [("storage", other, key) for other in others]
    mine = str(getattr(entry, key))
    own = f"{mine.rstrip('/')}/{TENANT}" if mine.startswith("/") else f"{mine}-{TENANT}"
    beside = f" ({listed(place(environment, REGION, line) for line in lines)} too)" if lines else ""
    text = (
        f"'{value}' would be shared by tenants {listed(tenants, _MAX_TENANTS_SHOWN)}{beside}, who could access each"
        f" other's volumes; write {own if TENANT not in mine else 'another'}, or add a waiver for {entry.name} to"
        f" {WAIVERS}"
    )
    return problem(environment, REGION, ("storage", index, key), text, entry.name)


def _uses(environment: Environment) -> Iterator[tuple[str, int, _Wall]]:
    """Yield each isolation value of each tenant once, with the index of its storage class in the region's list."""
    places = {entry.name: index for index, entry in enumerate(environment.region.storage)}
    pairs = {(placed.tenant.tenant, entry.name): entry for placed, _, entry in offered(environment)}
    for (tenant, name), entry in pairs.items():
        own = entry.of_tenant(tenant)
        yield from ((tenant, places[name], (own.system, key, _plain(getattr(own, key)))) for key in own.ISOLATION)


def _plain(value: str) -> str:
    """Return ``value``; a path is normalised."""
    return "/" + "/".join(filter(None, value.split("/"))) if value.startswith("/") else value


def _holders(value: str) -> Iterator[str]:
    """Yield ``value`` and, for a path, all its parents."""
    yield value
    if value.startswith("/"):
        yield from map(str, PurePosixPath(value).parents)


RULES = Rules(data=(between_tenants,), waivable=(between_tenants,))
