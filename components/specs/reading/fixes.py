"""Applies unambiguous remedies to data files and preserves all other bytes."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import yaml
from yaml import MappingNode, Node, ScalarNode, SequenceNode

from components.specs.base import DataFile
from components.specs.reading.files import decoded, read_bytes
from components.specs.reading.inventory_csv import InventoryReader
from components.specs.reading.kinds import KINDS
from components.specs.reading.parsing import parsed
from components.specs.reading.problems import Problem
from components.specs.reading.remedy import Remedy
from components.specs.struct import Struct

_MAX_ROUNDS = 5
"""Maximum number of rounds. A fix can reveal another problem, but no file is expected to need more rounds."""
_CELL = re.compile(r'("[^"]*"|[^,"]*)(?:,|$)')
_BLANKS = re.compile(r"[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
"""Unicode spaces (category Zs) that look like a plain space."""
_RETURN, _MARK = "\r\n", "\ufeff"


class Fix(Struct, kw_only=False, order=True):
    """Fix at one position in a file."""

    file: str
    """Path of the file relative to the environment's folder."""
    line: int
    """Line of the change in the original file, counted from 1; 0 if the change affects the whole file."""
    before: str
    """Original text, or a description of the fault."""
    after: str
    """New text."""


class FixedFile(Struct, kw_only=False):
    """File before and after all unambiguous fixes."""

    path: Path
    """Path of the file, with symbolic links resolved."""
    file: str
    """Path of the file relative to the environment's folder."""
    before: str
    """Original text of the file."""
    after: str
    """Text of the file with all fixes applied."""
    fixes: tuple[Fix, ...]
    """Applied fixes, in the order of rounds and lines."""


class _Edit(Struct, kw_only=False):
    line: int
    """Line to edit, counted from 1."""
    start: int
    """Index of the first character to replace, counted from 0."""
    end: int
    """Index after the last character to replace."""
    text: str | None
    """New text; None to delete the line."""


def fixed_files(folder: Path, name: str) -> Iterator[FixedFile]:
    """Yield the files of environment ``name`` in ``folder`` that need fixes; lock files are excluded."""
    home = folder / name
    for kind in KINDS:
        for path in () if kind.locked else kind.files(folder, name):
            file = str(path.relative_to(home)) if path.is_relative_to(home) else f"../{path.relative_to(folder)}"
            yield from _fixed_file(path, file, folder, kind.model)
    for path in sorted(home.glob("inventory/*.csv")):
        yield from _fixed_file(path, f"inventory/{path.name}", folder, None)


def _fixed_file(path: Path, file: str, folder: Path, model: type[DataFile] | None) -> Iterator[FixedFile]:
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
        yield FixedFile(path.resolve(), file, before, text, tuple(fixes))


def _plain(text: str, file: str) -> tuple[str, list[Fix]]:
    """Return ``text`` with plain line ends and spaces, and the applied fixes."""
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
    """Return the edits for ``problems``, one for each position. Lines are deleted only if no other edits remain."""
    remedies = [problem.remedy for problem in problems if problem.remedy]
    if not remedies:
        return []
    lines = text.split("\n")
    root = None if model is None else yaml.compose(text, Loader=yaml.CSafeLoader)
    edits = [_cell_edit(lines, remedy) if model is None else _value_edit(lines, root, remedy) for remedy in remedies]
    places = {(edit.line, edit.start): edit for edit in edits if edit}
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
    """Return the edit of a cell or a whole line of an inventory file."""
    number, *column = remedy.path
    line = lines[int(number) - 1]
    if remedy.text is None:
        return _Edit(int(number), 0, len(line), None)
    names = lines[0].split(",")
    cells = [match.span(1) for match in _CELL.finditer(line)]
    start, end = cells[names.index(str(column[0]))]
    return _Edit(int(number), start, end, remedy.text)


def _value_edit(lines: list[str], root: Node | None, remedy: Remedy) -> _Edit | None:
    """Return the edit of a value or key of a YAML file; None if it spans several lines."""
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
