"""Sets of fields in the form of ``metadata.managedFields[].fieldsV1``, which record the owners of an object's parts."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

Fields: TypeAlias = Mapping[str, Any]
ITSELF = "."


def union(one: Fields, other: Fields) -> dict[str, Any]:
    """Return the union of two field sets."""
    return {
        **one,
        **{key: union(one[key], inner) if key in one else inner for key, inner in other.items()},
    }


def without(fields: Fields, gone: Fields) -> dict[str, Any]:
    """Return the fields of ``fields`` that are not in ``gone``; an item without remaining fields is removed too."""
    left: dict[str, Any] = {}
    for key, inner in fields.items():
        if key not in gone:
            left[key] = inner
        elif inner and gone[key]:
            rest = without(inner, gone[key])
            left |= {key: rest} if rest.keys() - {ITSELF} else {}
    return left


def of_body(fields: Fields, value: Any) -> dict[str, Any]:
    """Return the subset of ``fields`` that a body sets."""
    subset: dict[str, Any] = {}
    for key, inner in fields.items():
        if key == ITSELF:
            subset[key] = inner
            continue
        for item in below(value, key):
            part = of_body(inner, item) if inner else {}
            if not inner or part:
                subset[key] = union(subset.get(key, {}), part)
    return subset if subset.keys() - {ITSELF} or value in ({}, []) else {}


def below(value: Any, key: str) -> list[Any]:
    """Return the values that a step of a field set selects; for a list, all matching items."""
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
        # A key that is missing in the body and has a default, such as a port's protocol, also matches.
        "k": lambda item: isinstance(item, dict) and all(item.get(name, at) == at for name, at in wanted.items()),
    }
    return [item for item in value if fits[form](item)]


def covers(fields: Fields, body: Any, path: Sequence[str | int]) -> bool:
    """Return whether the field of ``body`` at ``path``, or a field below it, is in the set."""
    if not path:
        return True
    step, *rest = path
    if isinstance(step, str):
        inner = fields.get(f"f:{step}")
        matches = [] if inner is None else [inner]
        value = body.get(step) if isinstance(body, Mapping) else None
    else:
        value = body[step] if isinstance(body, list) and step < len(body) else None
        matches = [inner for key, inner in fields.items() if key != ITSELF and below([value], key)]
    return any(not inner or covers(inner, value, rest) for inner in matches)
