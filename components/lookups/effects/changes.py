"""What changes between two sets of rendered objects, and what each change does.

Pure, and quick where nothing changes: the 27,000 objects of a region are compared whole before any is looked into.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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

_Identity: TypeAlias = tuple[str, str, str | None, str]
_ABSENT = object()
"""What stands for the value of a field on the side that has no such field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One field of one object that becomes another, or an object that comes or goes."""

    manifest: Manifest
    """The object as it becomes, or as it was if it goes."""
    path: str
    """The field, or ``created``, ``deleted``, ``retained`` or ``protected`` for a whole object."""
    old: Any = None
    """The former value of the field; None if it had none."""
    new: Any = None
    effect: Effect
    row: Row | None
    """What the table says about it, with the reason and the source; None if it says nothing."""

    @property
    def kind(self) -> str:
        """Return the kind of the object as the table spells it."""
        return kind_of(self.manifest)


def kind_of(manifest: Manifest) -> str:
    """Return the kind of an object as the table spells it: ``<API group>/<Kind>``."""
    group, _, _ = manifest.api_version.rpartition("/")
    return f"{group}/{manifest.kind}" if group else manifest.kind


def changes(before: Iterable[Manifest], after: Iterable[Manifest], table: Table | None = None) -> Iterator[Change]:
    """Yield each change that makes ``after`` of ``before``, in the order of ``after``, and last what goes.

    An object keeps its identity under another version of its API; ``apiVersion`` is then a field that changes.
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
    """Return the worst that some changes do."""
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
    """Yield the values of two objects that differ with their paths, down to what has nothing below it on either side.

    Entries of a list are told apart by their names, if all have one, else by their places.
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
    """Return what is inside ``value`` by key, by name or by place; None if it is one value, as a list of texts is."""
    if value is _ABSENT:
        return {} if isinstance(other, Mapping) or _is_of_objects(other) else None
    if isinstance(value, Mapping):
        return value
    if not _is_of_objects(value):
        return {} if value == [] and _is_of_objects(other) else None
    return _by_name(value) if _is_named(value) and (not _is_of_objects(other) or _is_named(other)) else _by_place(value)


def _is_of_objects(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str) and any(isinstance(one, Mapping) for one in value)


def _is_named(entries: Sequence[Any]) -> bool:
    names = [one.get("name") for one in entries if isinstance(one, Mapping)]
    return all(isinstance(name, str) for name in names) and len(set(names)) == len(entries)


def _by_name(entries: Sequence[Any]) -> Mapping[Any, Any]:
    return {one["name"]: one for one in entries}


def _by_place(entries: Sequence[Any]) -> Mapping[Any, Any]:
    return dict(enumerate(entries))
