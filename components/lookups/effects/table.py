"""The table of effects: what a change of each field of each kind does, with the source that says so.

The rows are the YAML files beside this module. A path has dots between keys; a key that has dots itself stands in
brackets; ``*`` is any key and any entry of a list; ``**`` at the end is the field itself and all that is below it. The
row that says most about a path counts. What no row covers is unknown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import TypeAlias

from pydantic import Field

from components.lookups.effects.effect import Effect, Subject, When
from components.lookups.table_files import table_files
from components.specs.base import DataFile, Spec
from components.specs.reading.problems import Problem, SpecError

FOLDER = Path(__file__).parent
EVERY_KIND = "*"
"""The kind whose rows hold for all kinds of the table, where these say nothing themselves."""
CREATED, DELETED, RETAINED, PROTECTED = "created", "deleted", "retained", "protected"
"""What stands instead of a path: a whole object is new; or it is no longer declared and is deleted, is kept in the
cluster nevertheless, or is protected from that."""
_ONE, _REST = "*", "**"
_STEP = re.compile(r"\[([^\]]+)\]|([^.\[\]]+)")
_PATH = re.compile(r"[^.\[\]]+(\.[^.\[\]]+|\[[^\]]+\])*")
_OWN_SOURCE = "jacquard"

Steps: TypeAlias = tuple[str | int, ...]
"""A path within an object: keys of mappings, and names or places of entries of lists."""


class Row(Spec):
    """What a change of some fields of a kind does."""

    fields: tuple[str, ...] = Field(min_length=1)
    """Paths, or what stands instead of one when a whole object comes or goes."""
    effect: Effect
    falls_on: Subject
    """What the effect falls on."""
    when: When = When.AT_ONCE
    later: Effect | None = None
    """The effect, if it is another one, when the value is a moment and becomes a later one."""
    why: str = Field(min_length=1, max_length=300)
    """What happens, in a sentence for a reviewer."""
    source: str = Field(pattern=r"^[A-Za-z0-9]+:\S.*$", max_length=200)
    """Where that was read: the short name of a source, a colon, and the file, page, issue or function there.

    ``jacquard`` stands for a file of this repository.
    """
    guarded: bool = False
    """Whether an object of the kind goes, or is made anew, only when somebody says so: on rows of what is deleted."""
    unrendered: str | None = None
    """Why the row is here although no reference environment has such a field."""

    def effect_of(self, before: object, after: object) -> Effect:
        """Return the effect of this change of the value; moments are in UTC to the second, so that their text tells."""
        return self.later if self.later and str(before or "") < str(after or "") else self.effect


class EffectsFile(DataFile):
    """A file of the table."""

    sources: dict[str, str] = Field(default_factory=dict)
    """What each source is, in the version that was read, by the short name that rows use."""
    kinds: dict[str, tuple[Row, ...]]
    """Rows by kind, which is spelt ``<API group>/<Kind>``, or as the kind alone in the core group."""


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
        """Return the kinds whose objects go only when somebody says so."""
        return frozenset(kind for kind, rows in self.kinds.items() if any(row.guarded for row in rows))

    def row(self, kind: str, path: Steps) -> Row | None:
        """Return what a change at ``path`` of an object of ``kind`` does; None if nobody decided that."""
        tree = self._trees.get(kind)
        return None if tree is None else tree.find(path) or self._fallback.find(path)


class _Tree:
    """Rows by the steps of their paths."""

    def __init__(self) -> None:
        self._inner: dict[str, _Tree] = {}
        self._here: Row | None = None
        self._rest: Row | None = None

    def add(self, path: tuple[str, ...], row: Row) -> None:
        """Put ``row`` at ``path``."""
        if not path:
            self._here = row
        elif path == (_REST,):
            self._rest = row
        else:
            self._inner.setdefault(path[0], _Tree()).add(path[1:], row)

    def find(self, path: Steps) -> Row | None:
        """Return the row that says most about ``path``: one that names the next key, else any key, else all below."""
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
    """Return a path within an object in the form of the table."""
    text = ""
    for step in map(str, path):
        text += f"[{step}]" if "." in step else f".{step}" if text else step
    return text


@cache
def effects_table() -> Table:
    """Return the table of this library.

    Raises:
        SpecError: with all problems of all its files.
    """
    return read_table(FOLDER)


def read_table(folder: Path) -> Table:
    """Return the table whose files lie in ``folder``.

    Raises:
        SpecError: with all problems of all its files.
    """
    files, problems = table_files(folder, EffectsFile)
    sources = {short: full for file in files.values() for short, full in file.sources.items()}
    problems += _misfits(files, sources)
    if problems:
        raise SpecError(folder.name, problems)
    return Table({kind: rows for file in files.values() for kind, rows in file.kinds.items()}, sources)


def _misfits(files: Mapping[str, EffectsFile], sources: Mapping[str, str]) -> Iterator[Problem]:
    """Yield what is wrong between rows: kinds and paths that stand twice, no path at all, sources nobody names."""
    first: dict[str, str] = {}
    for file, spec in files.items():
        for kind, rows in spec.kinds.items():
            other = first.setdefault(kind, file)
            if other != file:
                yield Problem(file, 0, f"kinds.{kind}", f"stands in {other} too; keep one of the two")
            for path, count in Counter(path for row in rows for path in row.fields).items():
                if count > 1:
                    yield Problem(file, 0, f"kinds.{kind}", f"has {path} {count} times; keep one of them")
                if not _PATH.fullmatch(path) or _REST in steps(path)[:-1]:
                    remedy = "write keys with dots between them, keys that have dots in brackets, ** at the end only"
                    yield Problem(file, 0, f"kinds.{kind}", f"has {path!r}, which is no path; {remedy}")
            for short in {row.source.partition(":")[0] for row in rows} - {*sources, _OWN_SOURCE}:
                yield Problem(file, 0, f"kinds.{kind}", f"names source {short}, which no file lists; add it to sources")
