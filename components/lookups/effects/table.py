"""Table of effects: the effect of a change of each field of each kind, with its source.

The rows are the YAML files next to this module. A path has dots between keys; a key that contains dots is in brackets;
``*`` matches any key and any list entry; ``**`` at the end matches the field itself and everything below it. The most
specific row for a path applies. A path without a row has an unknown effect.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import TypeAlias

from pydantic import Field

from components.lookups.effects.effect import Effect, Subject, When
from components.lookups.table_files import shipped_files, table_files
from components.specs.base import DataFile, Spec
from components.specs.reading.problems import Problem, SpecError

FOLDER = Path(__file__).parent
EVERY_KIND = "*"
"""Pseudo-kind whose rows apply to all kinds of the table without a matching row."""
CREATED, DELETED, RETAINED, PROTECTED = "created", "deleted", "retained", "protected"
"""Row names for whole objects, used instead of a path. An object that is no longer declared is deleted, retained in the
cluster, or protected from deletion."""
_ONE, _REST = "*", "**"
_STEP = re.compile(r"\[([^\]]+)\]|([^.\[\]]+)")
_PATH = re.compile(r"[^.\[\]]+(\.[^.\[\]]+|\[[^\]]+\])*")
_NUMBER = re.compile(r"(?P<number>\d+)(?P<unit>[A-Za-z]*)")
_OWN_SOURCE = "jacquard"

Steps: TypeAlias = tuple[str | int, ...]
"""Path within an object: mapping keys, and names or positions of list entries."""


class Row(Spec):
    """Effect of changes to some fields of a kind."""

    fields: tuple[str, ...] = Field(min_length=1)
    """Paths of fields, or row names for whole objects."""
    effect: Effect
    falls_on: Subject
    """Resources that the effect concerns."""
    when: When = When.AT_ONCE
    later: Effect | None = None
    """Effect of a change to a later timestamp, if different."""
    less: Effect | None = None
    """Effect of a change to a smaller number of the same unit, such as a shorter retention, if different."""
    why: str = Field(min_length=1, max_length=300)
    """Consequence for running systems, as one sentence for reviewers."""
    remedy: str | None = Field(default=None, max_length=200)
    """For a refused change: the procedure that has the wanted effect, as one sentence for reviewers."""
    source: str = Field(pattern=r"^[A-Za-z0-9]+:\S.*$", max_length=200)
    """Source: its short name, a colon, and the file, page, issue or function there.

    ``jacquard`` stands for a file of this repository.
    """
    guarded: bool = False
    """Whether the change requires confirmation. On rows for deleted objects, this is the deletion or replacement of
    objects of the kind; on rows of immutable fields, the replacement that a new value forces."""
    drains: bool = False
    """Whether the change of a DPU waits until its host is drained, which disrupts the node on the host."""
    unrendered: str | None = None
    """Reason for a row whose field occurs in no reference environment."""

    @property
    def reason(self) -> str:
        """Return the consequence, and the procedure of a refused change."""
        return f"{self.why} {self.remedy}" if self.remedy else self.why

    def effect_of(self, before: object, after: object) -> Effect:
        """Return the effect of this change. Timestamps are UTC with second precision, so they compare as strings."""
        if self.less and _is_less(before, after):
            return self.less
        return self.later if self.later and str(before or "") < str(after or "") else self.effect


def _is_less(before: object, after: object) -> bool:
    """Return whether ``after`` is the smaller one of two numbers, which may have a unit such as ``90d``."""
    old, new = _NUMBER.fullmatch(str(before)), _NUMBER.fullmatch(str(after))
    if old is None or new is None or old["unit"] != new["unit"]:
        return False
    return int(new["number"]) < int(old["number"])


class EffectsFile(DataFile):
    """File of the table."""

    HAS_PLACEHOLDERS = True

    sources: dict[str, str] = Field(default_factory=dict)
    """Description of each source with its version, by the short name that rows use."""
    kinds: dict[str, tuple[Row, ...]]
    """Rows by kind, written ``<API group>/<Kind>``, or as the kind only in the core group."""


class Table:
    """All rows, by kind and path."""

    def __init__(self, kinds: Mapping[str, tuple[Row, ...]], sources: Mapping[str, str]) -> None:
        self.kinds = {kind: rows for kind, rows in kinds.items() if kind != EVERY_KIND}
        self.for_every_kind = kinds.get(EVERY_KIND, ())
        self.sources = sources
        self._fallback = _tree(self.for_every_kind)
        self._trees = {kind: _tree(rows) for kind, rows in self.kinds.items()}

    @cached_property
    def guarded(self) -> frozenset[str]:
        """Return the kinds whose deletion or replacement requires confirmation."""
        return frozenset(
            kind for kind, rows in self.kinds.items() if any(row.guarded and "deleted" in row.fields for row in rows)
        )

    @cached_property
    def recreated(self) -> frozenset[str]:
        """Return the other kinds whose replacement requires confirmation."""
        kinds = frozenset(kind for kind, rows in self.kinds.items() if any(row.guarded for row in rows))
        return kinds - self.guarded

    def row(self, kind: str, path: Steps) -> Row | None:
        """Return the row for a change at ``path`` in an object of ``kind``; None if there is none."""
        tree = self._trees.get(kind)
        return None if tree is None else tree.find(path) or self._fallback.find(path)


class _Tree:
    """Rows by the steps of their paths."""

    def __init__(self) -> None:
        self._inner: dict[str, _Tree] = {}
        self._here: Row | None = None
        self._rest: Row | None = None

    def add(self, path: tuple[str, ...], row: Row) -> None:
        """Add ``row`` at ``path``."""
        if not path:
            self._here = row
        elif path == (_REST,):
            self._rest = row
        else:
            self._inner.setdefault(path[0], _Tree()).add(path[1:], row)

    def find(self, path: Steps) -> Row | None:
        """Return the most specific row for ``path``: an exact key precedes ``*``, which precedes ``**``."""
        if not path:
            return self._here or self._rest
        for step in (str(path[0]), _ONE):
            inner = self._inner.get(step)
            row = inner.find(path[1:]) if inner else None
            if row:
                return row
        return self._rest


def _tree(rows: Iterable[Row]) -> _Tree:
    tree = _Tree()
    for row in rows:
        for path in row.fields:
            tree.add(steps(path), row)
    return tree


def steps(path: str) -> tuple[str, ...]:
    """Return the steps of a path of the table."""
    return tuple(key or plain for key, plain in _STEP.findall(path))


def spelt(path: Steps) -> str:
    """Return a path within an object in the format of the table."""
    text = ""
    for step in map(str, path):
        text += f"[{step}]" if "." in step else f".{step}" if text else step
    return text


@cache
def effects_table() -> Table:
    """Return the library's effects of changed fields, by kind."""
    return _table(shipped_files(FOLDER, EffectsFile))


