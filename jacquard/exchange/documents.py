"""Reads the entries of a list in JSON or YAML documents, each with its line number."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from yaml import MappingNode, MarkedYAMLError, Node, ScalarNode, SequenceNode, YAMLError, parse
from yaml.cyaml import CBaseLoader
from yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent

from components.specs.reading.problems import Problem, shown
from jacquard.exchange.file_kinds import other_document

Entry = tuple[int, Any]
"""Line number and value of an entry."""
_SPACE = re.compile(r"[ \t\r\n]*")
_MAX_DEPTH = 100
"""Maximum nesting depth of YAML; a Kubernetes object has twenty levels."""
_AGAIN = "export it again"
_NULL = "tag:yaml.org,2002:null"


class _Loader(CBaseLoader):
    """Loader of strings and nulls. Strings keep their form in the file."""


_Loader.add_implicit_resolver(_NULL, re.compile(r"(~|null|Null|NULL|)$"), ["~", "n", "N", ""])
_Loader.add_constructor(_NULL, lambda _loader, _node: None)


def twice(keys: Iterable[str]) -> list[str]:
    """Return the duplicates in ``keys``, once each."""
    return [key for key, count in Counter(keys).items() if count > 1]


def duplicate(file: str, line: int, path: str, key: str) -> Problem:
    """Return the problem of a ``key`` that an object has twice, so that readers use different values."""
    return Problem(file, line, path, f"has {shown(key)} twice; remove one of the two")


def read_json(file: str, text: str, key: str) -> tuple[list[Entry], list[Problem]]:
    """Return the entries of the list in ``text``, at its top or at ``key``; any other document is a single entry.

    Problems never contain values of the file, because a value may be a password; they contain the errors of an API.
    """
    try:
        whole = json.loads(text)
    except json.JSONDecodeError as error:
        rule = f"is not JSON ({error.msg[:1].lower()}{error.msg[1:]} in column {error.colno})"
        return [], [Problem(file, error.lineno, "", f"{rule}; {_AGAIN}")]
    except (RecursionError, ValueError):
        return [], [Problem(file, 0, "", f"is nested too deeply or contains a number with too many digits; {_AGAIN}")]
    if other := other_document(whole, key):
        return [], [Problem(file, 0, "", other)]
    duplicates: list[str] = []

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        duplicates.extend(twice(name for name, _ in pairs))
        return dict(pairs)

    entries, line, last, problems = [], 1, 0, []
    for at, value in _entries(text, whole, key, json.JSONDecoder(object_pairs_hook=unique)):
        line += text.count("\n", last, at)
        last = at
        entries.append((line, value))
        problems += [duplicate(file, line, "", name) for name in duplicates]
        duplicates.clear()
    return entries, problems


def read_yaml(file: str, text: str, key: str) -> tuple[list[Entry], list[Problem]]:
    """Return the entries of one or more YAML documents, like `read_json`. Values are strings, or null."""
    loader = _Loader(text)
    entries: list[Entry] = []
    problems: list[Problem] = []
    try:
        if not _is_plain(text):
            return [], [Problem(file, 0, "", f"is nested too deeply or contains aliases (*); {_AGAIN}")]
        while loader.check_node():
            for node in _items(loader.get_node(), key):
                line = node.start_mark.line + 1
                problems += [duplicate(file, line, "", name) for name in _duplicates(node)]
                entries.append((line, loader.construct_object(node, deep=True)))
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        return [], [Problem(file, line, "", f"is not YAML; {_AGAIN}")]
    except YAMLError:
        return [], [Problem(file, 0, "", f"is not YAML; {_AGAIN}")]
    finally:
        loader.dispose()
    return entries, problems


def _is_plain(text: str) -> bool:
    """Return whether ``text`` is safe to load: deep nesting crashes the process, because the C library recurses."""
    depth = 0
    for event in parse(text, Loader=CBaseLoader):
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if depth > _MAX_DEPTH or isinstance(event, AliasEvent):
            return False
    return True


def _duplicates(node: Node) -> Iterator[str]:
    """Yield the keys that a mapping in ``node`` has twice."""
    if isinstance(node, MappingNode):
        yield from twice(name.value for name, _ in node.value if isinstance(name, ScalarNode))
    parts = [value for _, value in node.value] if isinstance(node, MappingNode) else node.value
    for part in parts if isinstance(node, MappingNode | SequenceNode) else ():
        yield from _duplicates(part)


def _items(node: Node | None, key: str) -> list[Node]:
    if isinstance(node, SequenceNode):
        return list(node.value)
    if isinstance(node, MappingNode):
        for name, value in node.value:
            if name.value == key and isinstance(value, SequenceNode):
                return list(value.value)
    return [] if node is None or (isinstance(node, ScalarNode) and not node.value) else [node]


def _entries(text: str, whole: Any, key: str, decoder: json.JSONDecoder) -> Iterator[tuple[int, Any]]:
    """Yield the entries of ``whole``, the decoded ``text``, with their positions in ``text``."""
    at = _skip(text, 0)
    if isinstance(whole, list):
        yield from _list(text, at, decoder)
        return
    if not (isinstance(whole, dict) and isinstance(whole.get(key), list)):
        yield at, decoder.decode(text)
        return
    at = _skip(text, at + 1)
    while text[at] != "}":
        name, at = decoder.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        if name == key and text[at] == "[":
            yield from _list(text, at, decoder)
            return
        at = _next(text, decoder.raw_decode(text, at)[1])


def _list(text: str, at: int, decoder: json.JSONDecoder) -> Iterator[tuple[int, Any]]:
    at = _skip(text, at + 1)
    while text[at] != "]":
        value, end = decoder.raw_decode(text, at)
        yield at, value
        at = _next(text, end)


def _next(text: str, at: int) -> int:
    """Return the position of the next member, or of the closing bracket after the last member."""
    at = _skip(text, at)
    return _skip(text, at + 1) if text[at] == "," else at


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at
