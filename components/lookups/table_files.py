"""Loader of the library's tables: a folder of YAML files, each with rows of one topic."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from components.specs.base import DataFile
from components.specs.reading.files import read_text
from components.specs.reading.loader import parsed
from components.specs.reading.problems import Problem

_File = TypeVar("_File", bound=DataFile)


def table_files(folder: Path, model: type[_File]) -> tuple[dict[str, _File], list[Problem]]:
    """Return the readable files of ``folder`` by name, and all problems of the others."""
    files: dict[str, _File] = {}
    problems: list[Problem] = []
    for path in sorted(folder.glob("*.yaml")):
        text, problem = read_text(path, path.name, folder)
        spec, _, found = (None, None, (problem,)) if problem else parsed(path.name, text, model)
        problems += found
        if isinstance(spec, model):
            files[path.name] = spec
    return files, problems
