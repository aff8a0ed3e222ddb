"""Suggestions for names, URLs and sizes in a form that is not accepted: the same value in the accepted form."""

import re
from collections.abc import Callable

_SCHEME = re.compile(r"[a-z]+://")
_SERIAL_NUMBER = re.compile(r"[A-Z0-9]{6,}")
"""Form of serial numbers, which are in the wrong column if they are not accepted."""
_WORDS = re.compile(r"[A-Za-z0-9]([\w. -]*[A-Za-z0-9])?", re.ASCII)
_UNIT = re.compile(r"([0-9]+)(\.[0-9]+)? ?([KMGTPkgtp])i?[Bb]?")
_UNITS = "KMGTP"


def _hyphenated(text: str) -> str:
    return re.sub(r"[ _]+|(?<=\d)\.(?=\d)", "-", text) if _WORDS.fullmatch(text) else text


def _binary(text: str) -> str:
    """Return a size with a binary unit; a fraction is written in the next smaller unit."""
    match = _UNIT.fullmatch(text)
    if not match:
        return text
    unit = match[3].upper()
    smaller = float(match[1] + (match[2] or "")) * 1024
    if not match[2]:
        return f"{match[1]}{unit}i"
    return f"{smaller:.0f}{_UNITS[_UNITS.index(unit) - 1]}i" if smaller.is_integer() and unit != "K" else text


def _without_scheme(text: str) -> str:
    return _SCHEME.sub("", text)


_CHANGES: tuple[Callable[[str], str], ...] = (
    lambda text: text.strip(" \n\"'\u201c\u201d\u2018\u2019"),
    lambda text: text.rstrip(".-"),
    str.lower,
    str.upper,
    _hyphenated,
    lambda text: _hyphenated(text).lower(),
    _binary,
    lambda text: re.sub(r"^([0-9]+\.[0-9.]+)$", r"v\1", text),
    lambda text: re.sub(r"^(v[0-9]+\.[0-9]+)\.[0-9]+$", r"\1", text),
    lambda text: f"/{text}" if re.match(r"[a-z<][^:]*$", text) else text,
    lambda text: text.lstrip("/"),
    lambda text: text.rstrip("/"),
    _without_scheme,
    lambda text: re.sub("^http://", "https://", text),
    lambda text: re.sub(r"^([\w-]+(\.[\w-]+)+(/[^\s]*)?)$", r"https://\1", text),
    lambda text: re.sub(r"^([\w.-]+@[\w.-]+):([^/].*)$", r"ssh://\1/\2", text),
    lambda text: re.sub("^https://", "oci://", text),
)
"""Changes that undo usual mistakes: case, spaces, underscores, dots in numbers, units, prefixes and schemes."""


def near_form(text: str, pattern: str) -> str | None:
    """Return the text that is meant by ``text`` and matches ``pattern``; None if no usual mistake explains ``text``."""
    if _SERIAL_NUMBER.fullmatch(text):
        return None
    changed = (change(text) for change in _CHANGES)
    return next((near for near in changed if near != text and re.search(pattern, near)), None)
