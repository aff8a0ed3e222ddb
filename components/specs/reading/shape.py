"""What a key that is missing looks like: YAML on one line, made from its model."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel

from components.specs.reading.lock_text import entry_text
from components.specs.reading.patterns import example_of

UNKNOWN = "..."
"""Stands for what only a person knows, such as a name."""
_MAX_OPTIONAL = 3
"""Keys that show what a mapping is like that must have none."""
FORMATS = {
    "ipv4": "10.0.0.20",
    "ipv4network": "10.64.0.0/16",
    "ipv6network": "fd42:7a1c:e500::/40",
    "date": "2026-11-03",
    "date-time": "2026-12-20T00:00:00Z",
}
"""An example of each form that JSON Schema has a name for."""


@cache
def shapes(model: type[BaseModel]) -> dict[str, str]:
    """Return by key what its value looks like in YAML: all that is required in it, ``a|b`` for a choice of words."""
    schema = model.model_json_schema()
    definitions = schema.get("$defs", {})
    return {key: _shape(found, definitions) for key, found in schema["properties"].items()}


def whole(model: type[BaseModel]) -> str:
    """Return what a mapping of ``model`` looks like, with the keys that it must have; when it must have none, a few."""
    found = shapes(model)
    required = _required(model.model_json_schema())
    return _mapping({key: found[key] for key in required or list(found)[:_MAX_OPTIONAL]})


def _required(schema: Mapping[str, Any]) -> list[str]:
    """Return the keys that a mapping must have: of a choice, the first."""
    choice = schema.get("anyOf", [{}])[0]
    return [*schema.get("required", ()), *choice.get("required", ())]


def _mapping(inner: Mapping[str, str]) -> str:
    return f"{{{', '.join(f'{key}: {text}' for key, text in inner.items())}}}"


def _shape(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    match schema:
        case {"$ref": name}:
            shape = _shape(definitions[name.rpartition("/")[2]], definitions)
        case {"type": "object", "properties": inner}:
            shape = _mapping({key: _shape(inner[key], definitions) for key in _required(schema)})
        case {"type": "object", "additionalProperties": dict(entry)}:
            shape = _mapping({UNKNOWN: _shape(entry, definitions)})
        case {"type": "object", "patternProperties": dict(entries)}:
            shape = _mapping({UNKNOWN: _shape(next(iter(entries.values())), definitions)})
        case {"type": "array", "items": entry}:
            shape = f"[{_shape(entry, definitions)}]"
        case {"oneOf": members}:
            shape = " or ".join(_shape(member, definitions) for member in members)
        case {"anyOf": [member, *_]} if "examples" not in schema:
            shape = _shape(member, definitions)
        case _:
            shape = _scalar(schema)
    return shape


def _scalar(schema: Mapping[str, Any]) -> str:
    match schema:
        case {"examples": [example, *_]} | {"const": example}:
            shape = entry_text(example)
        case {"enum": words}:
            shape = "|".join(words)
        case {"type": "integer"}:
            shape = str(schema.get("minimum", 1))
        case {"type": "boolean"}:
            shape = "true|false"
        case {"format": form} if form in FORMATS:
            shape = FORMATS[form]
        case _:
            example = example_of(schema.get("pattern", ""))
            shape = entry_text(example) if example else UNKNOWN
    return shape