def read_table(folder: Path) -> Table:
    """Return the table in the files of ``folder``.

    Raises:
        SpecError: with all problems of all its files.
    """
    files, problems = table_files(folder, EffectsFile)
    table = _table(files)
    problems += _row_problems(files, table.sources)
    if problems:
        raise SpecError(folder.name, problems)
    return table


def _table(files: Mapping[str, EffectsFile]) -> Table:
    sources = {short: full for file in files.values() for short, full in file.sources.items()}
    return Table({kind: rows for file in files.values() for kind, rows in file.kinds.items()}, sources)


def _row_problems(files: Mapping[str, EffectsFile], sources: Mapping[str, str]) -> Iterator[Problem]:
    """Yield problems of rows: duplicate kinds and paths, invalid paths, unlisted sources."""
    first: dict[str, str] = {}
    for file, spec in files.items():
        for kind, rows in spec.kinds.items():
            other = first.setdefault(kind, file)
            if other != file:
                yield Problem(file, 0, f"kinds.{kind}", f"is also in {other}; keep one of the two")
            for path, count in Counter(path for row in rows for path in row.fields).items():
                if count > 1:
                    yield Problem(file, 0, f"kinds.{kind}", f"has {path} {count} times; keep one of them")
                if not _PATH.fullmatch(path) or _REST in steps(path)[:-1]:
                    remedy = "write keys with dots between them, keys that contain dots in brackets, ** at the end only"
                    yield Problem(file, 0, f"kinds.{kind}", f"has {path!r}, which is not a valid path; {remedy}")
            for row in rows:
                if (row.effect is Effect.REFUSED) != (row.remedy is not None):
                    text = f"{row.fields[0]} must have a remedy if its effect is refused, and none otherwise"
                    yield Problem(file, 0, f"kinds.{kind}", text)
            for short in {row.source.partition(":")[0] for row in rows} - {*sources, _OWN_SOURCE}:
                yield Problem(file, 0, f"kinds.{kind}", f"names source {short}, which no file lists; add it to sources")
