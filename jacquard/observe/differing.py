"""Compares a declared object with the existing object, field by field, and finds the owner of each difference.

A value that the server only writes differently, such as ``1`` for ``1000m``, is not a difference. The server itself
decides: an object that does not match its declaration is applied as a dry run, which changes nothing.
"""

import datetime as dt
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from components.lookups.effects.table import Steps, spelt
from components.render import labels
from components.render.region.engine.engine import KIND, UNSET_COMMIT
from components.specs.secret_text import MASK, masked
from components.specs.struct import Struct
from jacquard.observe.drift import By, FieldDrift
from jacquard.observe.objects import Object
from jacquard.providers.kube import ApiError
from jacquard.providers.kube.field_sets import ITSELF, covers, of_body, union, without
from jacquard.providers.kube.objects import dig
from jacquard.providers.kube.overlay import seen
from jacquard.providers.objectset.applyset import FIELD_MANAGER as SET_MANAGER
from jacquard.providers.objectset.applyset import MEMBER, PART_OF
from jacquard.providers.ownership import MADE_BY

_HANDS = ("kubectl", "before-first-apply")
_OURS = (labels.FIELD_MANAGER, SET_MANAGER)
_PULUMI = ("pulumi-kubernetes", "pulumi-resource-kubernetes")
_MARKS = {"labels": (PART_OF,), "annotations": (MADE_BY, MEMBER, "pulumi.com/")}
"""Prefixes of the marks that an apply adds to the rendered metadata."""
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_SERVERS_OWN = ("status", "apiVersion", "kind")
_SECRET = re.compile("passw|token|secret|credential|private", re.IGNORECASE)
_SHOWN = 100
"""Maximum length of a reported value, in characters; only the length of a longer value is reported."""
_ABSENT = object()

Try = Callable[[Object], Object]
"""Returns the object that a forced apply of the argument would produce, regardless of field ownership."""


class Compared(Struct):
    """Result of a comparison."""

    fields: tuple[FieldDrift, ...]
    unsure: str | None = None
    """Reason why the server could not evaluate the apply; differences may then be differences of notation only."""


def manager_of(*, in_set: bool) -> str:
    """Return the field manager that applies an object: individually, or as a member of a set."""
    return SET_MANAGER if in_set else labels.FIELD_MANAGER


def is_ours(live: Object) -> bool:
    """Return whether Jacquard applied an object, according to its managers and its creation mark."""
    annotations = live["metadata"].get("annotations") or {}
    return (MADE_BY in annotations or MEMBER in annotations) and any(
        _by(entry["manager"]) is By.OURS for entry in _entries(live)
    )


def compared(declared: Object, live: Object, manager: str, attempt: Try) -> Compared:
    """Return the fields in which ``live`` differs from ``declared``, with their owners."""
    body = _as_applied(declared, live)
    fields = list(_by_hand(body, live))
    ours = _owned(live, manager)
    if seen(body, live) == body and not without(ours, of_body(ours, body)):
        return Compared(fields=tuple(fields))
    try:
        after, unsure = attempt(body), None
    except ApiError as error:
        after, unsure = (
            _merged(body, live),
            f"the API server could not evaluate the apply: {_reason(error, declared)}",
        )
    secret = declared["kind"] == "Secret"
    for path, wanted, there in _differences(after, live):
        if path[0] not in _SERVERS_OWN and (_declares(body, path) or covers(ours, live, path)):
            fields.append(_field(live, path, wanted, there, secret=secret))
    return Compared(fields=tuple(fields), unsure=unsure)


def set_by_hand(declared: Object, live: Object) -> Iterator[tuple[Steps, Any]]:
    """Yield path and value of undeclared fields that a person set; applying does not change them."""
    for entry in _entries(live):
        fields = entry.get("fieldsV1") or {}
        if _by(entry["manager"]) is By.HAND:
            for path in _leaves(without(fields, of_body(fields, declared)), live):
                if path[0] not in _SERVERS_OWN and _LAST_APPLIED not in path and not _declares(declared, path):
                    yield path, _value(live, path)


def _as_applied(declared: Object, live: Object) -> Object:
    """Return the declared object with the apply marks of ``live``, and the commit of a slice, which is no data."""
    metadata = dict(declared["metadata"])
    for part, marks in _MARKS.items():
        there = (live["metadata"].get(part) or {}).items()
        kept = {name: value for name, value in there if name.startswith(marks)}
        if kept:
            metadata[part] = {**kept, **(metadata.get(part) or {})}
    body = {**declared, "metadata": metadata}
    if declared["kind"] == KIND and dig(declared, "spec", "commit") == UNSET_COMMIT:
        body["spec"] = {**declared["spec"], "commit": dig(live, "spec", "commit")}
    return body


