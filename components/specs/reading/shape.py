"""Examples for missing keys: YAML on one line, generated from the model."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel

from components.specs.reading.lock_text import entry_text
from components.specs.reading.patterns import example_of

UNKNOWN = "..."
"""Placeholder for values that only the user knows, such as names."""
_MAX_OPTIONAL = 3
"""Number of optional keys in the example of a mapping without required keys."""
FORMATS = {
    "ipv4": "10.0.0.20",
    "ipv4network": "10.64.0.0/16",
    "ipv6network": "fd42:7a1c:e500::/40",
    "date": "2026-11-03",
    "date-time": "2026-12-20T00:00:00Z",
}
"""Example of each JSON Schema format."""


@cache
def shapes(model: type[BaseModel]) -> dict[str, str]:
    """Return a YAML example for each key of ``model``, with all required inner keys and ``a|b`` for enum values."""
    schema = model.model_json_schema()
    definitions = schema.get("$defs", {})
    return {key: _shape(schema_of_key, definitions) for key, schema_of_key in schema["properties"].items()}


def whole(model: type[BaseModel]) -> str:
    """Return an example of a mapping of ``model`` with its required keys or, if none is required, optional keys."""
    examples = shapes(model)
    required = _required(model.model_json_schema())
    return _mapping({key: examples[key] for key in required or list(examples)[:_MAX_OPTIONAL]})


def _required(schema: Mapping[str, Any]) -> list[str]:
    """Return the required keys of a mapping; for alternatives, the required keys of the first alternative."""
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
