"""Planned changes of objects: steps of the engine as changes of single objects, each with its origin.

Without an engine, the changes are the differences between the rendered objects of base and head.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import TypeAlias

from components.lookups.effects.changes import differences, kind_of
from components.lookups.effects.table import Steps as Path
from components.lookups.effects.table import spelt
from components.render.manifest import OBJECT_SET, Manifest
from components.specs.struct import Struct
from jacquard.engine.plan import Json
from jacquard.engine.steps import Step
from jacquard.previews.impacts.rows import name_of
from jacquard.previews.preview import Field, ObjectChange, Operation, Origin
from jacquard.previews.secrets import SECRET, Secrets, is_secret, without_marked
from jacquard.providers.objectset.patch_bodies import bodies

_Key: TypeAlias = tuple[str, str]
"""Kind of an object with its API group, and its name as ``cluster/namespace/name``."""
_PROVIDER_PREFIX = "pulumi.com/"
"""Prefix of annotations for the provider; rendered objects do not contain them."""
_ORDER = tuple(Operation)


class Declared:
    """Rendered objects of one stack in base and head."""

    def __init__(self, base: Iterable[Manifest], head: Iterable[Manifest]) -> None:
        self._base = {_key(item): item for item in base}
        self._head = {_key(item): item for item in head}

    def changed(self, key: _Key) -> list[Path] | None:
        """Return the fields of an object that differ between base and head; None if one of the two lacks the object."""
        was, will = self._base.get(key), self._head.get(key)
        if was is None and will is None:
            return []
        return None if was is None or will is None else [path for path, _, _ in differences(was.body, will.body)]

    def differing(self) -> Iterator[_Planned]:
        """Yield the objects that differ between base and head."""
        for key in dict.fromkeys((*self._head, *self._base)):
            was, will = self._base.get(key), self._head.get(key)
            if was is None or will is None or was.body != will.body:
                yield _Planned(
                    key=key,
                    operation=_of_rendered(was, will),
                    there=was.body if was else {},
                    declared=will.body if will else {},
                )


class _Planned(Struct):
    """Planned operation on one object."""

    key: _Key
    operation: Operation
    there: Json
    declared: Json
    differing: tuple[str, ...] = ()
    forced_by: tuple[str, ...] = ()


def object_changes(
    steps: Iterable[Step], drift: Iterable[Step], declared: Declared, secrets: Secrets
) -> tuple[ObjectChange, ...]:
    """Return the object changes of ``steps``, the worst first; equal changes of several objects are combined.

    Args:
        steps: steps of the engine for an apply.
        drift: steps that would revert changes made in the cluster.
        declared: rendered objects, which separate changes of the head from earlier changes that were not applied.
        secrets: values to mask.
    """
    planned = ((item, None) for step in steps for item in _opened(step))
    drifted = ((item, Origin.DRIFT) for step in drift for item in _opened(step))
    return _grouped(chain(planned, drifted), declared, secrets)


def rendered_changes(declared: Declared, secrets: Secrets) -> tuple[ObjectChange, ...]:
    """Return the differences between the rendered objects of base and head, in the order and form of `object_changes`.

    Args:
        declared: rendered objects of both.
        secrets: values to mask.
    """
    return _grouped(((item, Origin.CHANGE) for item in declared.differing()), declared, secrets)


def _grouped(
    items: Iterable[tuple[_Planned, Origin | None]], declared: Declared, secrets: Secrets
) -> tuple[ObjectChange, ...]:
    """Return combined changes of objects; an origin of None is determined from ``declared``."""
    alike: dict[ObjectChange, list[str]] = defaultdict(list)
    for item, origin in items:
        for change in _changes(item, declared, secrets, origin):
            alike[change].append(item.key[1])
    changes = [change.model_copy(update={"names": tuple(sorted(names))}) for change, names in alike.items()]
    return tuple(sorted(changes, key=_place))


def _place(change: ObjectChange) -> tuple[int, Origin, str, tuple[str, ...]]:
    return _ORDER.index(change.operation), change.origin, change.kind, change.names


def _changes(item: _Planned, declared: Declared, secrets: Secrets, known: Origin | None) -> Iterator[ObjectChange]:
    """Yield the changes of one object, separated by origin."""
    changed = declared.changed(item.key) if known is None else []
    if not (item.there and item.declared):
        yield _change(item, known or (Origin.CHANGE if changed is None else Origin.EARLIER), ())
        return
    by_origin: dict[Origin, list[Field]] = defaultdict(list)
    for path, old, new in differences(without_marked(item.there), without_marked(item.declared)):
        by_origin[known or _origin(path, changed)].append(_field(item.key[0], path, old, new, secrets))
    # The engine reports differences only in secret values, or in values that are not fields of the object.
    if not by_origin:
        origin = known or (Origin.EARLIER if changed == [] else Origin.CHANGE)
        by_origin[origin] = [Field(path=path, old=SECRET, new=SECRET) for path in item.differing]
    for origin, fields in by_origin.items():
        yield _change(item, origin, tuple(fields))


def _change(item: _Planned, origin: Origin, fields: tuple[Field, ...]) -> ObjectChange:
    return ObjectChange(
        operation=item.operation, origin=origin, kind=item.key[0], names=(), fields=fields, forced_by=item.forced_by
    )


def _origin(path: Path, changed: list[Path] | None) -> Origin:
    by_provider = any(str(step).startswith(_PROVIDER_PREFIX) for step in path)
    in_change = changed is None or by_provider or any(_overlap(path, other) for other in changed)
    return Origin.CHANGE if in_change else Origin.EARLIER


def _overlap(path: Path, other: Path) -> bool:
    """Return whether one path is a prefix of the other."""
    both = min(len(path), len(other))
    return path[:both] == other[:both]


def _field(kind: str, path: Path, old: object, new: object, secrets: Secrets) -> Field:
    """Return a field for output, with secrets masked; None represents both no value and null."""
    plain_kind = kind.rpartition("/")[2]
    was, will = (
        None if value is None else SECRET if is_secret(plain_kind, path) else secrets.mask(_text(value))
        for value in (old, new)
    )
    return Field(path=secrets.mask(spelt(path)), old=was, new=will)


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _opened(step: Step) -> Iterator[_Planned]:
    """Yield the operations of a step on objects: on one object, or on each changed object of a set."""
    if step.urn.kind != OBJECT_SET:
        body = step.declared or step.there
        if body.keys() >= {"apiVersion", "kind", "metadata"}:
            yield _Planned(
                key=_key(Manifest(body=body, cluster=step.cluster)),
                operation=Operation(step.operation),
                there=step.there,
                declared=step.declared,
                differing=step.differing,
                forced_by=step.forced_by,
            )
        return
    there, declared = _members(step.there, step.cluster), _members(step.declared, step.cluster)
    for key in dict.fromkeys((*declared, *there)):
        was, will = there.get(key, {}), declared.get(key, {})
        if was != will:
            yield _Planned(key=key, operation=_of_member(step, bool(was), bool(will)), there=was, declared=will)


def _of_rendered(was: Manifest | None, will: Manifest | None) -> Operation:
    if was and will:
        return Operation.UPDATE
    if will:
        return Operation.CREATE
    return Operation.RETAIN if was and was.retain else Operation.DELETE


def _of_member(step: Step, was: bool, will: bool) -> Operation:  # noqa: FBT001 - the single call names both values
    if step.operation == "retain":
        return Operation.RETAIN
    if was and will:
        return Operation.UPDATE  # a replaced set adopts its objects
    return Operation.CREATE if will else Operation.DELETE


def _members(body: Json, cluster: str) -> dict[_Key, Json]:
    """Return the objects of a set, and the patches that it applies to objects of other owners."""
    objects = [member for member in (body.get("members") or {}).values() if isinstance(member, Mapping)]
    for patch in (body.get("patches") or {}).values():
        if isinstance(patch, Mapping):
            objects += bodies(patch)
    return {_key(Manifest(body=item, cluster=cluster)): item for item in objects}


def _key(manifest: Manifest) -> _Key:
    return kind_of(manifest), name_of(manifest)
