"""Normalization of inputs that an API server treats as equal, so that a plan contains only real changes.

The vendor's provider decodes objects of built-in kinds into the Go types of their API and stores the result. Inputs in
another notation would cause a step at each provider migration. ``fields/builtin.json`` records the effect of the types
on values; ``fields/main.go`` generates this file from the types. Custom kinds are not changed. Unlike in the vendor's
provider, unknown fields are not dropped, so that the API server rejects them.
"""

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping
from decimal import ROUND_CEILING, Context, Decimal
from functools import cache
from pathlib import Path
from typing import Any

_QUANTITY = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:([KMGTPE]i)|([numkMGTPE]?)|[eE]([+-]?\d+))")
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_SUFFIXES = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_SMALLEST = Decimal("1e-9")
_KIBI = 1024
_EXACT = Context(prec=60)


def canonical(value: object) -> object:
    """Return a quantity with the largest suffix that needs no fraction; other values are returned unchanged.

    Binary and decimal suffixes are not converted into each other (``1536Mi``, ``1500M``). Values below 1024 have no
    binary suffix.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return value
    match = _QUANTITY.fullmatch(str(value).strip())
    if not match:
        return value
    digits, binary, decimal, exponent = match.groups()
    factor = Decimal(_KIBI) ** _BINARY.index(binary) if binary else Decimal(10) ** int(exponent or _DECIMAL[decimal])
    number = _EXACT.multiply(Decimal(digits), factor)
    number = number.quantize(_SMALLEST, rounding=ROUND_CEILING if number > 0 else "ROUND_FLOOR", context=_EXACT)
    if binary and abs(number) >= _KIBI:
        return _in_powers_of_two(int(number.to_integral_value(ROUND_CEILING)))
    return _in_powers_of_ten(number, "e" if exponent else "")


def _in_powers_of_two(number: int) -> str:
    steps = 0
    while number % _KIBI == 0 and steps < len(_BINARY) - 1:
        number, steps = number // _KIBI, steps + 1
    return f"{number}{_BINARY[steps]}"


def _in_powers_of_ten(number: Decimal, letter: str) -> str:
    if not number:
        return "0"
    mantissa, exponent = int(number.scaleb(9, _EXACT)), -9
    while mantissa % 1000 == 0 and exponent < max(_SUFFIXES):
        mantissa, exponent = mantissa // 1000, exponent + 3
    suffix = f"e{exponent}" if letter and exponent else _SUFFIXES[exponent]
    return f"{mantissa}{suffix}"


SERVERS_OWN = (
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "uid",
)
"""Metadata fields that only the API server sets."""

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
_TO_DASHES = {renamed: key for key, renamed in _UNDERSCORED.items()}


def normal(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return inputs in the notation of the state; unknown values stay unknown."""
    kind = (body.get("apiVersion"), body.get("kind"))
    if is_definition(body):
        normalized = _definition(with_dashes(body))
    else:
        normalized = _secret(body) if kind == ("v1", "Secret") else dict(body)
        kinds, types = _builtin()
        normalized = _as_typed(normalized, kinds.get(f"{kind[0]} {kind[1]}", ""), types)
    metadata = normalized.get("metadata")
    if isinstance(metadata, dict):
        normalized["metadata"] = {key: value for key, value in metadata.items() if key not in SERVERS_OWN}
    return normalized


def is_definition(body: Mapping[str, Any]) -> bool:
    """Return whether an object is a CustomResourceDefinition."""
    return body.get("kind") == "CustomResourceDefinition"


def with_dashes(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a CustomResourceDefinition with ``x-kubernetes-…`` keys, as in the API."""
    return dict(_renamed(body, _TO_DASHES))


def with_underscores(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a CustomResourceDefinition with ``x_kubernetes_…`` keys, as in typed programs and states."""
    return dict(_renamed(body, _UNDERSCORED))


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {names.get(key, key): _renamed(item, names) for key, item in value.items()}
    return [_renamed(item, names) for item in value] if isinstance(value, list) else value


def _definition(body: dict[str, Any]) -> dict[str, Any]:
    """Return a CustomResourceDefinition without fields that the API server never stores."""
    stored = {key: value for key, value in body.items() if key != "status"}
    spec = stored.get("spec")
    if isinstance(spec, dict) and spec.get("preserveUnknownFields") is False:
        stored["spec"] = {key: value for key, value in spec.items() if key != "preserveUnknownFields"}
    return stored


def _secret(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a Secret with its ``stringData`` moved to ``data``, like the API server does."""
    texts, data = body.get("stringData"), body.get("data", {})
    if not isinstance(texts, dict) or not isinstance(data, dict):
        return dict(body)
    if not all(isinstance(text, str) for text in texts.values()):
        return dict(body)
    coded = {key: base64.b64encode(text.encode()).decode() for key, text in texts.items()}
    rest = {key: value for key, value in body.items() if key != "stringData"}
    return {**rest, "data": {**data, **coded}}


def _as_typed(value: Any, code: str, types: Mapping[str, Mapping[str, str]]) -> Any:
    """Return a value as its Go type encodes it; ``fields/main.go`` explains the letters of ``code``."""
    if code in _SCALARS:
        return _SCALARS[code](value)
    if code.startswith("[") and isinstance(value, list):
        return [_as_typed(item, code[1:], types) for item in value]
    if code.startswith("{") and isinstance(value, dict):
        return {key: _as_typed(item, code[1:], types) for key, item in value.items()}
    fields = types.get(code)
    if fields is None or not isinstance(value, dict):
        return value
    return {
        key: _as_typed(item, fields.get(key, "").removeprefix("-"), types)
        for key, item in value.items()
        if not (fields.get(key, "").startswith("-") and _is_empty(item))
    }


def _is_empty(value: Any) -> bool:
    return value in (0, "", [], {})


def _bytes(value: Any) -> Any:
    """Return base64 without line breaks; invalid values are unchanged, so that the API server rejects them."""
    if not isinstance(value, str):
        return value
    try:
        return base64.b64encode(base64.b64decode("".join(value.split()), validate=True)).decode()
    except (binascii.Error, ValueError):
        return value


_SCALARS: Mapping[str, Callable[[Any], Any]] = {"q": canonical, "b": _bytes}


@cache
def _builtin() -> tuple[Mapping[str, str], Mapping[str, Mapping[str, str]]]:
    table = json.loads(_FIELDS.read_text(encoding="utf-8"))
    return table["kinds"], table["types"]
