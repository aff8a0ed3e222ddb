"""Published CustomResourceDefinitions as an oracle: a structural check of objects against schemas, without a cluster.

It covers types, required and unknown fields, enums, patterns, lengths, bounds and the keys of list maps. It does not
evaluate CEL rules or webhooks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from tests.support.objects.published_crds import CrdFolder

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (Mapping,),
    "array": (list, tuple),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
}
_BOUNDS = (
    ("minimum", lambda value, bound: value >= bound),
    ("maximum", lambda value, bound: value <= bound),
    ("minLength", lambda value, bound: len(value) >= bound),
    ("maxLength", lambda value, bound: len(value) <= bound),
    ("minItems", lambda value, bound: len(value) >= bound),
    ("maxItems", lambda value, bound: len(value) <= bound),
    ("enum", lambda value, allowed: value in allowed),
    ("pattern", lambda value, pattern: not isinstance(value, str) or re.search(pattern, value) is not None),
)


class PublishedCrds:
    """The published definitions, for validation of whole objects."""

    def __init__(self) -> None:
        self._folder = CrdFolder()

    def problems(self, body: Mapping[str, Any], definition: Mapping[str, Any] | None = None) -> list[str]:
        """Return the violations of the definition of ``body``'s kind, each starting with its path.

        Args:
            body: Object.
            definition: Definition of another release; None for the published one.
        """
        group, _, version = body["apiVersion"].partition("/")
        definition = definition or self._folder.definition(group, body["kind"])
        served = [item for item in definition["spec"]["versions"] if item["name"] == version and item["served"]]
        if not served:
            return [f"apiVersion: {version} is not served"]
        found = [] if served[0]["storage"] else [f"apiVersion: {version} is not the storage version"]
        namespaced = definition["spec"]["scope"] == "Namespaced"
        if namespaced != ("namespace" in body["metadata"]):
            found.append(f"metadata.namespace: the kind is {definition['spec']['scope']}")
        rest = {key: value for key, value in body.items() if key not in {"apiVersion", "kind", "metadata"}}
        schema = served[0]["schema"]["openAPIV3Schema"]
        required = [key for key in schema.get("required", ()) if key not in {"apiVersion", "kind", "metadata"}]
        return [*found, *structural_problems({**schema, "required": required}, rest, "")]


def structural_problems(schema: Mapping[str, Any], value: Any, path: str) -> Iterator[str]:
    """Yield the violations of ``schema`` in ``value``."""
    if schema.get("x-kubernetes-int-or-string"):
        if not isinstance(value, int | str) or isinstance(value, bool):
            yield f"{path}: {value!r} is neither integer nor string"
            return
    elif (kind := schema.get("type")) and not _is(kind, value):
        yield f"{path}: {value!r} is not of type {kind}"
        return
    for keyword, holds in _BOUNDS:
        if keyword in schema and not holds(value, schema[keyword]):
            yield f"{path}: {value!r} breaks {keyword} {schema[keyword]!r}"
    if isinstance(value, Mapping):
        yield from _object_problems(schema, value, path)
    elif isinstance(value, list | tuple):
        yield from _list_problems(schema, value, path)


def _list_problems(schema: Mapping[str, Any], value: Sequence[Any], path: str) -> Iterator[str]:
    for index, item in enumerate(value):
        yield from structural_problems(schema.get("items", {}), item, f"{path}[{index}]")
    keys = schema.get("x-kubernetes-list-map-keys")
    if keys and len({tuple(item.get(key) for key in keys) for item in value}) < len(value):
        yield f"{path}: {', '.join(keys)} is not unique"


def _object_problems(schema: Mapping[str, Any], value: Mapping[str, Any], path: str) -> Iterator[str]:
    properties, extra = schema.get("properties", {}), schema.get("additionalProperties")
    open_ended = schema.get("x-kubernetes-preserve-unknown-fields") or extra is True
    for key in schema.get("required", ()):
        if key not in value and "default" not in properties.get(key, {}):  # Defaults are applied before the check.
            yield f"{path}.{key}: is required"
    for key, inner in value.items():
        if key in properties:
            yield from structural_problems(properties[key], inner, f"{path}.{key}")
        elif isinstance(extra, Mapping):
            yield from structural_problems(extra, inner, f"{path}.{key}")
        elif not open_ended:
            yield f"{path}.{key}: is unknown"


def _is(kind: str, value: object) -> bool:
    return isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


@pytest.fixture(scope="session")
def published() -> PublishedCrds:
    """Return the published definitions; skip the test if they are not available."""
    return PublishedCrds()
