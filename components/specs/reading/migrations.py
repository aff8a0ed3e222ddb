"""Moves data files of an older ``schema_version`` on, keeping what people wrote around the data: comments, order, form.

A migration is registered by the kind of file and the version it starts from. It gets the document as ruamel.yaml's
round-trip reader has it and returns it moved on by one version; a lock file may ask for the environment around it,
whose own files are moved first. Inventory files have no version: their header is one.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from components.specs.environment import Environment
from components.specs.locks import AllocationsLock, ImagesLock, LockFile
from components.specs.reading.edits import edited, rewritten
from components.specs.reading.files import read_text
from components.specs.reading.kinds import KINDS, FileKind
from components.specs.reading.loader import ALLOCATIONS, CATALOG, IMAGE_PINS, load_environment, most_values, parsed
from components.specs.reading.lock_text import lock_text, paired
from components.specs.reading.problems import Problem, SpecError, dotted, shown
from components.specs.reading.strict_yaml import StrictYamlReader
from components.specs.reading.translate import mistakes

Around = Callable[[], Environment]
"""Returns the environment that a file belongs to, all other files moved on, as if that file were not there, and no lock
file whose turn comes later."""
Migration = Callable[[Any, Around], Any]
Migrations = Mapping[str, Mapping[int, Migration]]
"""Migrations by name of the kind and version that is left. A kind without one only gets the new number."""

_KEY = "schema_version"
_Lock = TypeVar("_Lock", bound=LockFile)


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """What becomes of one file."""

    path: Path
    """File that is moved on."""
    file: str
    """Path of the file relative to the environment's folder."""
    before: int
    """Version that the file has."""
    after: int
    """Version that the file gets."""
    text: str
    """The whole file at version ``after``."""


def newest(kind: FileKind) -> int:
    """Return the version that files of ``kind`` have now."""
    return kind.model.FORMAT


def moves(
    folder: Path, environment: str, migrations: Migrations, formats: Callable[[FileKind], int] = newest
) -> tuple[list[Move], list[Problem]]:
    """Return what becomes of each YAML file that ``environment`` in ``folder`` reads, and which files stay out of it.

    Nothing is written. A file that is current already is told with its own text.

    Args:
        folder: of all environments.
        environment: whose files, the catalogue's too, are moved.
        migrations: what is done to files.
        formats: the version that files of a kind come to.
    """
    found: list[Move] = []
    problems: list[Problem] = []
    for kind in KINDS:
        for path in kind.files(folder, environment):
            file = Path(os.path.relpath(path, folder / environment)).as_posix()
            text, problem = read_text(path, file, folder)
            if problem:
                problems.append(problem)
                continue
            mover = _Mover(kind, file, migrations, formats(kind))
            try:
                found += mover.move(path, text, partial(_around, folder, environment, tuple(found), path))
            except SpecError as error:
                problems += error.problems
            problems += mover.problems
    return [*_paired(environment, found)], problems


def _paired(environment: str, found: Iterable[Move]) -> Iterator[Move]:
    """Yield ``found`` with lock files that name each other as they were moved."""
    moved = {move.file: move.text for move in found if move.before != move.after}
    locks = paired(environment, _lock(ALLOCATIONS, AllocationsLock, moved), _lock(IMAGE_PINS, ImagesLock, moved))
    texts = dict(zip((ALLOCATIONS, IMAGE_PINS), map(lock_text, locks), strict=True))
    for move in found:
        yield replace(move, text=texts[move.file]) if move.file in texts and move.file in moved else move


def _lock(file: str, model: type[_Lock], moved: Mapping[str, str]) -> _Lock:
    """Return a lock file that was moved; an empty one where there is none."""
    spec = parsed(file, moved[file], model)[0] if file in moved else None
    return spec if isinstance(spec, model) else model(schema_version=model.FORMAT)


def _around(folder: Path, environment: str, moved: Iterable[Move], without: Path) -> Environment:
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary)
        for part in (CATALOG, environment):
            shutil.copytree(folder / part, copy / part)
        for move in moved:
            (copy / move.path.relative_to(folder)).write_text(move.text, encoding="utf-8")
        to_come = {folder / environment / lock for lock in (ALLOCATIONS, IMAGE_PINS)} - {move.path for move in moved}
        for path in to_come | {without}:
            (copy / path.relative_to(folder)).unlink(missing_ok=True)
        return load_environment(environment, copy)


class _Mover:
    """Moves one file. Afterwards ``problems`` says why not."""

    def __init__(self, kind: FileKind, file: str, migrations: Migrations, current: int) -> None:
        self._kind = kind
        self._file = file
        self._migrations = migrations.get(kind.name, {})
        self._current = current
        self.problems: list[Problem] = []

    def move(self, path: Path, text: str, around: Around) -> Iterator[Move]:
        before = self._version(text)
        if before is None:
            return
        if before < self._current:
            edit, model = partial(self._moved, before=before, around=around), self._kind.model
            text = self._sealed(rewritten(text, edit), model) if issubclass(model, LockFile) else edited(text, edit)
        if not self.problems:
            yield Move(path=path, file=self._file, before=before, after=self._current, text=text)

    def _moved(self, document: Any, before: int, around: Around) -> Any:
        for version in range(before, self._current):
            document = self._migrations.get(version, _unchanged)(document, around)
            document[_KEY] = version + 1
        return document

    def _version(self, text: str) -> int | None:
        """Return the version of a file that can be moved."""
        reader = StrictYamlReader(self._file, most_values(self._kind.model))
        data, place = reader.read(text)
        self.problems += reader.problems.values()
        if self.problems:
            return None
        if not isinstance(data, dict) or _KEY not in data:
            remedy = f"is required; add {_KEY}: and the version the file was written for, {self._current} if it is new"
            self.problems.append(Problem(self._file, place.line, _KEY, remedy))
            return None
        version, line = data[_KEY], place.inner[_KEY].line
        if type(version) is not int or version < 1:
            text = f"must be a version, 1 to {self._current} (got {shown(version)})"
        elif version > self._current:
            text = f"is {version}, and this jacquard knows {self._current} at most; update jacquard"
        else:
            return version
        self.problems.append(Problem(self._file, line, _KEY, text))
        return None

    def _sealed(self, text: str, model: type[LockFile]) -> str:
        """Return a lock file in its own form, with the digest that fits."""
        data, _ = StrictYamlReader(self._file, most_values(self._kind.model)).read(text)
        try:
            return lock_text(model.model_validate_json(json.dumps(data), strict=True))
        except ValidationError as error:
            for mistake in mistakes(error, model, data):
                text = f"{mistake.text}; the migration left this, correct it in components/allocate/migrations.py"
                self.problems.append(Problem(self._file, 0, dotted(mistake.path), text))
            return ""


def _unchanged(document: Any, around: Around) -> Any:  # noqa: ARG001 - what every migration gets
    return document
