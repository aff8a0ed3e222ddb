"""Reads the text of one YAML file into its model, and reports all problems of the file."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

from pydantic import ValidationError

from components.specs.base import DataFile
from components.specs.locks import UNDO, LockFile
from components.specs.placeholders import leftovers
from components.specs.reading.positions import Place, Positions
from components.specs.reading.problems import MAX_PROBLEMS, Problem, dotted, listed
from components.specs.reading.strict_yaml import MAX_VALUES, StrictYamlReader
from components.specs.reading.translate import Mistake, mistakes

_VERSION = "schema_version"
_OF_OBJECTS = {"apiVersion", "kind"}
_MANY = 3
"""Minimum number of unknown keys, if they are the majority, by which a file counts as another kind of file."""
MAX_LOCK_VALUES = 200_000
"""Maximum number of values in a file that commands write; 60,000 hosts have 70,000 in a lock file, 180,000 in tests."""


def most_values(model: type[DataFile]) -> int:
    """Return the maximum number of values in a file of ``model``."""
    return MAX_LOCK_VALUES if model.WRITTEN_BY_COMMAND else MAX_VALUES


@lru_cache(maxsize=64)
def parsed(file: str, text: str, model: type[DataFile]) -> tuple[DataFile | None, Place, tuple[Problem, ...]]:
    """Return the spec in ``text``, the positions of its values, and its problems.

    The result is cached, because all environments share one catalogue and programs load an environment repeatedly.
    """
    reader = StrictYamlReader(file, most_values(model))
    data, place = reader.read(text)
    traps = reader.problems
    if data in (None, "") and not traps:
        return None, place, (Problem(file, place.line, "", _empty(text, model)),)
    if not isinstance(data, dict):
        unread = tuple(replace(problem, remedy=None) for problem in traps.values())
        return None, place, unread or (Problem(file, 0, "", "must be a mapping of keys"),)
    other = _other_format(file, data, place, model)
    if other:
        return None, place, (other,)
    for path, leftover in () if model.HAS_PLACEHOLDERS else leftovers(data):
        line = Positions({file: place}).line(file, path)
        traps.setdefault(path, Problem(file, line, dotted(path), leftover))
    try:
        # JSON mode rejects conversions that Python mode allows: "4" to a number, 4 to text, 1 to a boolean.
        spec = model.model_validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        if error.error_count() > MAX_PROBLEMS:
            text = f"has {error.error_count():,} mistakes and is probably a different file; restore the original file"
            return None, place, (Problem(file, place.line, "", text),)
        return None, place, _reported(file, _mistakes(error, model, data), traps, place)
    return spec, place, tuple(traps.values())


def _reported(
    file: str, mistaken: Iterable[Mistake], traps: dict[tuple[str | int, ...], Problem], place: Place
) -> tuple[Problem, ...]:
    """Return the problems of a file whose model found mistakes; of two problems of one value, the more precise one."""
    positions, problems = Positions({file: place}), []
    for mistake in mistaken:
        at = mistake.path
        trap = traps[at].text if at in traps else ""
        kept = mistake.wants_text or trap.startswith(("merge keys", "is defined"))
        if (trap and not kept) or trap.endswith("in quotes"):  # Quotes alone do not fix the problem.
            traps[at] = Problem(file, traps[at].line, dotted(at), mistake.text, remedy=mistake.remedy)
        elif trap:
            traps[at] = replace(traps[at], remedy=None)
        elif not any(at[:depth] in traps for depth in range(len(at) + 1)):
            line = positions.line(file, at)
            problems.append(Problem(file, line, dotted(at), mistake.text, remedy=mistake.remedy))
    return (*traps.values(), *problems)


def _empty(text: str, model: type[DataFile]) -> str:
    """Return the problem text of a file without keys."""
    lines = list(filter(None, map(str.strip, text.split("\n"))))
    commented = all(line.startswith("#") for line in lines)
    rule = "is empty" if not lines else "contains only comments" if commented else "contains no keys"
    if issubclass(model, LockFile):
        return f"{rule}; {UNDO}"
    required = [name for name, field in model.model_fields.items() if field.is_required()]
    if required == [_VERSION]:
        return f"{rule}; write {_VERSION}: {model.FORMAT}, or remove the file"
    return f"{rule}; restore the file with git checkout, or write its keys (required: {listed(required)})"


def _mistakes(error: ValidationError, model: type[DataFile], data: Any) -> Iterator[Mistake]:
    """Yield the mistakes in ``data``; for lock files the remedy is always to restore the file."""
    for mistake in mistakes(error, model, data):
        if issubclass(model, LockFile):
            text = f"{mistake.text.partition('; ')[0]}; {UNDO}"
            yield Mistake(mistake.path, text, mistake.wants_text)
        else:
            yield mistake


def _other_format(file: str, data: dict[str, Any], place: Place, model: type[DataFile]) -> Problem | None:
    """Return the problem of a file in another format or version, whose other problems are not meaningful."""
    if data.keys() >= _OF_OBJECTS:
        text = "is an object of Kubernetes, which does not belong here; move it, or restore the file with git checkout"
        return Problem(file, place.line, "", text)
    unknown = [key for key in data if key not in model.model_fields]
    if len(unknown) >= _MANY and len(unknown) > len(data) - len(unknown) - (_VERSION in data):
        keys = listed(name for name in model.model_fields if name != _VERSION)
        text = (
            f"is another kind of file: it has {listed(unknown, _MANY)}, but keys here are {keys}; move the file, or"
            " restore it with git checkout"
        )
        return Problem(file, place.inner[unknown[0]].line, "", text)
    version = data.get(_VERSION)
    if type(version) is not int or version < 1 or version == model.FORMAT:
        return None
    remedy = "run jacquard migrate" if version < model.FORMAT else "update jacquard"
    text = f"is {version}, but this jacquard reads {model.FORMAT}; {remedy}"
    return Problem(file, place.inner[_VERSION].line, _VERSION, text)