def _merged(body: Any, live: Any) -> Any:
    """Return ``live`` merged with the non-empty values of ``body``; lists of different length are replaced."""
    if isinstance(body, Mapping) and isinstance(live, Mapping):
        values = {key: value for key, value in body.items() if key in live or value not in (None, {}, [])}
        return {**live, **{key: _merged(value, live.get(key)) for key, value in values.items()}}
    if isinstance(body, list) and isinstance(live, list) and len(body) == len(live):
        return [_merged(*pair) for pair in zip(body, live, strict=True)]
    return body


def _differences(after: Any, live: Any, path: Steps = ()) -> Iterator[tuple[Steps, Any, Any]]:
    if isinstance(after, Mapping) and isinstance(live, Mapping):
        for key in sorted(after.keys() | live.keys()):
            yield from _differences(after.get(key, _ABSENT), live.get(key, _ABSENT), (*path, key))
    elif isinstance(after, list) and isinstance(live, list) and len(after) == len(live):
        for index, pair in enumerate(zip(after, live, strict=True)):
            yield from _differences(*pair, (*path, index))
    elif after != live:
        yield path, after, live


def _declares(body: Any, path: Steps) -> bool:
    for step in path:
        if not isinstance(body, Mapping):
            return True  # inside a list, which is owned as a whole
        if step not in body:
            return False
        body = body[step]
    return True


def _entries(live: Object) -> list[Object]:
    return [entry for entry in live["metadata"].get("managedFields") or () if not entry.get("subresource")]


def _owned(live: Object, manager: str) -> Mapping[str, Any]:
    """Return the fields that ``manager`` applied."""
    fields: Mapping[str, Any] = {}
    for entry in _entries(live):
        if entry["manager"] == manager and entry.get("operation") == "Apply":
            fields = union(fields, entry.get("fieldsV1") or {})
    return fields


def _by(manager: str) -> By:
    if manager in _OURS or manager.startswith(_PULUMI):
        return By.OURS
    return By.HAND if manager.startswith(_HANDS) else By.OTHER


def _field(live: Object, path: Steps, wanted: Any, there: Any, *, secret: bool) -> FieldDrift:
    """Return a field with its owner; the undeclared value was written by an owner other than Jacquard."""
    owners = [entry for entry in _entries(live) if covers(entry.get("fieldsV1") or {}, live, path)]
    owners.sort(key=lambda entry: (_by(entry["manager"]) is By.OURS, -_moment(entry).timestamp(), entry["manager"]))
    first = owners[0] if owners and there is not _ABSENT else None
    return FieldDrift(
        path=spelt(path),
        declared=_shown(wanted, path, secret=secret),
        live=_shown(there, path, secret=secret),
        by=_by(first["manager"]) if first else By.NOBODY,
        manager=first["manager"] if first else None,
        since=_moment(first) if first and first.get("time") else None,
    )


def _moment(entry: Object) -> dt.datetime:
    return dt.datetime.fromisoformat(str(entry.get("time") or "1970-01-01T00:00:00Z"))


def _by_hand(body: Object, live: Object) -> Iterator[FieldDrift]:
    """Yield undeclared fields that a person set, each once for every manager."""
    for path, value in set_by_hand(body, live):
        yield _field(live, path, _ABSENT, value, secret=live["kind"] == "Secret")


def _leaves(fields: Mapping[str, Any], value: Any, path: Steps = ()) -> Iterator[Steps]:
    """Yield the paths of a field set within an object; a list is reported as a whole."""
    for key, inner in fields.items():
        if key == ITSELF:
            continue
        form, _, name = key.partition(":")
        if form != "f":
            yield path
            return
        if isinstance(value, Mapping) and name in value:
            if inner and inner.keys() != {ITSELF}:
                yield from dict.fromkeys(_leaves(inner, value[name], (*path, name)))
            else:
                yield (*path, name)


def _value(value: Any, path: Steps) -> Any:
    for step in path:
        value = value[step]
    return value


def _shown(value: Any, path: Steps, *, secret: bool) -> str | None:
    """Return a value as short JSON; secret values are hidden."""
    if value is _ABSENT:
        return None
    if (secret and path[0] != "metadata") or any(_SECRET.search(str(step)) for step in path):
        return MASK
    text = masked(json.dumps(_masked(value), ensure_ascii=False, sort_keys=True))
    return text if len(text) <= _SHOWN else f"({len(text)} characters)"


def _masked(value: Any) -> Any:
    """Return a value without secrets, which are recognised by their key or by the name next to them."""
    if isinstance(value, list):
        return [_masked(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    named = _SECRET.search(str(value.get("name", "")))
    return {
        key: MASK if _SECRET.search(key) or (named and key == "value") else _masked(item) for key, item in value.items()
    }


def _reason(error: ApiError, declared: Object) -> str:
    """Return the reason of a rejection, without the server's message if it may quote secret values."""
    return f"{error.status} {error.reason}" if declared["kind"] == "Secret" or error.status else str(error)
