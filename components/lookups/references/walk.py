"""Search for prerequisites: targets of references that are neither rendered nor created by a controller."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from components.lookups.effects.table import steps
from components.lookups.references.table import BESIDE, Row, Table, Where
from components.render.manifest import Manifest
from components.specs.struct import Struct

_PLACE = re.compile(r"\{([^{}]*)\}")
_VALUE = "{}"
_BESIDE = "./"
_NOTHING = (None, "", False)
_KUBECONFIG = "-kubeconfig"
"""Suffix of the name of a cluster's kubeconfig Secret; the prefix is the name of the cluster."""
_REACHED_BY = ("spec.kubeConfig.secretRef.name", "spec.provider.kubernetes.authRef.name")
"""Paths of fields that refer to the kubeconfig Secret of a cluster."""
_NO_KEYS = frozenset[str]()
_IN_NAMESPACE = Row(to="Namespace", source="K8S:concepts/overview/working-with-objects/namespaces")


class Target(Struct, kw_only=False):
    """Target of a reference."""

    kind: str
    """Kind as written in the table. Resources outside API servers begin with a lower-case letter."""
    cluster: str
    """Empty for resources outside API servers."""
    namespace: str
    """Empty for cluster-scoped kinds and for resources outside API servers."""
    name: str

    @property
    def is_object(self) -> bool:
        """Return whether the target is an object of an API server."""
        return self.kind.rpartition("/")[2][:1].isupper()

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


@dataclass(slots=True)
class MissingTarget:
    """Prerequisite: a referenced target that is neither rendered nor created by a controller."""

    target: Target
    form: str | None
    """Form of prerequisite; None if the table does not list the target as a prerequisite."""
    keys: set[str] = field(default_factory=set)
    needed_by: Counter[str] = field(default_factory=Counter)
    """Number of referring objects, by kind."""
    first: str = ""
    """First referring object."""
    source: str = ""
    """Source of the first matching row."""


def missing_targets(
    items: Iterable[Manifest], table: Table, others: Iterable[Manifest] = ()
) -> dict[Target, MissingTarget]:
    """Return the targets of references in ``items`` that ``items``, ``others`` and controllers do not provide."""
    mine = tuple(items)
    named = [(item, *reference) for item in mine for reference in references(item, table)]
    kinds = {target.kind for _, target, _, _ in named} | table.makes.keys()
    there = {target for item in (*mine, *others) if kind_of(item) in kinds for target in made(item, table)}
    missing: dict[Target, MissingTarget] = {}
    for item, target, row, keys in named:
        if target in there or f"{target.kind} {target.name}" in table.always:
            continue
        if target not in missing:
            missing[target] = MissingTarget(target, row.form, first=_named(item), source=row.source)
        prerequisite = missing[target]
        prerequisite.form = prerequisite.form or row.form
        prerequisite.keys |= keys
        prerequisite.needed_by[item.kind] += 1
    return missing


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
    """Yield ``item`` itself, and the objects that controllers create for it."""
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
    """Yield the values at ``path`` of ``value``, each with the innermost mapping that contains the value."""
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
        for entry in value.values():
            yield from _at(entry, path[1:], value)
    elif path[0] == "*" and isinstance(value, list | tuple):
        for entry in value:
            yield from _at(entry, path[1:], beside)


def matching(item: Manifest, row: Row) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each value of ``item`` that ``row`` applies to, with the innermost mapping that contains the value."""
    if any(_first(item, path) != value for path, value in row.only.items()):
        return
    if row.unless is not None and _first(item, row.unless) is not None:
        return
    for path in row.fields:
        for value, beside in look_up(item.body, path):
            match = None if value in _NOTHING else _pattern(row.value).fullmatch(str(value))
            if match and all(_fits(beside, key, wanted) for key, wanted in row.beside.items()):
                yield match[1], beside


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
    """Return the value of the placeholder ``{place}`` in a name."""
    if not place:
        return value
    values = look_up(beside, place.removeprefix(_BESIDE)) if place.startswith(_BESIDE) else look_up(item.body, place)
    return str(next((entry for entry, _ in values), ""))


def _cluster(item: Manifest, where: Where) -> str:
    if where is Where.NAMED:
        return item.namespace or item.cluster
    secrets = (_first(item, path) for path in _REACHED_BY) if where is Where.REMOTE else ()
    return next((str(secret).removesuffix(_KUBECONFIG) for secret in secrets if secret is not None), item.cluster)


def _named(item: Manifest) -> str:
    return f"{item.kind} {item.namespace}/{item.name}" if item.namespace else f"{item.kind} {item.name}"
