"""Strict YAML 1.2: values with their lines, and every trap of the format refused with the form to write.

Older readers (YAML 1.1) take ``no`` for false, ``0755`` for 493, ``52:54:00:12:34:56`` for a number; newer ones take
``1.30`` for 1.3. A value that two readers read differently is refused, whoever would be right.
"""

from __future__ import annotations

import re
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    DocumentStartEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceStartEvent,
)

from components.specs.positions import Place
from components.specs.problems import Problem, dotted

MAX_DEPTH = 50
"""Levels of nesting; the data needs ten."""

_NULL = re.compile(r"|~|null|Null|NULL")
_BOOLEAN = re.compile(r"true|True|TRUE|false|False|FALSE")
_OLD_BOOLEAN = re.compile(r"y|n|yes|no|on|off", re.IGNORECASE)
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}|0x[0-9a-fA-F]{1,15}")
_OTHER_INTEGER = re.compile(r"[-+]?(0[0-9_]+|0[oO][0-7]+|0b[01_]+|[0-9][0-9_]*_[0-9_]*)|\+[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(?=[eE]))([eE][-+]?[0-9]+)?|[-+]?\.(?i:inf|nan)")
_MAC = re.compile(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}")
_BASE_60 = re.compile(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?")

_TRAPS = (
    (_MAC, 'a MAC address stands in quotes; write "{1}"'),
    (_OLD_BOOLEAN, '{0} is a boolean for older YAML readers; write "{0}" in quotes'),
    (_OTHER_INTEGER, '{0} is a different number for different YAML readers; write "{0}" in quotes'),
    (_FLOAT, '{0} is read as a number, which loses digits; write "{0}" in quotes'),
    (_BASE_60, '{0} is a number of base 60 for older YAML readers; write "{0}" in quotes'),
)

_SYNTAX = (
    ("mapping values are not allowed", "a ':' stands where no key can be; indent the key, or put the text in quotes"),
    ("could not find expected ':'", "a key needs ': ' and a value after it"),
    ("found unexpected end of stream", "a quote is not closed"),
    ("that cannot start any token", "this character cannot begin a value; put the text in quotes"),
    ("expected <block end>", "the indentation fits no line above; align the key with its neighbours"),
    ("expected the node content", "a bracket or brace is not closed, or a comma is missing"),
    ("expected ',' or", "a bracket or brace is not closed, or a comma is missing"),
    ("special characters are not allowed", "has a control character; remove it"),
)


class StrictYamlReader:
    """Reads one file. Afterwards ``problems`` holds what was refused; values go on as text so that reading does too."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: dict[tuple[str | int, ...], Problem] = {}
        """By path."""

    def read(self, text: str) -> tuple[Any, Place]:
        """Return the value of the only document in ``text`` and the places of all values in it."""
        self._events = YAML(typ="safe", pure=True).parse(text)
        place = Place(1)
        try:
            return self._document(place), place
        except MarkedYAMLError as error:
            self._syntax(error)
        except YAMLError as error:
            self.problems[()] = Problem(self.file, 0, "", f"is not valid YAML: {error}")
        except _GiveUpError:
            pass
        return None, place

    def _document(self, place: Place) -> Any:
        value, found = None, False
        for event in self._events:
            if isinstance(event, DocumentStartEvent):
                if found or event.version or event.tags:
                    self._problem(event, (), "has a second document or a % directive; keep one plain document a file")
                    raise _GiveUpError
                value, found = self._value(next(self._events), (), place), True
        return value

    def _value(self, event: Any, path: tuple[str | int, ...], place: Place) -> Any:
        if isinstance(event, AliasEvent) or getattr(event, "anchor", None):
            self._problem(event, path, "anchors (&) and aliases (*) are not used here; write the value out")
            raise _GiveUpError
        if getattr(event, "tag", None) and str(event.tag) != "!":
            tag = str(event.tag).replace("tag:yaml.org,2002:", "!!")
            self._problem(event, path, f"tags are not used here; remove {tag}")
        if len(path) > MAX_DEPTH:
            self._problem(event, (), f"is nested more than {MAX_DEPTH} levels deep; no file here needs that")
            raise _GiveUpError
        if isinstance(event, MappingStartEvent):
            return self._mapping(path, place)
        if isinstance(event, SequenceStartEvent):
            return self._sequence(path, place)
        return self._scalar(event, path)

    def _mapping(self, path: tuple[str | int, ...], place: Place) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for event in self._events:
            if isinstance(event, CollectionEndEvent):
                break
            if not isinstance(event, ScalarEvent):
                self._problem(event, path, "a key must be plain text")
                raise _GiveUpError
            key = event.value
            here = (*path, key)
            if event.style is None and _OLD_BOOLEAN.fullmatch(key):
                self._problem(event, here, f'{key} is a boolean for older YAML readers; write "{key}" in quotes')
            inner = Place(event.start_mark.line + 1)
            value = self._value(next(self._events), here, inner)
            if key in result:
                first = place.inner[key].line
                self._problem(event, here, f"stands twice, first on line {first}; keep one of the two")
                continue
            result[key], place.inner[key] = value, inner
        return result

    def _sequence(self, path: tuple[str | int, ...], place: Place) -> list[Any]:
        result: list[Any] = []
        for event in self._events:
            if isinstance(event, CollectionEndEvent):
                break
            inner = Place(event.start_mark.line + 1)
            place.inner[len(result)] = inner
            result.append(self._value(event, (*path, len(result)), inner))
        return result

    def _scalar(self, event: Any, path: tuple[str | int, ...]) -> Any:
        text: str = event.value
        if event.style is not None or not path:
            return text
        if _NULL.fullmatch(text):
            return None
        if _BOOLEAN.fullmatch(text):
            return text.lower() == "true"
        if _INTEGER.fullmatch(text):
            return int(text, 16 if text.startswith("0x") else 10)
        trap = _trap(text)
        if trap:
            self._problem(event, path, trap)
        return text

    def _problem(self, event: Any, path: tuple[str | int, ...], text: str) -> None:
        self.problems.setdefault(path, Problem(self.file, event.start_mark.line + 1, dotted(path), text))

    def _syntax(self, error: MarkedYAMLError) -> None:
        upstream = str(error.problem or error.context)
        remedy = next((text for part, text in _SYNTAX if part in upstream), None)
        remedy = remedy or f"is not valid YAML ({upstream}); put the text in quotes, or correct the line"
        begun = "not closed" in remedy and error.context_mark
        mark = error.context_mark if begun else error.problem_mark
        self.problems[()] = Problem(self.file, mark.line + 1 if mark else 0, "", remedy)


class _GiveUpError(Exception):
    """The rest of a file cannot be read sensibly; the problem is noted."""


def is_plain(text: str) -> bool:
    """Tell whether every reader takes ``text`` for text when it stands without quotes (special characters aside)."""
    special = (_NULL, _BOOLEAN, _INTEGER)
    return not any(pattern.fullmatch(text) for pattern in special) and _trap(text) is None


def _trap(text: str) -> str | None:
    return next((remedy.format(text, text.lower()) for pattern, remedy in _TRAPS if pattern.fullmatch(text)), None)
