"""One spelling for what an API server does not tell apart, so that a plan shows changes only.

The vendor's provider reads objects of Kubernetes' own kinds into the types of their API and keeps what comes out.
Inputs that differ from its own by one spelling would be a step at every switch between the two. What the types do to a
value is written down in ``fields/builtin.json``, which ``fields/main.go`` prints from those types. Custom kinds stay as
they are given. Unlike there, a field that no type has stays too: the API server is to refuse it.
"""

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jacquard.lab.standins.kubernetes.objects.quantities import canonical

SERVERS_OWN = (
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "uid",
)
"""Metadata that only the API server sets."""

_FIELDS = Path(__file__).with_name("fields") / "builtin.json"
_DASHED = (
    "embedded-resource",
    "int-or-string",
    "list-map-keys",
    "list-type",
    "map-type",
    "preserve-unknown-fields",
    "validations",
)
_UNDERSCORED = {f"x-kubernetes-{name}": f"x_kubernetes_{name.replace('-', '_')}" for name in _DASHED}
_TO_DASHES = {spelt: key for key, spelt in _UNDERSCORED.items()}


def normal(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return inputs in the spelling that is kept in the state; unknown values stay unknown."""
    kind = (body.get("apiVersion"), body.get("kind"))
    if is_definition(body):
        found = _definition(with_dashes(body))
    else:
        found = _secret(body) if kind == ("v1", "Secret") else dict(body)
        kinds, types = _builtin()
        found = _written(found, kinds.get(f"{kind[0]} {kind[1]}", ""), types)
    metadata = found.get("metadata")
    if isinstance(metadata, dict):
        found["metadata"] = {key: value for key, value in metadata.items() if key not in SERVERS_OWN}
    return found


def is_definition(body: Mapping[str, Any]) -> bool:
    """Return whether an object is a CustomResourceDefinition."""
    return body.get("kind") == "CustomResourceDefinition"


def with_dashes(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a definition with ``x-kubernetes-…`` keys as the API server spells them."""
    return dict(_renamed(body, _TO_DASHES))


def with_underscores(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a definition with ``x_kubernetes_…`` keys: typed programs and states spell them so."""
    return dict(_renamed(body, _UNDERSCORED))


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {names.get(key, key): _renamed(item, names) for key, item in value.items()}
    return [_renamed(item, names) for item in value] if isinstance(value, list) else value


def _definition(body: dict[str, Any]) -> dict[str, Any]:
    """Return a definition without what the API server never keeps."""
    found = {key: value for key, value in body.items() if key != "status"}
    spec = found.get("spec")
    if isinstance(spec, dict) and spec.get("preserveUnknownFields") is False:
        found["spec"] = {key: value for key, value in spec.items() if key != "preserveUnknownFields"}
    return found


def _secret(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a Secret with its ``stringData`` in ``data``, where the API server puts it."""
    texts, data = body.get("stringData"), body.get("data", {})
    if not isinstance(texts, dict) or not isinstance(data, dict):
        return dict(body)
    if not all(isinstance(text, str) for text in texts.values()):
        return dict(body)
    coded = {key: base64.b64encode(text.encode()).decode() for key, text in texts.items()}
    rest = {key: value for key, value in body.items() if key != "stringData"}
    return {**rest, "data": {**data, **coded}}


def _written(value: Any, code: str, types: Mapping[str, Mapping[str, str]]) -> Any:
    """Return a value as its type writes it; the letters of ``code`` are explained in ``fields/main.go``."""
    if code in _SCALARS:
        return _SCALARS[code](value)
    if code.startswith("[") and isinstance(value, list):
        return [_written(item, code[1:], types) for item in value]
    if code.startswith("{") and isinstance(value, dict):
        return {key: _written(item, code[1:], types) for key, item in value.items()}
    fields = types.get(code)
    if fields is None or not isinstance(value, dict):
        return value
    return {
        key: _written(item, fields.get(key, "").removeprefix("-"), types)
        for key, item in value.items()
        if not (fields.get(key, "").startswith("-") and _is_empty(item))
    }


def _is_empty(value: Any) -> bool:
    return value in (0, "", [], {})


def _bytes(value: Any) -> Any:
    """Return base64 without line breaks; what cannot be read is left for the API server to refuse."""
    if not isinstance(value, str):
        return value
    try:
        return base64.b64encode(base64.b64decode("".join(value.split()), validate=True)).decode()
    except (binascii.Error, ValueError):
        return value


_SCALARS: Mapping[str, Callable[[Any], Any]] = {"q": canonical, "b": _bytes}


@cache
def _builtin() -> tuple[Mapping[str, str], Mapping[str, Mapping[str, str]]]:
    read = json.loads(_FIELDS.read_text(encoding="utf-8"))
    return read["kinds"], read["types"]
