"""Texts of data files that look like credentials, in values and in comments."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from components.specs.base import DataFile
from components.specs.locks import LockFile
from components.specs.reading.files import read_text
from components.specs.reading.kinds import data_files
from components.specs.reading.positions import Place
from components.specs.reading.problems import Problem, dotted
from components.specs.reading.strict_yaml import StrictYamlReader
from components.specs.secret_text import found

RULE = "data.secret"
"""Name of the advice in reports."""
_REMEDY = "remove it, replace it at its issuer, and store the new one in a Secret"
_OF_LOCKS = "remove it from the catalogue, replace it at its issuer, and promote the pools"


def secrets_in_files(folder: Path, name: str) -> Iterator[Problem]:
    """Yield an advice for each credential in the files of environment ``name`` in ``folder`` and in the catalogue.

    The values are not shown. Files without the form of a credential are not parsed.
    """
    home = folder / name
    for path, kind in data_files(folder, [name]):
        file = path.relative_to(home).as_posix() if path.is_relative_to(home) else f"../{path.relative_to(folder)}"
        yield from _secrets(path, file, folder, kind.model)
    for path in sorted(home.glob("inventory/*.csv")):
        yield from _secrets(path, f"inventory/{path.name}", folder, None)


def _secrets(path: Path, file: str, folder: Path, model: type[DataFile] | None) -> Iterator[Problem]:
    text, problem = read_text(path, file, folder)
    matches = [] if problem else list(found(text))
    places = [
        (text.count("\n", 0, offset) + 1, "", kind)
        for offset, kind in matches
        if model is None or _is_comment(text, offset)
    ]
    if matches and model is not None:
        places += _in_values(*StrictYamlReader(file, max_values=len(text)).read(text), ())
    remedy = _OF_LOCKS if model is not None and issubclass(model, LockFile) else _REMEDY
    for line, at, kind in sorted(places):
        yield Problem(file, line, at, f"contains what looks like {kind}; {remedy}", rule=RULE)


def _is_comment(text: str, offset: int) -> bool:
    """Return whether a comment of YAML is before ``offset`` in its line."""
    before = text[text.rfind("\n", 0, offset) + 1 : offset]
    return before.lstrip().startswith("#") or " #" in before


def _in_values(value: Any, place: Place, path: tuple[str | int, ...]) -> Iterator[tuple[int, str, str]]:
    """Yield line, path and description of each credential in a value or key of a document."""
    if isinstance(value, str):
        yield from ((place.line, dotted(path), kind) for _, kind in found(value))
        return
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in entries:
        there = place.inner.get(step, place)
        yield from ((there.line, dotted((*path, step)), kind) for _, kind in found(str(step)))
        yield from _in_values(inner, there, (*path, step))
