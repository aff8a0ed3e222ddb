"""Loader of the library's tables: one YAML file, or a folder of YAML files with one topic each."""

from pathlib import Path
from typing import TypeVar

import yaml

from components.specs.base import DataFile, Spec
from components.specs.reading.files import read_text
from components.specs.reading.parsing import parsed
from components.specs.reading.problems import Problem

_File = TypeVar("_File", bound=DataFile)
_Table = TypeVar("_Table", bound=Spec)


def table_file(file: Path, model: type[_Table]) -> _Table:
    """Return the content of a file of the library, which is part of the release and always valid."""
    return model.model_validate(yaml.load(file.read_bytes(), Loader=yaml.CSafeLoader))


def table_rows(file: Path, model: type[_Table]) -> tuple[_Table, ...]:
    """Return the rows of a file of the library that is a list, in order."""
    return tuple(map(model.model_validate, yaml.load(file.read_bytes(), Loader=yaml.CSafeLoader)))


def shipped_files(folder: Path, model: type[_File]) -> dict[str, _File]:
    """Return the files of a folder of the library by name; tests read them with `table_files`."""
    return {path.name: table_file(path, model) for path in sorted(folder.glob("*.yaml"))}


def table_files(folder: Path, model: type[_File]) -> tuple[dict[str, _File], list[Problem]]:
    """Return the valid files of ``folder`` by name, and the problems of all other files."""
    files: dict[str, _File] = {}
    problems: list[Problem] = []
    for path in sorted(folder.glob("*.yaml")):
        text, problem = read_text(path, path.name, folder)
        spec, _, file_problems = (None, None, (problem,)) if problem else parsed(path.name, text, model)
        problems += file_problems
        if isinstance(spec, model):
            files[path.name] = spec
    return files, problems
