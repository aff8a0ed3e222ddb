"""Strict YAML 1.2 reader. It returns values with line numbers, and rejects ambiguous notations.

Older readers (YAML 1.1) read ``no`` as false, ``0755`` as 493 and ``52:54:00:12:34:56`` as a number. Newer readers read
``1.30`` as 1.3. This reader rejects every value that two YAML readers interpret differently.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any, NoReturn

from yaml import MarkedYAMLError, YAMLError
from yaml._yaml import CParser  # The parser of libyaml, which PyYAML exports only as part of its loaders.
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
)

from components.specs.reading.files import TAKE_ONE_SIDE
from components.specs.reading.positions import Place
from components.specs.reading.problems import MAX_PROBLEMS, Problem, dotted, shortened, shown
from components.specs.reading.remedy import Remedy
from components.specs.secret_text import MASK, shown_at

MAX_DEPTH = 50
"""Maximum depth of nesting; the data needs ten levels."""
MAX_VALUES = 20_000
"""Maximum number of values in a hand-written file; a list of a thousand hosts out of service has 6,000."""

_NULL = re.compile(r"|~|null|Null|NULL")
_BOOLEAN = re.compile(r"true|True|TRUE|false|False|FALSE")
_OLD_BOOLEAN = re.compile(r"y|n|yes|no|on|off", re.IGNORECASE)
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}|0x[0-9a-fA-F]{1,15}")
_OTHER_INTEGER = re.compile(r"[-+]_[0-9_]*|[-+]?([0-9][0-9_]*|0[oO][0-7_]+|0b[01_]+|0[xX][0-9a-fA-F_]+)")
_FLOAT = re.compile(r"[-+]?(\.[0-9_]+|[0-9][0-9_]*(\.[0-9_]*|(?=[eE])))([eE][-+]?[0-9_]+)?|[-+]?\.(?i:inf|nan)")
_MAC = re.compile(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}")
_DATE = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt ].*)?")
_BASE_60 = re.compile(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?")

_ORDINARY = re.compile(r"[a-zA-Z][^:]{5,}")
"""Text that matches no pattern above, because keywords are shorter and numbers start with other characters."""

_TRAPS = (
    (_MAC, 'a MAC address must be in quotes; write "{1}"'),
    (_OLD_BOOLEAN, '{0} is a boolean for older YAML readers; write "{0}" in quotes'),
    (_OTHER_INTEGER, '{0} is a different number for different YAML readers; write "{0}" in quotes'),
    (_FLOAT, '{0} is read as a number and loses digits; write "{0}" in quotes'),
    (_BASE_60, '{0} is a number of base 60 for older YAML readers; write "{0}" in quotes'),
    (re.compile("<<|="), '{0} has a special meaning for older YAML readers; write "{0}" in quotes'),
)
_KEY_TRAPS = (
    (re.compile("<<"), "merge keys (<<) are not supported; write the keys out"),
    (_INTEGER, 'a key must be text but {0} is a number; write "{0}" in quotes'),
    (_BOOLEAN, 'a key must be text but {0} is a boolean; write "{0}" in quotes'),
    (_DATE, 'a key must be text but {0} is a date; write "{0}" in quotes'),
    (_NULL, "a key must be text but this one is empty; write a name"),
    *_TRAPS,
)

_ONE_DOCUMENT = "has a second document or a % directive; write one plain document per file"
_NO_TAGS = "tags (!) are not supported; remove the tag, or put the text in quotes"
_NO_ANCHORS = "anchors (&) and aliases (*) are not supported; write the value out"
_CLOSE_DASH = re.compile(r"\s*-[^\s-].*: ")
"""List entry without a space after its dash, which YAML reads as a key."""
_SYNTAX = (
    (
        "mapping values are not allowed",
        "a ':' is in a place where no key is allowed; align the key with its neighbours, or put the text in quotes",
    ),
    ("could not find expected ':'", "a key must be followed by ': ' and a value"),
    ("found unexpected end of stream", "a quote is not closed; close it"),
    ("cannot start any token", "this character cannot start a value; put the text in quotes"),
    ("while scanning an a", _NO_ANCHORS),
    ("tag", _NO_TAGS),
    ("<document start>", _ONE_DOCUMENT),
    ("directive", _ONE_DOCUMENT),
    ("a block scalar", "| and > must be at the end of a line; indent the text on the lines below, or put it in quotes"),
    ("a quoted scalar", "\\ starts an escape sequence that is not valid in YAML; put the text in single quotes"),
    ("while parsing a flow", "a bracket or brace is not closed, or a comma is missing; close it, or add the comma"),
    ("while parsing a block", "the indentation matches no line above; align the key with its neighbours"),
)
"""Problem texts by fragment of the parser's message. The first matching fragment applies."""
_IN_FLOW = {
    ":": "a ':' is inside text; put the text in quotes, or add the comma before a key",
    ",": "a comma is where a value is expected; remove it, or write the value",
}
"""More precise problem texts, for a character within brackets or braces on the line of the opening bracket."""
_BEGINS_BEFORE = ("could not find expected ':'", "found unexpected end of stream", "while parsing a flow")
"""Fragments of parser messages for errors whose cause is on an earlier line than the reported line."""


