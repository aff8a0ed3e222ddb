"""Objects of a stack by key and by pool, for stack-wide policies."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from components.render import labels
from policies.facts import UNKNOWN, Fact, Unknown

_Value = TypeVar("_Value")
ObjectKey: TypeAlias = tuple[str, str, str, str, str]
"""Cluster, API group, kind, namespace and name of an object; empty without a namespace."""
PoolKey: TypeAlias = tuple[str, str, str, str]
"""Cluster, kind and namespace of an object, and the name of its pool."""


@dataclass(frozen=True, slots=True)
class StackObjects:
    """Objects of a stack. Objects with an unknown name, and objects without a name, have no key."""

    by_key: Mapping[ObjectKey, tuple[Fact, ...]]
    by_pool: Mapping[PoolKey, tuple[Fact, ...]]
    _keys: Mapping[int, tuple[Fact, ObjectKey | Unknown | None]]
    """Facts with their keys, by identity."""
    _computed: dict[Hashable, Any] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, facts: Iterable[Fact]) -> "StackObjects":
        """Return the index of ``facts``."""
        keys = {id(fact): (fact, object_key(fact)) for fact in facts}
        by_key: dict[ObjectKey, list[Fact]] = defaultdict(list)
        by_pool: dict[PoolKey, list[Fact]] = defaultdict(list)
        for fact, key in keys.values():
            if isinstance(key, tuple):
                by_key[key].append(fact)
            if isinstance(pool := pool_of(fact), tuple):
                by_pool[pool].append(fact)
        return cls(
            {key: tuple(items) for key, items in by_key.items()},
            {key: tuple(items) for key, items in by_pool.items()},
            keys,
        )

    def key(self, fact: Fact) -> ObjectKey | Unknown | None:
        """Return the result of `object_key`, which is computed once for each object of the stack."""
        known = self._keys.get(id(fact))
        return object_key(fact) if known is None else known[1]

    def once(self, key: Hashable, compute: Callable[[], _Value]) -> _Value:
        """Return the result of ``compute``, which only the first call with ``key`` runs.

        A rule that compares each object of a pool with the whole pool passes its name and the pool as the key.
        """
        if key not in self._computed:
            self._computed[key] = compute()
        value: _Value = self._computed[key]
        return value

    def referenced(self, fact: Fact, reference: Mapping[str, Any]) -> Fact | None:
        """Return the object in the cluster of ``fact`` to which ``reference`` refers; None if the stack lacks it."""
        group = reference.get("apiGroup") or group_of(reference.get("apiVersion"))
        namespace = reference.get("namespace") or fact.at("metadata", "namespace") or ""
        key = (fact.cluster, str(group), str(reference.get("kind")), str(namespace), str(reference.get("name")))
        return next(iter(self.by_key.get(key, ())), None)


def object_key(fact: Fact) -> ObjectKey | Unknown | None:
    """Return the key of the object; UNKNOWN if a part of the key is unknown, None if its name is generated."""
    api_version, metadata = fact.at("apiVersion"), fact.at("metadata")
    if isinstance(fact.kind, Unknown) or metadata is UNKNOWN:
        return UNKNOWN
    namespace, name = (metadata.get("namespace"), metadata.get("name")) if metadata else (None, None)
    if UNKNOWN in (api_version, namespace, name):
        return UNKNOWN
    return (fact.cluster, group_of(api_version), fact.kind, str(namespace or ""), str(name)) if name else None


def pool_of(fact: Fact) -> PoolKey | Unknown | None:
    """Return the key of the pool in the labels of the object; UNKNOWN if unknown, None without the label."""
    pool = fact.at("metadata", "labels", labels.POOL)
    if pool is None:
        return None
    namespace = fact.at("metadata", "namespace")
    if isinstance(fact.kind, Unknown) or UNKNOWN in (namespace, pool):
        return UNKNOWN
    return (fact.cluster, fact.kind, str(namespace or ""), str(pool)) if pool else None


def group_of(api_version: Any) -> str:
    """Return the API group of ``api_version``; empty for the core group."""
    return str(api_version or "").rpartition("/")[0]
