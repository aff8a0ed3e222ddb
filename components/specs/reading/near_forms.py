"""Suggestions for names, URLs and sizes in a form that is not accepted: the same value in the accepted form."""

import re
from collections.abc import Callable

_SCHEME = re.compile(r"[a-z]+://")
_SERIAL_NUMBER = re.compile(r"[A-Z0-9]{6,}")
"""Form of serial numbers, which are in the wrong column if they are not accepted."""
_WORDS = re.compile(r"[A-Za-z0-9]([\w. -]*[A-Za-z0-9])?", re.ASCII)
_UNIT = re.compile(r"([1-9][0-9]*) ?([KMGTP])i?[Bb]?")


def _hyphenated(text: str) -> str:
    return re.sub(r"[ _]+|(?<=\d)\.(?=\d)", "-", text) if _WORDS.fullmatch(text) else text


def _without_scheme(text: str) -> str:
    return _SCHEME.sub("", text)


_CHANGES: tuple[Callable[[str], str], ...] = (
    str.strip,
    str.lower,
    str.upper,
    _hyphenated,
    lambda text: _hyphenated(text).lower(),
    lambda text: _UNIT.sub(r"\1\2i", text, count=1),
    lambda text: re.sub(r"^([0-9]+\.[0-9.]+)$", r"v\1", text),
    lambda text: re.sub(r"^(v[0-9]+\.[0-9]+)\.[0-9]+$", r"\1", text),
    lambda text: f"/{text}" if re.match(r"[a-z<][^:]*$", text) else text,
    lambda text: text.lstrip("/"),
    lambda text: text.rstrip("/"),
    _without_scheme,
    lambda text: re.sub("^http://", "https://", text),
    lambda text: re.sub("^https://", "oci://", text),
)
"""Changes that undo usual mistakes: case, spaces, underscores, dots in numbers, units, prefixes and schemes."""


def near_form(text: str, pattern: str) -> str | None:
    """Return the text that is meant by ``text`` and matches ``pattern``; None if no usual mistake explains ``text``."""
    if _SERIAL_NUMBER.fullmatch(text):
        return None
    changed = (change(text) for change in _CHANGES)
    return next((near for near in changed if near != text and re.search(pattern, near)), None)