class StrictYamlReader:
    """Reader of one file. ``problems`` lists the rejected values. Reading continues with the text of these values."""

    def __init__(self, file: str, max_values: int = MAX_VALUES) -> None:
        self.file = file
        self.max_values = max_values
        self.problems: dict[tuple[str | int, ...], Problem] = {}
        """Problems by path."""
        self._twins: dict[tuple[str | int, ...], int] = {}
        """Number of occurrences of a key after the second, by path."""
        self._path: list[str | int] = []
        self._values = 0

    def read(self, text: str) -> tuple[Any, Place]:
        """Return the value of the only document in ``text``, and the positions of all values."""
        self._next: Any = CParser(text).get_event
        place = Place(1)
        try:
            return self._document(place), place
        except MarkedYAMLError as error:
            self._syntax(error, text)
        except YAMLError:
            self.problems[()] = Problem(self.file, 0, "", "has a control character; remove it")
        except _StopError:
            pass
        return None, place

    def _document(self, place: Place) -> Any:
        value, found = None, False
        while (event := self._next()) is not None:
            if isinstance(event, DocumentStartEvent):
                if found or event.version or event.tags:
                    self._stop(event, _ONE_DOCUMENT)
                value, found = self._value(self._next(), place), True
        return value

    def _value(self, event: Any, place: Place) -> Any:
        kind = type(event)
        self._values += 1
        if self._values > self.max_values:
            self._path.clear()
            self._stop(event, f"has more than {self.max_values:,} values; split the file")
        self._reject_references(event)
        if kind is ScalarEvent:
            return self._scalar(event)
        if len(self._path) == MAX_DEPTH:
            self._path.clear()
            self._stop(event, f"is nested more than {MAX_DEPTH} levels deep; no file here needs that")
        self._path.append("")
        value = self._mapping(place.inner) if kind is MappingStartEvent else self._sequence(place.inner)
        self._path.pop()
        return value

    def _mapping(self, places: dict[str | int, Place]) -> dict[str, Any]:
        result: dict[str, Any] = {}
        again: dict[str, None] = {}
        while type(event := self._next()) is not MappingEndEvent:
            inner = Place(event.start_mark.line + 1)
            key = self._key(event)
            value = self._value(self._next(), inner)
            if key in result:
                self._duplicate_key(event, places[key].line)
                again[key] = None
                continue
            result[key], places[key] = value, inner
        if len(again) > 1 and len(self._path) > 1 and isinstance(self._path[-2], int):
            self._once(list(again), "of this entry; start a new entry with '- ', or remove them")
        elif len(again) > 1 and len(self._path) == 1 and next(iter(again)) == next(iter(result)):
            remedy = TAKE_ONE_SIDE if self.file.endswith(".lock.yaml") else "remove one of the two copies of the file"
            self._once(list(again), f"of this file; {remedy}")
        return result

    def _once(self, keys: list[str], rest: str) -> None:
        """Report repeated keys once: the dash of the next list entry is missing, or the file has its text twice."""
        paths = [(*self._path[:-1], key) for key in keys]
        first, *others = (self.problems.pop(path) for path in paths if path in self.problems)
        if others:
            self.problems[paths[0]] = replace(first, text=f"repeats {', '.join(keys)} {rest}")
        else:
            self.problems[paths[0]] = first

    def _duplicate_key(self, event: Any, first: int) -> None:
        path = tuple(self._path)
        more = self._twins[path] = self._twins.get(path, -1) + 1
        often, them = (f"{more + 2} times", "them") if more else ("twice", "the two")
        remedy = TAKE_ONE_SIDE if self.file.endswith(".lock.yaml") else f"keep one of {them}"
        if more:
            self.problems.pop(path, None)  # The problem with the lower count is replaced.
        self._problem(event, f"is defined {often}, first on line {first}; {remedy}")

    def _sequence(self, places: dict[str | int, Place]) -> list[Any]:
        result: list[Any] = []
        while type(event := self._next()) is not SequenceEndEvent:
            index = self._path[-1] = len(result)
            inner = places[index] = Place(event.start_mark.line + 1)
            result.append(self._value(event, inner))
        return result

    def _key(self, event: Any) -> str:
        if type(event) is not ScalarEvent:
            self._path.pop()
            self._stop(event, _NO_ANCHORS if type(event) is AliasEvent else "a key must be plain text; write a name")
        key: str = event.value
        self._path[-1] = key
        self._reject_references(event)
        if event.style:
            self._reject_escapes(event, key)
        elif not _ORDINARY.fullmatch(key):
            self._reject_trap(event, _key_trap(key), is_key=True)
        return key

    def _scalar(self, event: Any) -> Any:
        text: str = event.value
        if event.style:
            if event.style == '"':
                # Line breaks are visible in a block, which other tools write in quotes.
                self._reject_escapes(event, text.replace("\n", ""))
            return text
        if _ORDINARY.fullmatch(text) or not self._path:
            return text
        if _NULL.fullmatch(text):
            return None
        if _BOOLEAN.fullmatch(text):
            return text.lower() == "true"
        if _INTEGER.fullmatch(text):
            return int(text, 16 if text.startswith("0x") else 10)
        self._reject_trap(event, _trap(text, _TRAPS, lambda: shown_at(self._path, text)))
        return text

    def _reject_references(self, event: Any) -> None:
        if type(event) is AliasEvent or event.anchor is not None:
            self._stop(event, _NO_ANCHORS)
        if event.tag is not None:
            tag = shortened(event.tag.replace("tag:yaml.org,2002:", "!!"))
            self._problem(event, f"tags are not supported; remove {tag}")

    def _reject_escapes(self, event: Any, text: str) -> None:
        if not text.isprintable():
            got = shown(shown_at(self._path, event.value))
            self._problem(event, f"contains an invisible character (got {got}); remove it")

    def _reject_trap(self, event: Any, trap: str | None, *, is_key: bool = False) -> None:
        if trap:
            text: str = event.value
            quoted = f'"{text.lower() if _MAC.fullmatch(text) else text}"'
            certain = 'write "' in trap and event.tag is None and MASK not in trap
            remedy = Remedy(tuple(self._path), quoted, is_key=is_key, instead_of=text) if certain else None
            self._problem(event, trap, remedy)

    def _problem(self, event: Any, text: str, remedy: Remedy | None = None) -> None:
        if len(self.problems) >= MAX_PROBLEMS:
            raise _StopError
        path = tuple(self._path)
        self.problems.setdefault(path, Problem(self.file, event.start_mark.line + 1, dotted(path), text, remedy=remedy))

    def _stop(self, event: Any, text: str) -> NoReturn:
        self._problem(event, text)
        raise _StopError

    def _syntax(self, error: MarkedYAMLError, text: str) -> None:
        upstream = f"{error.context} {error.problem}"
        remedy = next((text for part, text in _SYNTAX if part in upstream), None)
        here, flow = error.problem_mark, error.context_mark
        if here and flow and "while parsing a flow" in upstream and here.line == flow.line:
            remedy = _IN_FLOW.get(text[here.index : here.index + 1], remedy)
        remedy = remedy or f"is not valid YAML ({error.problem}); put the text in quotes, or correct the line"
        begun = any(part in upstream for part in _BEGINS_BEFORE) and error.context_mark
        mark = begun or error.problem_mark
        last = text.rstrip("\n").count("\n") + 1
        if mark and _CLOSE_DASH.match(text.split("\n")[min(mark.line, last - 1)]):
            remedy = "a '-' starts a list entry only if a space follows; write a plain space after it"
        self.problems[()] = Problem(self.file, min(mark.line + 1, last) if mark else 0, "", remedy)


class _StopError(Exception):
    """The rest of a file cannot be parsed. The problem is already recorded."""


def is_plain(text: str) -> bool:
    """Return whether all YAML readers read unquoted ``text`` as text. Special characters are not considered."""
    return _trap(text, _KEY_TRAPS) is None


@lru_cache(maxsize=1024)
def _key_trap(key: str) -> str | None:
    """Return the problem of an unquoted key; None without one. Files repeat few keys, such as ``name``."""
    return _trap(key, _KEY_TRAPS)


def _trap(
    text: str, traps: tuple[tuple[re.Pattern[str], str], ...], show: Callable[[], str] | None = None
) -> str | None:
    """Return the problem of unquoted ``text``; None without one. ``show`` returns the text as messages contain it."""
    remedy = next((remedy for pattern, remedy in traps if pattern.fullmatch(text)), None)
    if remedy is None:
        return None
    short = shortened(show() if show else text)
    return remedy.format(short, short.lower())
