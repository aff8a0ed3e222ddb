"""Upgrades of data files with an older ``schema_version``. Comments, order and formatting are preserved.

A migration is registered by kind of file and source version. Its input is the document of ruamel.yaml's round-trip
reader, and its result is the document of the next version. The migration of a lock file can request the surrounding
environment, whose other files are upgraded first. Inventory files have no version: their header identifies the format.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from components.specs.environment import Environment
from components.specs.locks import AllocationsLock, ImagesLock, LockFile
from components.specs.reading.edits import edited, rewritten
from components.specs.reading.files import read_text
from components.specs.reading.kinds import KINDS, FileKind
from components.specs.reading.loader import ALLOCATIONS, CATALOG, IMAGE_PINS, load_environment
from components.specs.reading.lock_text import lock_text, paired
from components.specs.reading.parsing import most_values, parsed
from components.specs.reading.problems import Problem, SpecError, dotted, shown
from components.specs.reading.strict_yaml import StrictYamlReader
from components.specs.reading.translate import mistakes
from components.specs.struct import Struct, replace

Around = Callable[[], Environment]
"""Function that returns the environment of a file, with all other files upgraded. The environment excludes this file
and lock files that are upgraded later."""
Migration = Callable[[Any, Around], Any]
Migrations = Mapping[str, Mapping[int, Migration]]
"""Migrations by name of the kind and source version. Without a migration, only the version number changes."""

_KEY = "schema_version"
_Lock = TypeVar("_Lock", bound=LockFile)


class Upgrade(Struct):
    """Upgrade of one file."""

    path: Path
    """File to upgrade."""
    file: str
    """Path of the file relative to the environment's folder."""
    before: int
    """Current version of the file."""
    after: int
    """Version after the upgrade."""
    text: str
    """Text of the whole file at version ``after``."""


def newest(kind: FileKind) -> int:
    """Return the current format version of files of ``kind``."""
    return kind.model.FORMAT


def moves(
    folder: Path, environment: str, migrations: Migrations, formats: Callable[[FileKind], int] = newest
) -> tuple[list[Upgrade], list[Problem]]:
    """Return the upgrade of each YAML file of ``environment`` in ``folder``, and the problems of other files.

    Nothing is written. The text of files in the current format is returned unchanged.

    Args:
        folder: Folder of all environments.
        environment: Name of the environment to upgrade, including the catalogue.
        migrations: Migrations by kind and version.
        formats: Function that returns the target version of a kind.
    """
    upgrades: list[Upgrade] = []
    problems: list[Problem] = []
    for kind in KINDS:
        for path in kind.files(folder, environment):
            file = Path(os.path.relpath(path, folder / environment)).as_posix()
            text, problem = read_text(path, file, folder)
            if problem:
                problems.append(problem)
                continue
            mover = _Upgrader(kind, file, migrations, formats(kind))
            try:
                upgrades += mover.move(path, text, partial(_around, folder, environment, tuple(upgrades), path))
            except SpecError as error:
                problems += error.problems
            problems += mover.problems
    return [*_paired(environment, upgrades)], problems


def _paired(environment: str, upgrades: Iterable[Upgrade]) -> Iterator[Upgrade]:
    """Yield ``upgrades``, with new digests in the lock files."""
    moved = {move.file: move.text for move in upgrades if move.before != move.after}
    locks = paired(environment, _lock(ALLOCATIONS, AllocationsLock, moved), _lock(IMAGE_PINS, ImagesLock, moved))
    texts = dict(zip((ALLOCATIONS, IMAGE_PINS), map(lock_text, locks), strict=True))
    for move in upgrades:
        yield replace(move, text=texts[move.file]) if move.file in texts and move.file in moved else move


def _lock(file: str, model: type[_Lock], moved: Mapping[str, str]) -> _Lock:
    """Return an upgraded lock file; an empty lock file if it was not upgraded."""
    spec = parsed(file, moved[file], model)[0] if file in moved else None
    return spec if isinstance(spec, model) else model.empty()


def _around(folder: Path, environment: str, moved: Iterable[Upgrade], without: Path) -> Environment:
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary)
        for part in (CATALOG, environment):
            shutil.copytree(folder / part, copy / part)
        for move in moved:
            target = copy / move.path.relative_to(folder)
            target.parent.mkdir(exist_ok=True)
            target.write_text(move.text, encoding="utf-8")
        to_come = {folder / environment / lock for lock in (ALLOCATIONS, IMAGE_PINS)} - {move.path for move in moved}
        for path in to_come | {without}:
            (copy / path.relative_to(folder)).unlink(missing_ok=True)
        return load_environment(environment, copy)


class _Upgrader:
    """Upgrade of one file. ``problems`` lists the reasons if the upgrade is not possible."""

    def __init__(self, kind: FileKind, file: str, migrations: Migrations, current: int) -> None:
        self._kind = kind
        self._file = file
        self._migrations = migrations.get(kind.name, {})
        self._current = current
        self.problems: list[Problem] = []

    def move(self, path: Path, text: str, around: Around) -> Iterator[Upgrade]:
        before = self._version(text)
        if before is None:
            return
        if before < self._current:
            edit, model = partial(self._moved, before=before, around=around), self._kind.model
            text = self._sealed(rewritten(text, edit), model) if issubclass(model, LockFile) else edited(text, edit)
        if not self.problems:
            yield Upgrade(path=path, file=self._file, before=before, after=self._current, text=text)

    def _moved(self, document: Any, before: int, around: Around) -> Any:
        for version in range(before, self._current):
            document = self._migrations.get(version, _unchanged)(document, around)
            document[_KEY] = version + 1
        return document

    def _version(self, text: str) -> int | None:
        """Return the version of a file; None if the file cannot be upgraded."""
        reader = StrictYamlReader(self._file, most_values(self._kind.model))
        data, place = reader.read(text)
        self.problems += reader.problems.values()
        if self.problems:
            return None
        if not isinstance(data, dict) or _KEY not in data:
            remedy = f"is required; add {_KEY}: <version of the file>, {self._current} for a new file"
            self.problems.append(Problem(self._file, place.line, _KEY, remedy))
            return None
        version, line = data[_KEY], place.inner[_KEY].line
        if type(version) is not int or version < 1:
            text = f"must be a version from 1 to {self._current} (got {shown(version)})"
        elif version > self._current:
            text = f"is {version}, but this jacquard supports at most {self._current}; update jacquard"
        else:
            return version
        self.problems.append(Problem(self._file, line, _KEY, text))
        return None

    def _sealed(self, text: str, model: type[LockFile]) -> str:
        """Return a lock file in its canonical form, with its digest."""
        data, _ = StrictYamlReader(self._file, most_values(self._kind.model)).read(text)
        try:
            return lock_text(model.model_validate_json(json.dumps(data), strict=True))
        except ValidationError as error:
            for mistake in mistakes(error, model, data):
                text = f"{mistake.text}; caused by a migration, fix it in components/allocate/migrations.py"
                self.problems.append(Problem(self._file, 0, dotted(mistake.path), text))
            return ""


def _unchanged(document: Any, around: Around) -> Any:  # noqa: ARG001 - signature of migrations
    return document
