"""Examples for missing keys and for mappings and lists: YAML on one line, generated from the model."""

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from components.specs.reading import model_walk
from components.specs.reading.lock_text import entry_text
from components.specs.reading.patterns import example_of
from components.specs.secret_text import masked

Path = tuple[str | int, ...]
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
_FORMS = {"tuple_type", "model_type", "model_attributes_type", "dict_type"}
"""Types of pydantic's errors about a value that is not the required mapping or list."""
_PAIR = re.compile(r"([\w./-]+)=([\w./-]*)")
"""Notation of a key and its value in other tools."""
_ONE_NUMBER = re.compile(r"\{(\w+): [0-9]+\}")
"""Example of a mapping with one required key, whose value is a number."""
_BETWEEN = re.compile(r"[,;\s]+")
_NAME = re.compile(r"[\w./-]+")


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


def key_to_write(model: type[BaseModel], path: Path, data: Any) -> str:
    """Return the remedy for a missing key at ``path``: an example generated from its model.

    A violation of the whole file has an empty path, and therefore no key to add.
    """
    if not path:
        return "add it"
    key = str(path[-1])
    models = model_walk.models(model_walk.annotation(model, path[:-1], data), model_walk.at(data, path[:-1]))
    examples = dict.fromkeys(shapes(member).get(key, UNKNOWN) for member in models)
    return f"write {key}: {'|'.join(examples)}" if examples else "add it"


def _with_number(shape: str, got: Any) -> str:
    """Return ``shape`` with the number ``got`` as the value of its only key, if that is a number."""
    only = _ONE_NUMBER.fullmatch(shape)
    return f"{{{only[1]}: {got}}}" if only and type(got) is int and got > 0 else shape


def form_to_write(kinds: Iterable[str], model: type[BaseModel], path: Path, data: Any) -> str:
    """Return an example of the required mapping or list at ``path``, filled with the names in the current value.

    ``kinds`` are the types of pydantic's errors; the result is empty without one about a mapping or a list.
    """
    kind = next((kind for kind in kinds if kind in _FORMS), "")
    got, key = model_walk.at(data, path), path[-1] if path else None
    models = model_walk.models(model_walk.annotation(model, path, data), got) if kind else []
    if models:
        wanted = [_with_number(shape, got) for shape in map(whole, models) if shape != "{}"]
        return f"; write {' or '.join(wanted)}" if wanted else ""
    if not kind or not isinstance(key, str):
        return ""
    if kind == "tuple_type" and (entries := _entries(got, model_walk.annotation(model, path, data))):
        return f"; write {key}: [{', '.join(entries)}]"
    text = key_to_write(model, path, data)
    is_list = kind == "tuple_type" and text.endswith(f": [{UNKNOWN}]")
    names_found = _names_in(got)
    pairs = [_PAIR.fullmatch(name) for name in names_found] if kind == "dict_type" else []
    if pairs and all(pairs):
        return f"; write {key}: {{{', '.join(f'{pair[1]}: {entry_text(pair[2])}' for pair in pairs if pair)}}}"
    names = [name for name in names_found if is_list or (_NAME.fullmatch(name) and f"{name}: " not in text)]
    if not names_found or len(names) < len(names_found):  # The value is a single entry instead of a list.
        return f"; {text}"
    return f"; {text.replace(UNKNOWN, ', '.join(map(entry_text, names if is_list else names[:1])), 1)}"


def _entries(got: Any, kind: Any) -> list[str]:
    """Return the entries of a scalar that should be a list, if a list of them is valid; otherwise an empty list."""
    if isinstance(got, bool) or not isinstance(got, str | int):
        return []
    entries = [got] if isinstance(got, int) else _BETWEEN.split(got)
    try:
        TypeAdapter(kind).validate_json(json.dumps(entries), strict=True)
    except ValidationError:
        return []
    return list(map(entry_text, map(str, entries))) if isinstance(got, str) else [str(got)]


def _names_in(got: Any) -> list[str]:
    """Return the names in a value that should be a list or mapping."""
    if isinstance(got, str):
        return _BETWEEN.split(got) if masked(got) == got else []
    return [name for name in got if isinstance(name, str)] if isinstance(got, list | dict) else []
