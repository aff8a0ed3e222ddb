"""What would become of objects: steps of the engine as changes of single objects, each with its reason.

Where no engine is asked: what base and head render otherwise, in the same form.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

from components.lookups.effects.changes import differences, kind_of
from components.lookups.effects.table import Steps as Path
from components.lookups.effects.table import spelt
from components.render.manifest import Manifest
from jacquard.engine.plan import Json
from jacquard.engine.steps import Step
from jacquard.previews.impacts.rows import name_of
from jacquard.previews.preview import Field, ObjectChange, Operation, Origin
from jacquard.previews.secrets import SECRET, Secrets, is_secret, without_marked
from jacquard.providers.objectset.patch_bodies import bodies

_Key: TypeAlias = tuple[str, str]
"""Kind of an object with its group, and its name as ``cluster/namespace/name``."""
_SET = "ObjectSet"
_PROVIDERS_OWN = "pulumi.com/"
"""How annotations begin that tell the provider how to apply an object; rendered objects have none."""
_ORDER = tuple(Operation)


class Declared:
    """What base and head render of the objects of one stack."""

    def __init__(self, base: Iterable[Manifest], head: Iterable[Manifest]) -> None:
        self._base = {_key(item): item for item in base}
        self._head = {_key(item): item for item in head}

    def changed(self, key: _Key) -> list[Path] | None:
        """Return the fields of an object that base and head render otherwise; None if only one of them has it."""
        was, will = self._base.get(key), self._head.get(key)
        if was is None and will is None:
            return []
        return None if was is None or will is None else [path for path, _, _ in differences(was.body, will.body)]

    def differing(self) -> Iterator[_One]:
        """Yield the objects that base and head render otherwise."""
        for key in dict.fromkeys((*self._head, *self._base)):
            was, will = self._base.get(key), self._head.get(key)
            if was is None or will is None or was.body != will.body:
                yield _One(
                    key=key,
                    operation=_of_rendered(was, will),
                    there=was.body if was else {},
                    declared=will.body if will else {},
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class _One:
    """What would be done to one object."""

    key: _Key
    operation: Operation
    there: Json
    declared: Json
    differing: tuple[str, ...] = ()
    forced_by: tuple[str, ...] = ()


def object_changes(
    steps: Iterable[Step], drift: Iterable[Step], declared: Declared, secrets: Secrets
) -> tuple[ObjectChange, ...]:
    """Return what ``steps`` would do to objects, the worst first, the same change of many objects as one.

    Args:
        steps: what applying would do.
        drift: what would put back what somebody changed in the cluster.
        declared: what tells a change from what was there to do before it.
        secrets: what is not told.
    """
    told = ((one, None) for step in steps for one in _opened(step))
    drifted = ((one, Origin.DRIFT) for step in drift for one in _opened(step))
    return _grouped(chain(told, drifted), declared, secrets)


def rendered_changes(declared: Declared, secrets: Secrets) -> tuple[ObjectChange, ...]:
    """Return what base and head render otherwise, in the order and form of `object_changes`.

    Args:
        declared: what both render.
        secrets: what is not told.
    """
    return _grouped(((one, Origin.CHANGE) for one in declared.differing()), declared, secrets)


def _grouped(
    found: Iterable[tuple[_One, Origin | None]], declared: Declared, secrets: Secrets
) -> tuple[ObjectChange, ...]:
    """Return the changes of objects whose origin is known, or to be found in ``declared``."""
    alike: dict[ObjectChange, list[str]] = defaultdict(list)
    for one, origin in found:
        for change in _changes(one, declared, secrets, origin):
            alike[change].append(one.key[1])
    changes = [change.model_copy(update={"names": tuple(sorted(names))}) for change, names in alike.items()]
    return tuple(sorted(changes, key=lambda one: (_ORDER.index(one.operation), one.origin, one.kind, one.names)))


def _changes(one: _One, declared: Declared, secrets: Secrets, known: Origin | None) -> Iterator[ObjectChange]:
    """Yield what would be done to one object, apart by why."""
    changed = declared.changed(one.key) if known is None else []
    if not (one.there and one.declared):
        yield _change(one, known or (Origin.CHANGE if changed is None else Origin.EARLIER), ())
        return
    by_origin: dict[Origin, list[Field]] = defaultdict(list)
    for path, old, new in differences(without_marked(one.there), without_marked(one.declared)):
        by_origin[known or _origin(path, changed)].append(_field(one.key[0], path, old, new, secrets))
    if not by_origin:  # only what the engine keeps secret, or what is no field of the object
        origin = known or (Origin.EARLIER if changed == [] else Origin.CHANGE)
        by_origin[origin] = [Field(path=path, old=SECRET, new=SECRET) for path in one.differing]
    for origin, fields in by_origin.items():
        yield _change(one, origin, tuple(fields))


def _change(one: _One, origin: Origin, fields: tuple[Field, ...]) -> ObjectChange:
    return ObjectChange(
        operation=one.operation, origin=origin, kind=one.key[0], names=(), fields=fields, forced_by=one.forced_by
    )


def _origin(path: Path, changed: list[Path] | None) -> Origin:
    own = any(str(step).startswith(_PROVIDERS_OWN) for step in path)
    return Origin.CHANGE if changed is None or own or any(_meet(path, other) for other in changed) else Origin.EARLIER


def _meet(path: Path, other: Path) -> bool:
    """Tell whether one path leads into what the other one leads to."""
    both = min(len(path), len(other))
    return path[:both] == other[:both]


def _field(kind: str, path: Path, old: object, new: object, secrets: Secrets) -> Field:
    """Return a field as it is told; None stands for no value, which null means too."""
    plain_kind = kind.rpartition("/")[2]
    was, will = (
        None if value is None else SECRET if is_secret(plain_kind, path) else secrets.mask(_text(value))
        for value in (old, new)
    )
    return Field(path=secrets.mask(spelt(path)), old=was, new=will)


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _opened(step: Step) -> Iterator[_One]:
    """Yield what a step does to each object: to one, or to each of a set that it makes another."""
    if step.urn.kind != _SET:
        body = step.declared or step.there
        if body.keys() >= {"apiVersion", "kind", "metadata"}:
            yield _One(
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
            yield _One(key=key, operation=_of_member(step, bool(was), bool(will)), there=was, declared=will)


def _of_rendered(was: Manifest | None, will: Manifest | None) -> Operation:
    if was and will:
        return Operation.UPDATE
    if will:
        return Operation.CREATE
    return Operation.RETAIN if was and was.retain else Operation.DELETE


def _of_member(step: Step, was: bool, will: bool) -> Operation:  # noqa: FBT001 - read beside what they are
    if step.operation == "retain":
        return Operation.RETAIN
    if was and will:
        return Operation.UPDATE  # a set that is replaced takes its objects over
    return Operation.CREATE if will else Operation.DELETE


def _members(body: Json, cluster: str) -> dict[_Key, Json]:
    """Return the objects of a set, and of objects that others make the fields that it applies to them."""
    found = [member for member in (body.get("members") or {}).values() if isinstance(member, Mapping)]
    for patch in (body.get("patches") or {}).values():
        if isinstance(patch, Mapping):
            found += bodies(patch)
    return {_key(Manifest(body=one, cluster=cluster)): one for one in found}


def _key(manifest: Manifest) -> _Key:
    return kind_of(manifest), name_of(manifest)
