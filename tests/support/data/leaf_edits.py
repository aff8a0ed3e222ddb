"""Every leaf value of an environment's data files, and alternative values for it."""

from __future__ import annotations

import csv
import datetime as dt
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from components.specs.reading.kinds import data_files

Path_ = tuple[str | int, ...]
CANDIDATES = 3
"""Number of values from other leaves that are tried at a leaf, in addition to derived values."""
_UNTOUCHED = "schema_version"


@dataclass(frozen=True, slots=True)
class Edit:
    """A replaced or removed leaf."""

    file: Path
    """Relative to the folder of all environments."""
    path: Path_
    value: Any

    def __str__(self) -> str:
        return f"{self.file}:{'.'.join(map(str, self.path))}={self.value!r}"[:180]


class Leaves:
    """The data files of an environment, without lock files."""

    def __init__(self, folder: Path, environment: str) -> None:
        self._folder = folder
        kinds = [(path, kind) for path, kind in data_files(folder, [environment]) if not kind.locked]
        self._documents = {path.relative_to(folder): yaml.safe_load(path.read_text("utf-8")) for path, _ in kinds}
        tables = sorted((folder / environment / "inventory").glob("*.csv"))
        self._tables = {
            path.relative_to(folder): list(csv.reader(path.read_text("utf-8").splitlines())) for path in tables
        }
        self._seen: dict[str, dict[str, Any]] = defaultdict(dict)
        for document in self._documents.values():
            for path, value in _leaves(document):
                self._seen[_name(path)].setdefault(repr(value), value)

    def edits(self) -> Iterator[Edit]:
        """Yield changes of each leaf of the YAML files: plausible other values, and removal."""
        for file, document in self._documents.items():
            for path, value in _leaves(document):
                if path[-1] == _UNTOUCHED:
                    continue
                others = [*_made(value), *self._others(path, value)]
                yield from (Edit(file, path, other) for other in others)
                if isinstance(path[-1], str):
                    yield Edit(file, path, None)

    def cells(self) -> Iterator[Edit]:
        """Yield changes of each cell of the inventory: the value of the next row, and a value that does not occur."""
        for file, (_, *rows) in self._tables.items():
            for number, row in enumerate(rows):
                for column, value in enumerate(row):
                    after = rows[(number + 1) % len(rows)][column]
                    yield from (Edit(file, (number, column), other) for other in {after, f"{value}9"} - {value})

    def apply(self, edit: Edit) -> None:
        """Write the file of ``edit`` with the edit applied."""
        path = self._folder / edit.file
        if edit.file in self._tables:
            path.write_text(_table(self._tables[edit.file], edit), encoding="utf-8")
        else:
            path.write_text(_dumped(_with(self._documents[edit.file], edit.path, edit.value)), encoding="utf-8")

    def restore(self, edit: Edit) -> None:
        """Restore the file of ``edit``."""
        path = self._folder / edit.file
        if edit.file in self._tables:
            path.write_text(_table(self._tables[edit.file], None), encoding="utf-8")
        else:
            path.write_text(_dumped(self._documents[edit.file]), encoding="utf-8")

    def rewrite(self) -> None:
        """Write all files in the format of this class, unchanged."""
        for file in (*self._documents, *self._tables):
            self.restore(Edit(file, (), None))

    def _others(self, path: Path_, value: Any) -> list[Any]:
        """Return the values of leaves with the same name elsewhere."""
        found = [other for text, other in sorted(self._seen[_name(path)].items()) if text != repr(value)]
        return found[:CANDIDATES]


def _rows(path: Path) -> list[list[str]]:
    return list(csv.reader(path.read_text(encoding="utf-8").splitlines()))


def _name(path: Path_) -> str:
    return next((step for step in reversed(path) if isinstance(step, str)), "")


def _leaves(value: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    match value:
        case dict() if value:
            for key, inner in value.items():
                yield from _leaves(inner, (*path, key))
        case list() if value:
            for index, inner in enumerate(value):
                yield from _leaves(inner, (*path, index))
        case _:
            yield path, value


def _made(value: Any) -> Iterator[Any]:
    """Yield values derived from ``value``."""
    match value:
        case bool():
            yield not value
        case int():
            yield from (value + 1, max(0, value - 1))
        case dt.date():
            yield value + dt.timedelta(days=30)
        case str():
            yield from _texts(value)
        case _:
            return


def _texts(text: str) -> Iterator[str]:
    if re.fullmatch(r"[0-9a-f]{64}", text):
        yield "0" * 63 + "1"
    elif re.fullmatch(r"v1\.[0-9]+\.[0-9]+", text):
        major, minor, patch = text.split(".")
        yield from (f"{major}.{minor}.{int(patch) + 1}", f"{major}.{int(minor) + 1}.{patch}")
    elif "://" in text:
        yield text.replace("://", "://other.", 1)
    elif number := re.search(r"[0-9]+(?!.*[0-9])", text):
        yield f"{text[: number.start()]}{int(number[0]) + 1}{text[number.end() :]}"
    else:
        yield f"{text}x"


def _with(value: Any, path: Path_, new: Any) -> Any:
    """Return ``value`` with ``new`` at ``path``; None removes the key."""
    step, *rest = path
    if isinstance(value, dict):
        if not rest and new is None:
            return {key: inner for key, inner in value.items() if key != step}
        return {**value, step: _with(value[step], tuple(rest), new) if rest else new}
    return [
        (_with(inner, tuple(rest), new) if rest else new) if at == step else inner for at, inner in enumerate(value)
    ]


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        del data
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"')


_Dumper.add_representer(str, _text)


def _dumped(document: Mapping[str, Any]) -> str:
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, width=200)


def _table(rows: list[list[str]], edit: Edit | None) -> str:
    head, *body = rows
    if edit is not None:
        number, column = (int(step) for step in edit.path)
        body[number] = [edit.value if at == column else cell for at, cell in enumerate(body[number])]
    return "".join(",".join(map(_cell, row)) + "\n" for row in (head, *body))


def _cell(text: str) -> str:
    return f'"{text}"' if ":" in text and "://" not in text else text  # YAML would parse a MAC address as a number.
