"""Places in expected texts: a marker for each line of the data, which is resolved in the files of the test.

- ``region.yaml:LINE  networks.vni: is ...``: line of the path that follows, or of the nearest enclosing value
- ``region.yaml:<networks.vni>``: line of a path, with list entries by index or name: ``<images.gpu-2026.10.2.boot>``
- ``inventory/hall-a.csv:<a01-u01>``: row of a host
- ``region.yaml:<'vni: 10000-19999'>``: line that contains a text; ``<''>`` is an empty line
- ``region.yaml:<tenant#2>``: the second of several lines; without a number there must be exactly one
- ``first on line <tenant#1>``: line in the file that the row starts with

The lines are found without the library, so that an expected text proves each number that the library reports. No
expected text spells a number: otherwise each line that is added to the examples would change expected texts.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby
from pathlib import Path

import yaml

FILE = r"(?:\.\./)*[\w./-]+\.(?:yaml|csv)"
_MARK = r"<'[^']*'(?:#\d+)?>|<[^'>][^>]*>"
_PLACE = re.compile(rf"({FILE}):(LINE\b|{_MARK})(?= +(\S+): |)")
_SAME_FILE = re.compile(rf"(?<=line )({_MARK})")
_ROW = re.compile(r"  (\S*[^\s:]) {2,}(\S.*)")
_COUNTED = re.compile(r"(.*?)(?:#(\d+))?", re.DOTALL)


def resolved(text: str, *folders: Path) -> str:
    """Return ``text`` with markers replaced by line numbers, and the rows of reports aligned.

    File paths are relative to a folder of an environment. The first of ``folders`` that contains the place counts.
    """
    return _aligned("\n".join(_with_lines(row, folders) for row in text.split("\n")))


def line_of(path: Path, mark: str) -> int:
    """Return the line of ``mark``, without its brackets."""
    [line] = _lines(path, mark, near=False)
    return line


def _with_lines(row: str, folders: tuple[Path, ...]) -> str:
    first = _PLACE.search(row)
    row = _SAME_FILE.sub(lambda match: _number(first[1] if first else "", match[1], folders), row)
    return _PLACE.sub(lambda match: f"{match[1]}:{_number(match[1], match[2], folders, match[3] or '')}", row)


def _number(file: str, mark: str, folders: tuple[Path, ...], path: str = "") -> str:
    near = mark == "LINE"
    name = path if near else mark[1:-1]
    assert name, f"{file}:LINE is not followed by a path"
    found = [_lines(folder / file, name, near=near) for folder in folders if (folder / file).exists()]
    exact = [lines for lines in found if len(lines) == 1]
    assert exact, f"{file} does not have one line for {mark} {path}, but {found}"
    return str(exact[0][0])


def _lines(path: Path, mark: str, *, near: bool) -> list[int]:
    """Return the lines of ``mark``; with ``near``, the line of the nearest enclosing value if it does not exist."""
    match = _COUNTED.fullmatch(mark)
    name, count = (match[1], match[2]) if match else (mark, None)
    text = path.read_text(encoding="utf-8")
    if name.startswith("'"):
        lines = list(_containing(text, name[1:-1]))
    elif path.suffix == ".csv":
        lines = [number for number, row in enumerate(_rows(text), start=1) if row[2:3] == [name]]
    else:
        lines = list(_at(_root(text), name, 1, near=near))
    return lines[int(count) - 1 : int(count)] if count else lines


def _aligned(text: str) -> str:
    blocks = groupby(text.split("\n"), lambda line: bool(_ROW.fullmatch(line)))
    return "\n".join(line for is_report, lines in blocks for line in (_columns(lines) if is_report else lines))


def _columns(lines: Iterator[str]) -> Iterator[str]:
    rows = [match.groups() for match in map(_ROW.fullmatch, lines) if match]
    width = max(len(place) for place, _ in rows)
    return (f"  {place:<{width}}  {rest}" for place, rest in rows)


def _containing(text: str, part: str) -> Iterator[int]:
    for number, line in enumerate(text.splitlines(), start=1):
        if (part in line) if part else not line:
            yield number


def _rows(text: str) -> Iterator[list[str]]:
    """Yield the cells of each line; no cell of an inventory spans lines."""
    return (next(csv.reader([line]), []) for line in text.split("\n"))


@lru_cache(maxsize=16)
def _root(text: str) -> yaml.Node | None:
    return yaml.compose(text, Loader=yaml.CSafeLoader)


def _at(node: yaml.Node | None, path: str, line: int, *, near: bool) -> Iterator[int]:
    """Yield the lines of the values at ``path`` within ``node``, which is at ``line``."""
    inner = list(_inner(node, path)) if path else []
    for value, rest, at in inner:
        yield from _at(value, rest, at, near=near)
    if not path or (near and not inner):
        yield line


def _inner(node: yaml.Node | None, path: str) -> Iterator[tuple[yaml.Node, str, int]]:
    """Yield each value at the first step of ``path``, the rest of the path, and the line of its key or first character.

    Names may contain dots, so the longest name counts.
    """
    path = path.removeprefix(".")
    values = list(_values(node))
    names = [name for name, *_ in values if f"{path}.".startswith((f"{name}.", f"{name}["))]
    step = max(names, key=len, default=None)
    for name, value, line in values:
        if name == step:
            yield value, path.removeprefix(name), line


def _values(node: yaml.Node | None) -> Iterator[tuple[str, yaml.Node, int]]:
    """Yield the values inside ``node`` with key, index or name, and line."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                yield key.value, value, key.start_mark.line + 1
    elif isinstance(node, yaml.SequenceNode):
        for index, entry in enumerate(node.value):
            yield f"[{index}]", entry, entry.start_mark.line + 1
            if name := _name(entry):
                yield name, entry, entry.start_mark.line + 1


def _name(entry: yaml.Node) -> str:
    """Return the name or version of a list entry; empty if it has neither."""
    pairs = entry.value if isinstance(entry, yaml.MappingNode) else ()
    named = {key.value: value.value for key, value in pairs if key.value in {"name", "version"}}
    return str(named.get("name") or named.get("version") or "")
