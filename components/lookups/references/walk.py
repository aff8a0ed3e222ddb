"""Search for prerequisites: references of objects to targets that nothing renders or creates."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from components.lookups.effects.table import steps
from components.lookups.references.table import BESIDE, Row, Table, Where
from components.render.manifest import Manifest

_PLACE = re.compile(r"\{([^{}]*)\}")
_VALUE = "{}"
_BESIDE = "./"
_NOTHING = (None, "", False)
_KUBECONFIG = "-kubeconfig"
"""Suffix of the name of a cluster's kubeconfig Secret, after the cluster's name."""
_REACHED_BY = ("spec.kubeConfig.secretRef.name", "spec.provider.kubernetes.authRef.name")
"""Paths at which kinds refer to that Secret."""
_NO_KEYS = frozenset[str]()
_IN_NAMESPACE = Row(to="Namespace", source="K8S:concepts/overview/working-with-objects/namespaces")


@dataclass(frozen=True, slots=True)
class Target:
    """Target of a reference."""

    kind: str
    """The kind as written in the table; a thing outside API servers begins with a lower-case letter."""
    cluster: str
    """Empty for a thing."""
    namespace: str
    """Empty for cluster-scoped kinds and things."""
    name: str

    @property
    def is_object(self) -> bool:
        """Return whether the target is an object of an API server."""
        return self.kind.rpartition("/")[2][:1].isupper()

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


@dataclass(slots=True)
class Given:
    """A prerequisite: referenced, but neither rendered nor created by a controller."""

    target: Target
    form: str | None
    """The form in the table; None if the table does not list it as a prerequisite."""
    keys: set[str] = field(default_factory=set)
    needed_by: Counter[str] = field(default_factory=Counter)
    """Number of objects that refer to it, by their kind."""
    first: str = ""
    """The first of these objects."""
    source: str = ""
    """Source of the first row with the reference."""


def given(items: Iterable[Manifest], table: Table, others: Iterable[Manifest] = ()) -> dict[Target, Given]:
    """Return targets that ``items`` refer to and that neither they, ``others`` nor controllers provide."""
    mine = tuple(items)
    named = [(item, *one) for item in mine for one in references(item, table)]
    kinds = {target.kind for _, target, _, _ in named} | table.makes.keys()
    there = {target for item in (*mine, *others) if kind_of(item) in kinds for target in made(item, table)}
    found: dict[Target, Given] = {}
    for item, target, row, keys in named:
        if target in there or f"{target.kind} {target.name}" in table.always:
            continue
        if target not in found:
            found[target] = Given(target, row.form, first=_named(item), source=row.source)
        one = found[target]
        one.form = one.form or row.form
        one.keys |= keys
        one.needed_by[item.kind] += 1
    return found


def references(item: Manifest, table: Table) -> Iterator[tuple[Target, Row, frozenset[str]]]:
    """Yield the targets that ``item`` refers to, with the row of the table and the required keys."""
    if item.namespace:
        yield _namespace(item.cluster, item.namespace), _IN_NAMESPACE, _NO_KEYS
    for row in table.refers.get(kind_of(item), ()):
        for value, beside in matching(item, row):
            further = look_up(beside, row.keys_beside) if row.keys_beside else ()
            keys = _NO_KEYS.union(row.keys, (str(key) for key, _ in further))
            yield _target(item, row, value, beside, table), row, keys


def made(item: Manifest, table: Table) -> Iterator[Target]:
    """Yield the object itself, and the objects that controllers create for it."""
    kind = kind_of(item)
    yield Target(kind, item.cluster, item.namespace or "", item.name)
    for row in table.makes.get(kind, ()):
        for value, beside in matching(item, row):
            yield _target(item, row, value, beside, table)


def kind_of(item: Manifest) -> str:
    """Return the kind of ``item`` as written in the table."""
    return _kind(item.api_version, item.kind)


@cache
def _kind(api_version: str, kind: str) -> str:
    return spelt(api_version.rpartition("/")[0], kind)


@cache
def _namespace(cluster: str, name: str) -> Target:
    return Target("Namespace", cluster, "", name)


def spelt(group: str, kind: str) -> str:
    """Return a kind as written in the table."""
    return f"{group}/{kind}" if group else kind


def look_up(value: Any, path: str) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    """Yield the values at ``path`` of ``value``, each with the mapping that contains it or its list."""
    yield from _at(value, _steps(path), {})


@cache
def _steps(path: str) -> tuple[str, ...]:
    return steps(path)


def _at(value: Any, path: tuple[str, ...], beside: Mapping[str, Any]) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    while path and path[0] != "*" and isinstance(value, Mapping):
        if path[0] not in value:
            return
        value, beside, path = value[path[0]], value, path[1:]
    if not path:
        yield value, beside
        return
    if path[0] == "*" and isinstance(value, Mapping):
        for one in value.values():
            yield from _at(one, path[1:], value)
    elif path[0] == "*" and isinstance(value, list | tuple):
        for one in value:
            yield from _at(one, path[1:], beside)


def matching(item: Manifest, row: Row) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each value of ``item`` that ``row`` applies to, with the mapping that contains it."""
    if any(_first(item, path) != value for path, value in row.only.items()):
        return
    if row.unless is not None and _first(item, row.unless) is not None:
        return
    for path in row.fields:
        for value, beside in look_up(item.body, path):
            found = None if value in _NOTHING else _pattern(row.value).fullmatch(str(value))
            if found and all(_fits(beside, key, wanted) for key, wanted in row.beside.items()):
                yield found[1], beside


def _fits(beside: Mapping[str, Any], key: str, wanted: str) -> bool:
    return _pattern(wanted).fullmatch(str(beside.get(key, ""))) is not None


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.DOTALL)


def _first(item: Manifest, path: str) -> Any:
    return next((value for value, _ in look_up(item.body, path)), None)


def _target(item: Manifest, row: Row, value: str, beside: Mapping[str, Any], table: Table) -> Target:
    def filled(text: str) -> str:
        return value if text == _VALUE else _PLACE.sub(lambda place: _at_place(place[1], item, value, beside), text)

    kind = row.to
    if kind == BESIDE:
        group = beside.get("apiGroup") or str(beside.get("apiVersion", "")).rpartition("/")[0]
        kind = spelt(group, beside["kind"])
    target = Target(kind, "", "", filled(row.name))
    if not target.is_object:
        return target
    namespace = "" if kind in table.cluster_wide else item.namespace or ""
    if row.namespace is not None:
        namespace = filled(row.namespace)
    if row.namespace_beside is not None:
        namespace = str(beside.get(row.namespace_beside, namespace))
    return Target(kind, _cluster(item, row.where), namespace, target.name)


def _at_place(place: str, item: Manifest, value: str, beside: Mapping[str, Any]) -> str:
    """Return the value of ``{place}`` in a name."""
    if not place:
        return value
    found = look_up(beside, place.removeprefix(_BESIDE)) if place.startswith(_BESIDE) else look_up(item.body, place)
    return str(next((one for one, _ in found), ""))


def _cluster(item: Manifest, where: Where) -> str:
    if where is Where.NAMED:
        return item.namespace or item.cluster
    secrets = (_first(item, path) for path in _REACHED_BY) if where is Where.REMOTE else ()
    return next((str(one).removesuffix(_KUBECONFIG) for one in secrets if one is not None), item.cluster)


def _named(item: Manifest) -> str:
    return f"{item.kind} {item.namespace}/{item.name}" if item.namespace else f"{item.kind} {item.name}"
