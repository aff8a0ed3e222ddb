"""What a stack refers to and nobody renders or makes, looked for in the clusters before anything is applied.

Only names and keys are asked for: an API server hands out the metadata of a Secret without its values, and which keys
it has stands there in ``managedFields``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http import HTTPStatus
from itertools import groupby
from typing import Any

from components.lookups.references.table import Table, references_table
from components.lookups.references.walk import Given, given
from components.render.manifest import Manifest
from components.specs.natural import naturally
from jacquard.providers.kube import ApiError, ApiServer, ObjectRef, Unreachable
from stacks.validation import SIDE_BY_SIDE

_DATA = ("f:data", "f:stringData")
_FIELD = "f:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What became of looking for prerequisites."""

    missing: tuple[str, ...] = ()
    """What is not there, a text of several lines for each form."""
    unseen: tuple[str, ...] = ()
    """What nobody could look for, and why."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """What one look found; nothing when all is there."""

    one: Given
    lacks: str = ""
    unseen: str = ""


def look(apis: Mapping[str, ApiServer], items: Sequence[Manifest], others: Callable[[], Iterable[Manifest]]) -> Looked:
    """Return what ``items`` refer to that is not in the clusters; nothing is changed.

    What lies in a namespace that the stack itself has still to make is told as unseen: nobody can have made it yet.

    Args:
        apis: API servers, by cluster; what is in others is not looked for.
        items: all objects of the stack.
        others: all objects of the region, which are rendered only when something is missing.

    Raises:
        Unreachable: an API server does not answer.
    """
    table = references_table()
    wanted = [one for one in given(items, table).values() if one.target.is_object and one.target.cluster in apis]
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        answers = [answer for answer in pool.map(lambda one: _look(apis, one, items), wanted) if answer]
    if not answers:
        return Looked()
    still = given(items, table, others())
    left = [answer for answer in answers if answer.one.target in still]
    return Looked(
        missing=tuple(_told([answer for answer in left if answer.lacks], table)),
        unseen=tuple(_unseen([answer for answer in left if answer.unseen])),
    )


def keys_of(metadata: Mapping[str, Any]) -> set[str] | None:
    """Return the keys of a Secret or ConfigMap, from its metadata alone; None when these do not tell."""
    managers = metadata.get("managedFields")
    if not managers:
        return None
    fields = [manager.get("fieldsV1", {}).get(section, {}) for manager in managers for section in _DATA]
    return {key.removeprefix(_FIELD) for one in fields for key in one if key.startswith(_FIELD)}


def _look(apis: Mapping[str, ApiServer], one: Given, items: Sequence[Manifest]) -> _Answer | None:
    target, api = one.target, apis[one.target.cluster]
    group, _, kind = target.kind.rpartition("/")
    try:
        version = api.version(group, kind)
        if version is None:
            return _Answer(one, unseen=f"{target.cluster} does not serve {kind} yet")
        found = api.get(ObjectRef(version, kind, target.name, target.namespace or None), metadata_only=True)
        if found is None and _to_come(api, one, items):
            return _Answer(one, unseen=f"namespace {target.namespace} is still to be made")
    except Unreachable:
        raise
    except ApiError as error:
        if error.status != HTTPStatus.FORBIDDEN:
            raise
        return _Answer(one, unseen=f"whoever applies may not get {kind}s of {target.cluster}")
    if found is None:
        return _Answer(one, lacks=target.name)
    keys = keys_of(found["metadata"]) if one.keys else None
    lacking = sorted(one.keys - keys) if keys is not None else []
    return _Answer(one, lacks=f"{target.name} (lacks {', '.join(lacking)})") if lacking else None


def _to_come(api: ApiServer, one: Given, items: Sequence[Manifest]) -> bool:
    """Tell whether the stack makes the namespace of something in this very run."""
    place = one.target.namespace
    made = any(item.kind == "Namespace" and item.name == place and item.cluster == one.target.cluster for item in items)
    return made and api.get(ObjectRef("v1", "Namespace", place), metadata_only=True) is None


def _told(answers: Sequence[_Answer], table: Table) -> Iterator[str]:
    """Yield a text for each form: what it is, each that is missing by its place, and how to make one."""
    by_form = sorted(answers, key=lambda answer: answer.one.form or "")
    for name, alike in groupby(by_form, key=lambda answer: answer.one.form):
        found = tuple(alike)
        form = table.forms.get(name or "")
        what = form.what if form else "objects that nobody makes"
        lines = [f"{what}: {len(found)} not there, for {found[0].one.first}", *_places(found)]
        yield "\n    ".join([*lines, f"make: {form.make}"] if form else lines)


def _places(answers: Sequence[_Answer]) -> Iterator[str]:
    places: dict[str, list[str]] = {}
    for answer in answers:
        target = answer.one.target
        kind = target.kind.rpartition("/")[2]
        where = f"{target.namespace} of cluster {target.cluster}" if target.namespace else f"cluster {target.cluster}"
        places.setdefault(f"{kind} in {where}", []).append(answer.lacks)
    for place in naturally(places):
        yield f"{place}: {', '.join(naturally(places[place]))}"


def _unseen(answers: Sequence[_Answer]) -> Iterator[str]:
    reasons: dict[str, list[str]] = {}
    for answer in answers:
        reasons.setdefault(answer.unseen, []).append(str(answer.one.target))
    for reason, names in reasons.items():
        yield f"not looked for, since {reason}: {', '.join(naturally(names))}"
