"""Sets of fields, in the form of ``metadata.managedFields[].fieldsV1``: whose which part of an object is."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

Fields: TypeAlias = Mapping[str, Any]
ITSELF = "."


def union(one: Fields, other: Fields) -> dict[str, Any]:
    """Return the fields that are in either set."""
    return {
        **one,
        **{key: union(one[key], inner) if key in one else inner for key, inner in other.items()},
    }


def without(fields: Fields, gone: Fields) -> dict[str, Any]:
    """Return the fields of one set that are not in the other; an item of which no field is left goes too."""
    left: dict[str, Any] = {}
    for key, inner in fields.items():
        if key not in gone:
            left[key] = inner
        elif inner and gone[key]:
            rest = without(inner, gone[key])
            left |= {key: rest} if rest.keys() - {ITSELF} else {}
    return left


def of_body(fields: Fields, value: Any) -> dict[str, Any]:
    """Return those of ``fields`` that a body sets."""
    found: dict[str, Any] = {}
    for key, inner in fields.items():
        if key == ITSELF:
            found[key] = inner
            continue
        for item in below(value, key):
            part = of_body(inner, item) if inner else {}
            if not inner or part:
                found[key] = union(found.get(key, {}), part)
    return found if found.keys() - {ITSELF} or value in ({}, []) else {}


def below(value: Any, key: str) -> list[Any]:
    """Return what a step of a set of fields leads to; of a list, all items that it may mean."""
    form, _, text = key.partition(":")
    if form == "f":
        return [value[text]] if isinstance(value, dict) and text in value else []
    if not isinstance(value, list):
        return []
    if form == "i":
        return value[int(text) :][:1]
    wanted = json.loads(text)
    fits: Mapping[str, Callable[[Any], bool]] = {
        "v": lambda item: bool(item == wanted),
        # A key that the body leaves to its default, such as a port's protocol, is not against it.
        "k": lambda item: isinstance(item, dict) and all(item.get(name, at) == at for name, at in wanted.items()),
    }
    return [item for item in value if fits[form](item)]


def covers(fields: Fields, body: Any, path: Sequence[str | int]) -> bool:
    """Tell whether the field of ``body`` at ``path``, or anything below it, is in a set."""
    if not path:
        return True
    step, *rest = path
    if isinstance(step, str):
        inner = fields.get(f"f:{step}")
        found = [] if inner is None else [inner]
        value = body.get(step) if isinstance(body, Mapping) else None
    else:
        value = body[step] if isinstance(body, list) and step < len(body) else None
        found = [inner for key, inner in fields.items() if key != ITSELF and below([value], key)]
    return any(not inner or covers(inner, value, rest) for inner in found)
