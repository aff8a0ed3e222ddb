"""Matches waivers with violations, by rule and subject."""

from collections.abc import Iterator, Sequence

from components.render import labels as keys
from components.specs.keys import pool_key
from components.specs.region.policy import WaiverSpec, longest_waiver
from policies.facts import PROVIDER, REFERENCE, RESOURCE, STACK, WAIVER, Fact, Unknown

HOSTS = frozenset({"BareMetalHost", "BMC"})
"""Kinds whose objects represent a host of the inventory and have the host's name."""


def subjects(fact: Fact) -> list[str]:
    """Return the waiver subjects that match ``fact``, widest first; empty if the name of the object is unknown.

    A subject is the tenant of a stack, a host, a pool as ``cluster/pool``, or an object as ``Kind namespace/name``.
    """
    return list(_subjects(fact))


def _subjects(fact: Fact) -> Iterator[str]:
    if isinstance(fact.kind, Unknown):
        return
    if fact.kind == STACK:
        yield str(fact.body.get("tenant") or "shared")
        return
    if fact.kind in {PROVIDER, REFERENCE, RESOURCE, WAIVER}:
        yield fact.title
        return
    name, namespace = fact.at("metadata", "name"), fact.at("metadata", "namespace")
    pool = fact.at("metadata", "labels", keys.POOL)
    if isinstance(namespace, Unknown) or not isinstance(name, str):
        return
    if fact.kind in HOSTS:
        yield name
    elif isinstance(pool, str) and namespace:
        yield pool_key(namespace, pool)
    yield f"{fact.kind} {f'{namespace}/' if namespace else ''}{name}"


def waiver_of(rule: str, fact: Fact, waivers: Sequence[WaiverSpec]) -> WaiverSpec | None:
    """Return the matching waiver of ``rule`` for ``fact`` with the latest expiry, including expired waivers."""
    return longest_waiver(waivers, rule, subjects(fact))
