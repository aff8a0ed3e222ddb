"""Which waiver covers an offence: the same rule, and a subject that the offending object has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from components.render import labels as keys
from components.specs.keys import pool_key
from components.specs.region.policy import WaiverSpec, longest_waiver
from policies.facts import PROVIDER, STACK, Fact, Unknown

HOSTS = frozenset({"BareMetalHost", "BMC"})
"""Kinds of which an object is a host of the inventory, by the host's name."""


def subjects(fact: Fact) -> list[str]:
    """Return what a waiver may call ``fact``, the widest first; nothing while its name is unknown.

    A tenant for what a stack applies, a host, a pool as ``cluster/pool``, or an object as ``Kind namespace/name``.
    """
    return list(_subjects(fact))


def _subjects(fact: Fact) -> Iterator[str]:
    if isinstance(fact.kind, Unknown):
        return
    if fact.kind == STACK:
        yield str(fact.body.get("tenant") or "shared")
        return
    if fact.kind == PROVIDER:
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
    """Return the waiver that covers an offence of ``fact`` against ``rule`` the longest, also one that has expired."""
    return longest_waiver(waivers, rule, subjects(fact))
