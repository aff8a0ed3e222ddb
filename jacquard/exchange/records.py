"""Records of machines in a foreign file, with the keys of that file and without credentials."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from components.specs.struct import Struct

_CREDENTIAL = re.compile(r"passw|passphrase|secret|token|user_?name|private_?key", re.IGNORECASE)
"""Keys whose values are dropped when a file is read, so that no later text can contain them."""
_REFERENCES = ("bmc_secret", "cf_bmc_secret")
"""Keys that match the pattern of credentials, but contain only the name of a credential."""
_PUNCTUATION = re.compile(r"[\W_]+")
_MAX_DEPTH = 8
_WHOLE = re.compile(r"([0-9]+)\.0+")
_INDEX = re.compile(r"\[([0-9]{1,4})\]\.?(.*)")


class Record(Struct):
    """A machine of a foreign file."""

    line: int
    """Line number at which the machine starts, from 1; 0 for a machine of an API."""
    fields: Mapping[str, Any]
    """Fields, nested as in the file."""
    withheld: tuple[str, ...] = ()
    """Names of the dropped credentials."""
    page: str = ""
    """Address of the machine's page in the other system; empty for a machine of a file."""

    def value(self, key: str) -> str | None:
        """Return the text at ``key``, such as ``mac``, ``labels.type`` or ``host_nics[0].mac_address``; None if absent.

        A list with a single text is returned as that text.
        """
        value = _at(self.fields, key)
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if isinstance(value, bool):
            return str(value).lower()
        if not isinstance(value, str | int | float):
            return None
        return str(value).strip() or None

    def values(self, key: str) -> list[str]:
        """Return the texts of a list at ``key``, or the only text."""
        value = _at(self.fields, key)
        entries = value if isinstance(value, list) else [value]
        return [str(entry).strip() for entry in entries if isinstance(entry, str | int | float) and str(entry).strip()]

    def fact(self, key: str) -> Any:
        """Return the value at ``key``; for an object with a name, the name."""
        value = _at(self.fields, key)
        if isinstance(value, Mapping):
            return value.get("name") or value
        text = self.value(key)
        return value if text is None else text

    def keys(self) -> Iterator[str]:
        """Yield the keys that have a text, in order."""
        return _keys(self.fields)


def record(line: int, fields: Mapping[str, Any], page: str = "") -> Record:
    """Return ``fields`` as a record without credentials."""
    withheld: dict[str, None] = {}
    return Record(line=line, fields=_without(fields, withheld), withheld=tuple(withheld), page=page)


def is_credential(key: str) -> bool:
    """Return whether ``key`` names a credential, which is never read."""
    last = re.split(r"[.\]]", key)[-1]
    return bool(_CREDENTIAL.search(last)) and last not in _REFERENCES


def without_credentials(text: str) -> str:
    """Return a message up to its first mention of credentials, because a credential may follow."""
    match = _CREDENTIAL.search(text)
    return f"{text[: match.end()]}..." if match and match.end() < len(text) else text


def known_keys(records: Iterable[Record]) -> list[str]:
    """Return the keys that have a text in any of ``records``."""
    return list(dict.fromkeys(key for item in records for key in item.keys()))  # noqa: SIM118 - not a mapping


def alike(keys: Iterable[str], wanted: Iterable[str]) -> tuple[str, str] | None:
    """Return a key of ``keys`` and one of ``wanted`` that differ only in case, blanks and punctuation."""
    plain = {_PUNCTUATION.sub("", name).lower(): name for name in wanted}
    pairs = ((key, plain.get(_PUNCTUATION.sub("", key).lower())) for key in keys)
    return next(((key, name) for key, name in pairs if name and name != key), None)


def whole(text: str) -> str:
    """Return ``text`` without zero decimals: rack units are numbers such as 7.0 in NetBox."""
    match = _WHOLE.fullmatch(text)
    return match[1] if match else text


def _without(value: Any, withheld: dict[str, None], depth: int = 0) -> Any:
    if isinstance(value, list):
        return [_without(entry, withheld, depth + 1) for entry in value] if depth < _MAX_DEPTH else []
    if not isinstance(value, Mapping):
        return value
    kept = {}
    for key, entry in value.items():
        if not is_credential(key):
            kept[key] = _without(entry, withheld, depth + 1) if depth < _MAX_DEPTH else None
        elif entry:
            withheld[key] = None
    return kept


def _at(node: Any, key: str) -> Any:
    """Return the value at ``key`` below ``node``; all splits are tried, because names of labels can contain dots."""
    if not key:
        return node
    if isinstance(node, list):
        match = _INDEX.fullmatch(key)
        return _at(node[int(match[1])], match[2]) if match and int(match[1]) < len(node) else None
    if not isinstance(node, Mapping):
        return None
    if key in node:
        return node[key]
    for at, letter in enumerate(key):
        if letter in ".[" and key[:at] in node:
            value = _at(node[key[:at]], key[at:].removeprefix("."))
            if value is not None:
                return value
    return None


def _keys(node: Any, path: str = "") -> Iterator[str]:
    if isinstance(node, Mapping):
        for key, value in node.items():
            yield from _keys(value, f"{path}.{key}" if path else str(key))
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from _keys(value, f"{path}[{index}]")
    elif node is not None and str(node).strip():
        yield path
