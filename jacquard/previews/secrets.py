"""Masking of secrets in previews, by the path of a value, by its form, and by known values.

Rendered objects of Jacquard contain no secrets, but extensions, live objects and error messages may.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from components.specs.secret_text import MASK, masked, names_secret
from components.specs.struct import Struct

SECRET = MASK
_ENGINES_MARK = "4dabf18193072939515e22adb298388d"
"""Key by which the engine marks a mapping that represents a secret value."""
_HOLDERS = frozenset({"data", "stringData"})
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_NAMES = frozenset({"name", "namespace", "key", "kind"})
"""Fields of a reference, which identify a secret without containing it."""
_LEAST = 4
"""Minimum length of masked values; shorter values occur in too many words."""


class Secrets(Struct, kw_only=False, dict=True):
    """Known secret values."""

    texts: frozenset[str] = frozenset()

    @classmethod
    def of(cls, bodies: Iterable[Mapping[str, Any]]) -> Secrets:
        """Return the values of all Secrets among the objects, both as written and decoded."""
        return cls(frozenset(text for body in bodies for text in _texts(body) if len(text) >= _LEAST))

    def mask(self, text: str) -> str:
        """Return ``text`` with secrets replaced by a placeholder."""
        return masked(self._known.sub(SECRET, text) if self.texts else text)

    @cached_property
    def _known(self) -> re.Pattern[str]:
        return re.compile("|".join(map(re.escape, sorted(self.texts, key=len, reverse=True))))


def without_marked(value: Any) -> Any:
    """Return a value with the parts that the engine marks as secret replaced by a placeholder."""
    if isinstance(value, Mapping):
        return SECRET if _ENGINES_MARK in value else {key: without_marked(inner) for key, inner in value.items()}
    return [without_marked(inner) for inner in value] if isinstance(value, list) else value


def is_secret(kind: str, steps: tuple[Any, ...]) -> bool:
    """Return whether a field of an object of ``kind`` contains a secret, by its path."""
    words = [str(step) for step in steps]
    if kind == "Secret" and words[0] in _HOLDERS:
        return True
    if _LAST_APPLIED in words:
        return True
    return words[-1] not in _NAMES and names_secret(words)


def _texts(body: Mapping[str, Any]) -> Iterator[str]:
    if body.get("kind") != "Secret":
        return
    for key in _HOLDERS:
        held = body.get(key)
        for value in held.values() if isinstance(held, Mapping) else ():
            text = str(value)
            yield from (text, *text.splitlines())
            if key == "data":
                yield from _decoded(text)


def _decoded(text: str) -> Iterator[str]:
    try:
        plain = base64.b64decode(text, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return
    yield from (plain, *plain.splitlines())
