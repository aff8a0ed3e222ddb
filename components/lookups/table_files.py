"""Loader of the library's tables; a table is a folder of YAML files with one topic each."""

from pathlib import Path
from typing import TypeVar

from components.specs.base import DataFile
from components.specs.reading.files import read_text
from components.specs.reading.parsing import parsed
from components.specs.reading.problems import Problem

_File = TypeVar("_File", bound=DataFile)


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
