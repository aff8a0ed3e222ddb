"""Changes between two sets of rendered objects, with their effects.

Objects are compared as a whole before their fields, because most of the 27,000 objects of a region are unchanged.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from components.lookups.effects.effect import Effect, worst_of
from components.lookups.effects.table import (
    CREATED,
    DELETED,
    PROTECTED,
    RETAINED,
    Row,
    Steps,
    Table,
    effects_table,
    spelt,
)
from components.render.manifest import Manifest
from components.specs.struct import Struct

_Identity: TypeAlias = tuple[str, str, str | None, str]
_ABSENT = object()
"""Placeholder for the value of a field that exists only before or only after the change."""
ROLLOUT_GROUP = "cluster.x-k8s.io/MachineDeployment"
"""Kind that represents a rollout group."""


class Change(Struct):
    """A changed field of an object, or a created or deleted object."""

    manifest: Manifest
    """The object after the change, or before it if it is deleted."""
    path: str
    """The field, or ``created``, ``deleted``, ``retained`` or ``protected`` for a whole object."""
    old: Any = None
    """The former value of the field; None if it had none."""
    new: Any = None
    effect: Effect
    row: Row | None
    """The row of the table with reason and source; None if there is none."""

    @property
    def kind(self) -> str:
        """Return the kind of the object as written in the table."""
        return kind_of(self.manifest)


def kind_of(manifest: Manifest) -> str:
    """Return the kind of an object as written in the table: ``<API group>/<Kind>``."""
    group, _, _ = manifest.api_version.rpartition("/")
    return f"{group}/{manifest.kind}" if group else manifest.kind


def changes(before: Iterable[Manifest], after: Iterable[Manifest], table: Table | None = None) -> Iterator[Change]:
    """Yield each change from ``before`` to ``after``, in the order of ``after``, deletions last.

    An object keeps its identity under another version of its API; ``apiVersion`` is then a changed field.
    """
    table = table or effects_table()
    old = {_identity(item): item for item in before}
    for item in after:
        was = old.pop(_identity(item), None)
        if was is None:
            yield _whole(item, CREATED, table)
        elif was.body is not item.body and was.body != item.body:
            yield from _within(was, item, table)
    for item in old.values():
        yield _whole(item, PROTECTED if item.protect else RETAINED if item.retain else DELETED, table)


def worst(changes: Iterable[Change]) -> Effect:
    """Return the worst effect of ``changes``."""
    return worst_of(change.effect for change in changes)


def _identity(manifest: Manifest) -> _Identity:
    return manifest.cluster, kind_of(manifest), manifest.namespace, manifest.name


def _whole(manifest: Manifest, what: str, table: Table) -> Change:
    row = table.row(kind_of(manifest), (what,))
    return Change(manifest=manifest, path=what, effect=row.effect if row else Effect.UNKNOWN, row=row)


def _within(before: Manifest, after: Manifest, table: Table) -> Iterator[Change]:
    kind = kind_of(after)
    for path, old, new in differences(before.body, after.body):
        row = table.row(kind, path)
        effect = row.effect_of(old, new) if row else Effect.UNKNOWN
        yield Change(manifest=after, path=spelt(path), old=old, new=new, effect=effect, row=row)


def differences(old: Any, new: Any, path: Steps = ()) -> Iterator[tuple[Steps, Any, Any]]:
    """Yield the differing values of two objects with their paths, down to the leaf values.

    Entries of a list are matched by name if all have one, else by position.
    """
    if old == new:
        return
    was, will = _below(old, new), _below(new, old)
    if was is None or will is None or not (was or will) or (was == will):
        yield path, None if old is _ABSENT else old, None if new is _ABSENT else new
        return
    for step in dict.fromkeys((*was, *will)):
        yield from differences(was.get(step, _ABSENT), will.get(step, _ABSENT), (*path, step))


def _below(value: Any, other: Any) -> Mapping[Any, Any] | None:
    """Return the nested values of ``value`` by key, name or position; None for a scalar or a list of texts."""
    if value is _ABSENT:
        return {} if isinstance(other, Mapping) or _is_of_objects(other) else None
    if isinstance(value, Mapping):
        return value
    if not _is_of_objects(value):
        return {} if value == [] and _is_of_objects(other) else None
    return _by_name(value) if _is_named(value) and (not _is_of_objects(other) or _is_named(other)) else _by_place(value)


def _is_of_objects(value: Any) -> bool:
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and any(isinstance(entry, Mapping) for entry in value)
    )


def _is_named(entries: Sequence[Any]) -> bool:
    names = [entry.get("name") for entry in entries if isinstance(entry, Mapping)]
    return all(isinstance(name, str) for name in names) and len(set(names)) == len(entries)


def _by_name(entries: Sequence[Any]) -> Mapping[Any, Any]:
    return {entry["name"]: entry for entry in entries}


def _by_place(entries: Sequence[Any]) -> Mapping[Any, Any]:
    return dict(enumerate(entries))
