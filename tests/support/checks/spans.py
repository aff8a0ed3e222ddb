"""Edits of one value of a data file by the path in reports; all other bytes are preserved."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import yaml

_INDEX = re.compile(r"\[(\d+)\]")


class MissingPathError(Exception):
    """The path does not exist, or the file cannot be parsed."""


@dataclass
class Entry:
    """A value of a YAML file, with its key or index and its parent."""

    holder: yaml.CollectionNode
    key: yaml.ScalarNode | None
    value: yaml.Node
    follower: yaml.Node | None
    """The next key or item in ``holder``."""


def written(text: str, path: str, value: str) -> str:
    """Return the YAML ``text`` with ``value`` at ``path``; a missing key is added."""
    try:
        entry = find(text, path)
    except MissingPathError:
        return _added(text, path, value)
    return _replaced(text, _start(entry.value), _end(entry.value), value)


def renamed(text: str, path: str, key: str) -> str:
    """Return the YAML ``text`` with another key for the value at ``path``."""
    entry = find(text, path)
    if entry.key is None:
        raise MissingPathError(path)
    return _replaced(text, _start(entry.key), _end(entry.key), key)


def removed(text: str, path: str) -> str:
    """Return the YAML ``text`` without the entry at ``path``; a parent without other entries becomes empty."""
    entry = find(text, path)
    first = entry.key or entry.value
    if len(entry.holder.value) == 1:
        return _replaced(text, _start(entry.holder), _end(entry.holder), "{}" if entry.key else "[]")
    if entry.holder.flow_style:
        return _without(text, entry, first)
    lines = text.splitlines(keepends=True)
    start, column = _start(first)
    end = _end(entry.value)[0]
    before = lines[start][:column]
    if before.strip() and entry.key:  # The first key of a list item, after its dash
        if entry.follower is None:
            raise MissingPathError(path)
        return _replaced(text, (start, column), _start(entry.follower), "")
    return "".join([*lines[:start], *lines[end + 1 :]])


def cell(text: str, line: int, column: str, value: str) -> str:
    """Return the inventory ``text`` with another raw value in one row, including quotes."""
    lines = text.split("\n")
    header, row = (lines[number].split(",") for number in (0, line - 1))
    if column not in header or len(row) != len(header):
        raise MissingPathError(column)
    row[header.index(column)] = value
    lines[line - 1] = ",".join(row)
    return "\n".join(lines)


def find(text: str, path: str) -> Entry:
    """Return the entry of the YAML ``text`` at ``path``, in the notation of reports."""
    node, entry = _document(text), None
    rest = path
    while rest:
        entry, rest = _step(node, rest)
        node = entry.value
    if entry is None:
        raise MissingPathError(path)
    return entry


def _document(text: str) -> yaml.Node | None:
    try:
        return yaml.compose(text, Loader=yaml.CSafeLoader)
    except yaml.YAMLError as error:
        raise MissingPathError from error


def _step(node: yaml.Node | None, rest: str) -> tuple[Entry, str]:
    index = _INDEX.match(rest)
    if isinstance(node, yaml.SequenceNode) and index and int(index[1]) < len(node.value):
        at = int(index[1])
        follower = node.value[at + 1] if at + 1 < len(node.value) else None
        return Entry(node, None, node.value[at], follower), rest[index.end() :].removeprefix(".")
    if isinstance(node, yaml.MappingNode):
        for at, (key, value) in enumerate(node.value):
            name = str(getattr(key, "value", ""))
            if rest == name or rest.startswith((f"{name}.", f"{name}[")):
                follower = node.value[at + 1][0] if at + 1 < len(node.value) else None
                return Entry(node, key, value, follower), rest[len(name) :].removeprefix(".")
    raise MissingPathError(rest)


def _added(text: str, path: str, value: str) -> str:
    """Add a key as the first one of the mapping at the parent path."""
    around, _, key = path.rpartition(".")
    try:
        holder = find(text, around).value if around else _document(text)
    except MissingPathError:
        if not around:
            raise
        return _added(text, around, f"{{{key}: {value}}}")
    if not isinstance(holder, yaml.MappingNode) or not key or key.endswith("]"):
        raise MissingPathError(path)
    line, column = _start(holder)
    if holder.flow_style:
        return _replaced(text, (line, column + 1), (line, column + 1), f"{key}: {value}{', ' * bool(holder.value)}")
    return _replaced(text, (line, column), (line, column), f"{key}: {value}\n{' ' * column}")


def _without(text: str, entry: Entry, first: yaml.Node) -> str:
    if entry.follower is not None:
        return _replaced(text, _start(first), _start(entry.follower), "")
    line, column = _start(first)
    before = "\n".join([*text.split("\n")[:line], text.split("\n")[line][:column]])
    at = before.rindex(",")
    start = (before.count("\n", 0, at), at - (before.rfind("\n", 0, at) + 1))
    return _replaced(text, start, _end(entry.value), "")


def _start(node: yaml.Node) -> tuple[int, int]:
    return node.start_mark.line, node.start_mark.column


def _end(node: yaml.Node) -> tuple[int, int]:
    """Return the end of ``node``; the end mark of a block is at the next one, after comments and blank lines."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    return node.end_mark.line, node.end_mark.column


def _replaced(text: str, start: tuple[int, int], end: tuple[int, int], value: str) -> str:
    offsets = list(_offsets(text))
    first, last = (offsets[line] + column for line, column in (start, end))
    return text[:first] + value + text[last:]


def _offsets(text: str) -> Iterator[int]:
    at = 0
    for line in text.split("\n"):
        yield at
        at += len(line) + 1
