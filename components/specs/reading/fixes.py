"""Applies the remedies that are certain to data files, and leaves every other byte of them as it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml
from yaml import MappingNode, Node, ScalarNode, SequenceNode

from components.specs.base import DataFile
from components.specs.reading.files import decoded, read_bytes
from components.specs.reading.inventory_csv import InventoryReader
from components.specs.reading.kinds import KINDS
from components.specs.reading.loader import parsed
from components.specs.reading.problems import Problem
from components.specs.reading.remedy import Remedy

_MAX_ROUNDS = 5
"""What one remedy brings to light another may mend; no file needs more."""
_CELL = re.compile(r'("[^"]*"|[^,"]*)(?:,|$)')
_BLANKS = re.compile(r"[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
"""Blanks that look like a plain space and are none, those of Unicode's category Zs."""
_RETURN, _MARK = "\r\n", "\ufeff"


@dataclass(frozen=True, slots=True, order=True)
class Fix:
    """One place of a file that is written otherwise."""

    file: str
    """Path of the file relative to the environment's folder."""
    line: int
    """Line of the change in the file as it was, counted from 1; 0 when it is about all of the file."""
    before: str
    """Text that stood there, or what was wrong with the file."""
    after: str
    """Text that stands there now."""


@dataclass(frozen=True, slots=True)
class Mended:
    """A file before and after all that is certain was done to it."""

    path: Path
    """Where the file lies, symbolic links followed."""
    file: str
    """Path of the file relative to the environment's folder."""
    before: str
    """Text of the file as it is."""
    after: str
    """Text of the file with all that is certain done to it."""
    fixes: tuple[Fix, ...]
    """What was done, in the order of rounds and lines."""


@dataclass(frozen=True, slots=True)
class _Edit:
    line: int
    """Line that is edited, counted from 1."""
    start: int
    """First character of the line that is replaced, counted from 0."""
    end: int
    """Character behind the last one that is replaced."""
    text: str | None
    """Text that is written there; the whole line goes when it is None."""


def mended(folder: Path, name: str) -> Iterator[Mended]:
    """Yield the files of the environment ``name`` of ``folder``, lock files aside, to which something is to be done."""
    home = folder / name
    for kind in KINDS:
        for path in () if kind.locked else kind.files(folder, name):
            file = str(path.relative_to(home)) if path.is_relative_to(home) else f"../{path.relative_to(folder)}"
            yield from _mended(path, file, folder, kind.model)
    for path in sorted(home.glob("inventory/*.csv")):
        yield from _mended(path, f"inventory/{path.name}", folder, None)


def _mended(path: Path, file: str, folder: Path, model: type[DataFile] | None) -> Iterator[Mended]:
    raw, unread = read_bytes(path, file, folder)
    try:
        before = "" if unread else raw.decode()
    except UnicodeDecodeError:
        return
    text, fixes = _plain(before, file)
    for _ in range(_MAX_ROUNDS):
        edits = [] if decoded(text.encode(), file)[1] else _edits(text, _problems(file, text, model), model)
        lines = text.split("\n")
        fixes += [
            Fix(file, edit.line, lines[edit.line - 1][edit.start : edit.end], edit.text)
            if edit.text is not None
            else Fix(file, edit.line, "a line without a host", "none")
            for edit in edits
        ]
        if not edits:
            break
        text = _applied(lines, edits)
    if text != before:
        yield Mended(path.resolve(), file, before, text, tuple(fixes))


def _plain(text: str, file: str) -> tuple[str, list[Fix]]:
    """Return ``text`` with the line ends and blanks of a plain text file, and what was done for it."""
    fixes = []
    if text.startswith(_MARK):
        fixes.append(Fix(file, 1, "a byte order mark", "none"))
    if _RETURN in text:
        fixes.append(Fix(file, 0, f"{text.count(_RETURN)} line ends CRLF", "LF"))
    text = text.removeprefix(_MARK).replace(_RETURN, "\n")
    for number, line in enumerate(text.split("\n"), start=1):
        fixes += [
            Fix(file, number, f"the blank U+{ord(blank):04X}", "a plain space") for blank in _BLANKS.findall(line)
        ]
    return _BLANKS.sub(" ", text), fixes


def _problems(file: str, text: str, model: type[DataFile] | None) -> Sequence[Problem]:
    if model is not None:
        return parsed(file, text, model)[2]
    reader = InventoryReader(file, "a")
    reader.read(text)
    return reader.problems


def _edits(text: str, problems: Iterable[Problem], model: type[DataFile] | None) -> list[_Edit]:
    """Return what the remedies of ``problems`` change, one edit a place; lines go only when nothing else is left."""
    remedies = [problem.remedy for problem in problems if problem.remedy]
    if not remedies:
        return []
    lines = text.split("\n")
    root = None if model is None else yaml.compose(text, Loader=yaml.CSafeLoader)
    found = [_cell_edit(lines, remedy) if model is None else _value_edit(lines, root, remedy) for remedy in remedies]
    places = {(edit.line, edit.start): edit for edit in found if edit}
    values = [edit for edit in places.values() if edit.text is not None]
    return sorted(values or places.values(), key=lambda edit: (edit.line, edit.start))


def _applied(lines: list[str], edits: Iterable[_Edit]) -> str:
    lines = list(lines)
    for edit in sorted(edits, key=lambda edit: (edit.line, edit.start), reverse=True):
        line = lines[edit.line - 1]
        if edit.text is None:
            del lines[edit.line - 1]
        else:
            lines[edit.line - 1] = line[: edit.start] + edit.text + line[edit.end :]
    return "\n".join(lines)


def _cell_edit(lines: list[str], remedy: Remedy) -> _Edit | None:
    """Return the edit of a cell, or of a whole line, of an inventory file."""
    number, *column = remedy.path
    line = lines[int(number) - 1]
    if remedy.text is None:
        return _Edit(int(number), 0, len(line), None)
    names = lines[0].split(",")
    cells = [match.span(1) for match in _CELL.finditer(line)]
    start, end = cells[names.index(str(column[0]))]
    return _Edit(int(number), start, end, remedy.text)


def _value_edit(lines: list[str], root: Node | None, remedy: Remedy) -> _Edit | None:
    """Return the edit of a value, or of a key, of a YAML file; None when it is not written on one line."""
    node = _node(root, remedy.path, is_key=remedy.is_key)
    if not isinstance(node, ScalarNode) or node.start_mark.line != node.end_mark.line:
        return None
    line, start, end = node.start_mark.line, node.start_mark.column, node.end_mark.column
    if remedy.instead_of not in {None, lines[line][start:end]}:
        return None
    return _Edit(line + 1, start, end, remedy.text)


def _node(root: Node | None, path: Sequence[str | int], *, is_key: bool) -> Node | None:
    node = root
    for depth, step in enumerate(path, start=1):
        match node:
            case MappingNode(value=pairs):
                key, value = next((pair for pair in pairs if pair[0].value == step), (None, None))
                node = key if is_key and depth == len(path) else value
            case SequenceNode(value=entries) if isinstance(step, int):
                node = entries[step]
            case _:
                return None
    return node
