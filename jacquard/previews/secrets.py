"""Keeps secrets out of what is told of a change: by where a value stands, by what it looks like, and by what is known.

What is rendered holds no secrets of ours, but what a repository adds may, and so may live objects and error texts.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

SECRET = "[secret]"  # noqa: S105 - what stands in place of one; the engine writes the same
_ENGINES_MARK = "4dabf18193072939515e22adb298388d"
"""Key by which the engine marks a mapping that stands for a secret value."""
_HOLDERS = frozenset({"data", "stringData"})
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_WORDS = r"(?:passw(?:or)?d|passphrase|token|credentials?|(?:private|api|access|secret)[-_.]?key|client[-_.]?secret)"
_NAMED = re.compile(rf"{_WORDS}$", re.IGNORECASE)
_NAMES = frozenset({"name", "namespace", "key", "kind"})
"""What stands below a reference, and names a secret without telling it."""
_IN_URL = re.compile(r"(?<=://)[^/\s@]+(?=@)")
_SAID = re.compile(rf"(--?[\w-]*{_WORDS}[\"'\s=,]+|{_WORDS}[\"']?\s*[=:]\s*[\"']?)([^\s\"',;&]+)", re.IGNORECASE)
_LEAST = 4
"""Shorter values are parts of too many words."""


@dataclass(frozen=True)
class Secrets:
    """Values that are known to be secret."""

    texts: frozenset[str] = frozenset()

    @classmethod
    def of(cls, bodies: Iterable[Mapping[str, Any]]) -> Secrets:
        """Return the values of the Secrets among some objects, as they are written and as they are meant."""
        return cls(frozenset(text for body in bodies for text in _texts(body) if len(text) >= _LEAST))

    def mask(self, text: str) -> str:
        """Return ``text`` without what is secret in it."""
        masked = self._known.sub(SECRET, text) if self.texts else text
        masked = _IN_URL.sub(SECRET, masked) if "://" in masked else masked
        return _SAID.sub(rf"\g<1>{SECRET}", masked)

    @cached_property
    def _known(self) -> re.Pattern[str]:
        return re.compile("|".join(map(re.escape, sorted(self.texts, key=len, reverse=True))))


def without_marked(value: Any) -> Any:
    """Return a value without what the engine marks as secret."""
    if isinstance(value, Mapping):
        return SECRET if _ENGINES_MARK in value else {key: without_marked(inner) for key, inner in value.items()}
    return [without_marked(inner) for inner in value] if isinstance(value, list) else value


def is_secret(kind: str, steps: tuple[Any, ...]) -> bool:
    """Tell whether a field of an object of ``kind`` holds a secret, by where it stands."""
    words = [str(step) for step in steps]
    if kind == "Secret" and words[0] in _HOLDERS:
        return True
    if _LAST_APPLIED in words:
        return True
    return words[-1] not in _NAMES and any(_NAMED.search(word) for word in words)


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
