"""Properties in the protocol: protobuf structs with signatures for secrets, unknowns and assets, which JSON lacks."""

import enum
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.struct_pb2 import NULL_VALUE, Struct, Value

from jacquard.providers.rpc.paths import Path, covered, leaves, look_up

SIGNATURE = "4dabf18193072939515e22adb298388d"
SECRET = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - a public marker of the protocol
OUTPUT = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
RESOURCE = "5cf8f73096256a8f31e491e813e4eb8e"
_UNKNOWN_TEXT = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
_UNKNOWNS = frozenset(
    {
        _UNKNOWN_TEXT,
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",  # bool
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",  # number
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",  # array
        "030794c1-ac77-496b-92df-f27374a8bd58",  # asset
        "e48ece36-62e2-4504-bad9-02848725956a",  # archive
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",  # object
    }
)
MASK = "[secret]"


class Unknown(enum.Enum):
    """The type of `UNKNOWN`."""

    UNKNOWN = "unknown"

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = Unknown.UNKNOWN
"""Represents a value in decoded properties that is known only after the apply."""


@dataclass(frozen=True, slots=True)
class Properties:
    """Decoded properties, safe to log: the representation contains no value."""

    plain: dict[str, Any] = field(repr=False)
    """Plain JSON data: secrets unwrapped, unknowns as `UNKNOWN`, whole numbers as int, assets and archives as the
    protocol's map with its `SIGNATURE`."""
    secrets: frozenset[Path] = frozenset()
    """Topmost paths of secrets."""
    unknowns: frozenset[Path] = frozenset()

    def mask(self, text: str) -> str:
        """Return ``text`` with all secret strings and numbers of these properties masked."""
        return mask(text, self.secret_texts())

    def secret_texts(self) -> frozenset[str]:
        """Return every secret scalar as text, for `mask`; booleans and empty texts are excluded."""
        values = (value for path in self.secrets for _, value in leaves(look_up(self.plain, path)))
        return frozenset(str(value) for value in values if value and type(value) in (str, int, float))


def mask(text: str, secrets: Iterable[str]) -> str:
    """Return ``text`` with each of ``secrets`` masked, longest first, including its quoted form."""
    for secret in sorted(set(secrets), key=len, reverse=True):
        text = text.replace(secret, MASK)
        text = text.replace(json.dumps(secret, ensure_ascii=False)[1:-1], MASK)
    return text


def decode(struct: Struct, unknown: object = UNKNOWN) -> Properties:
    """Return the engine's properties as plain data, with the paths of secrets and unknowns.

    Args:
        struct: Properties of a resource.
        unknown: Object that represents a value only known after the apply.
    """
    secrets: set[Path] = set()
    unknowns: set[Path] = set()
    decoder = _Decoder(secrets, unknowns, unknown)
    plain = {key: decoder.value(value, (key,)) for key, value in struct.fields.items()}
    return Properties(plain, frozenset(secrets), frozenset(unknowns))


class _Decoder:
    def __init__(self, secrets: set[Path], unknowns: set[Path], unknown: object) -> None:
        self._secrets = secrets
        self._unknowns = unknowns
        self._placeholder = unknown

    def value(self, value: Value, path: Path) -> Any:
        kind = value.WhichOneof("kind")
        if kind == "string_value":
            text = value.string_value
            return self._unknown(path) if len(text) == len(_UNKNOWN_TEXT) and text in _UNKNOWNS else text
        if kind == "struct_value":
            fields = value.struct_value.fields
            if SIGNATURE in fields:
                return self._signed(fields, path)
            return {key: self.value(item, (*path, key)) for key, item in fields.items()}
        if kind == "number_value":
            number = value.number_value
            return int(number) if number.is_integer() else number
        if kind == "list_value":
            return [self.value(item, (*path, index)) for index, item in enumerate(value.list_value.values)]
        return value.bool_value if kind == "bool_value" else None

    def _signed(self, fields: Mapping[str, Value], path: Path) -> Any:
        signature = fields[SIGNATURE].string_value
        if signature in (SECRET, OUTPUT):
            if signature == SECRET or ("secret" in fields and fields["secret"].bool_value):
                self._secret(path)
            return self.value(fields["value"], path) if "value" in fields else self._unknown(path)
        if signature == RESOURCE:
            return self.value(fields["id" if "id" in fields else "urn"], path)
        return {key: self.value(item, (*path, key)) for key, item in fields.items()}

    def _secret(self, path: Path) -> None:
        if not covered(path[:-1], self._secrets):
            self._secrets.add(path)

    def _unknown(self, path: Path) -> object:
        self._unknowns.add(path)
        return self._placeholder


def encode(plain: Mapping[str, Any], secrets: Iterable[Path] = ()) -> Struct:
    """Return plain data for the protocol, with ``secrets`` (missing paths are ignored) and `UNKNOWN` marked."""
    struct = Struct()
    marks: dict[str | int | None, Any] = {}
    for path in secrets:
        below = marks
        for step in path:
            below = below.setdefault(step, {})
        below[_HERE] = True
    _fill(struct, plain, marks)
    return struct


_HERE = None
"""Key that marks the end of a secret path in the tree of marks."""


def _fill(struct: Struct, plain: Mapping[str, Any], marks: Mapping[str | int | None, Any]) -> None:
    fields = struct.fields
    for key, value in plain.items():
        _set(fields[str(key)], value, marks.get(key) if marks else None)


def _set(target: Value, value: Any, marks: Mapping[str | int | None, Any] | None) -> None:
    if marks and _HERE in marks:
        target.struct_value.fields[SIGNATURE].string_value = SECRET
        _set(target.struct_value.fields["value"], value, None)
    elif isinstance(value, str):
        target.string_value = value
    elif isinstance(value, bool):
        target.bool_value = value
    elif isinstance(value, int | float):
        target.number_value = value
    elif isinstance(value, Mapping):
        target.struct_value.SetInParent()
        _fill(target.struct_value, value, marks or {})
    elif isinstance(value, list | tuple):
        target.list_value.SetInParent()
        for index, item in enumerate(value):
            _set(target.list_value.values.add(), item, marks.get(index) if marks else None)
    elif value is UNKNOWN:
        target.string_value = _UNKNOWN_TEXT
    elif value is None:
        target.null_value = NULL_VALUE
    else:
        msg = f"cannot send a {type(value).__name__} to the engine; use plain JSON data"
        raise TypeError(msg)
