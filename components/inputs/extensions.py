"""Extensions: Python code of a user's repository, loaded by path; each file of a folder defines one agreed name.

Files are loaded by path: they lie in ``extensions/components/`` and ``extensions/policies/`` and are no package.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, TypeAlias

from components.lookups.slices import Slice
from components.render.extensions import ExtensionInput, annotation_problems
from components.render.manifest import Manifest, Rendered, objects
from components.specs.environment import Environment
from components.specs.reading.problems import Problem, SpecError

Concepts: TypeAlias = Callable[[Environment, Slice], Iterable[ExtensionInput]]
"""Function ``concepts`` in a file of ``extensions/components/``: returns the inputs that it adds to one slice."""
FOLDER = "extensions/components"
FORMER = {FOLDER: "components", "extensions/policies": "policies/rules"}
"""Former folder of each folder of extensions."""
PACKAGES = ("components", "jacquard", "policies", "stacks")
"""Packages of Jacquard; a folder of a user's repository with one of these names must not be a package."""
_LEAVE = "remove it, or rename it"
_PROJECT = "../../"
"""Path from the folder of an environment to its project."""


@dataclass(frozen=True, slots=True)
class ExtensionFile:
    """One extension file and the value it defines."""

    file: str
    """Path of the file from the folder of an environment, as in problems."""
    path: Path
    value: Any


@dataclass(frozen=True, slots=True)
class ExtensionComponent:
    """An extension component, whose code may fail."""

    file: str
    path: Path
    make: Concepts

    def inputs(self, environment: Environment, part: Slice) -> tuple[ExtensionInput, ...]:
        """Return the inputs that the component adds to ``part``.

        Raises:
            SpecError: its code fails, or yields another type.
        """
        try:
            found = tuple(self.make(environment, part))
        except Exception as error:
            text = f"concepts() fails on slice {part.name}: {_message(error)}; fix it"
            raise self._wrong(environment, _line(error, self.path), text) from error
        odd = [type(one).__name__ for one in found if not isinstance(one, ExtensionInput)]
        if odd:
            text = f"concepts() yields {odd[0]} for slice {part.name}; yield ExtensionInput of jacquard"
            raise self._wrong(environment, 0, text)
        wrong = [
            f"component '{one.name}': {_named(item)}: {text}"
            for one in found
            for item in objects(one.objects)
            for text in annotation_problems(item)
        ]
        if wrong:
            raise self._wrong(environment, 0, *wrong)
        return found

    def _wrong(self, environment: Environment, line: int, *texts: str) -> SpecError:
        return SpecError(environment.name, [Problem(self.file, line, "", text) for text in texts])


def extension_inputs(environment: Environment, part: Slice) -> Iterator[ExtensionInput]:
    """Yield the inputs that extension components add to ``part``.

    Raises:
        SpecError: code of one fails, or two use the same name.
    """
    files: dict[str, str] = {}
    for component in environment.extensions:
        for one in component.inputs(environment, part):
            if one.name in files:
                other = from_project(files[one.name])
                text = f"component '{one.name}' of slice {part.name} is also in {other}; rename it"
                raise SpecError(environment.name, [Problem(component.file, 0, "", text)])
            files[one.name] = component.file
            yield one


def refuse_twins(environment: Environment, part: Slice, rendered: tuple[Rendered, ...]) -> None:
    """Check that no extension component creates an object of ``part`` that exists already.

    Raises:
        SpecError: with all duplicate objects.
    """
    count = Counter(item.key for item in objects(rendered)) if environment.extensions else Counter[str]()
    problems = [
        Problem(
            component.file,
            0,
            "",
            f"component '{one.name}': {_named(item)} is defined twice in slice {part.name}; {_LEAVE}",
        )
        for component in environment.extensions
        for one in component.inputs(environment, part)
        for item in objects(one.objects)
        if count[item.key] > 1
    ]
    if problems:
        raise SpecError(environment.name, problems)


def _named(item: Manifest) -> str:
    where = f"{item.namespace}/" if item.namespace else ""
    return f"{item.kind} {where}{item.name} of cluster {item.cluster}"


def components(project: Path) -> tuple[tuple[ExtensionComponent, ...], tuple[Problem, ...]]:
    """Return the extension components of the repository ``project``, and the problems of their files."""
    found, problems = load(project, FOLDER, "concepts")
    problems += tuple(_shadows(project))
    odd = [one for one in found if not callable(one.value)]
    problems += tuple(
        Problem(
            one.file, 0, "", f"concepts is of type {type(one.value).__name__}; write def concepts(environment, part)"
        )
        for one in odd
    )
    made = (ExtensionComponent(one.file, one.path, one.value) for one in found if one not in odd)
    return tuple(made), problems


def _shadows(project: Path) -> Iterator[Problem]:
    """Yield a problem for each folder that Python would import in place of a package of Jacquard."""
    for name in PACKAGES:
        if (project / name / "__init__.py").is_file():
            text = (
                f"hides the package {name} of Jacquard from programs run in this folder; move your code to extensions/"
            )
            yield Problem(f"{_PROJECT}{name}/__init__.py", 0, "", text)


def _misplaced(project: Path, folder: str) -> Iterator[Problem]:
    """Yield a problem for each file in the former place of ``folder``."""
    for path in sorted((project / FORMER[folder]).glob("[!_]*.py")):
        yield Problem(
            f"{_PROJECT}{path.relative_to(project).as_posix()}", 0, "", f"is not loaded; move it to {folder}/"
        )


def from_project(place: str) -> str:
    """Return a place of a problem relative to the project's folder."""
    return place.removeprefix(_PROJECT)


def load(project: Path, folder: str, name: str) -> tuple[tuple[ExtensionFile, ...], tuple[Problem, ...]]:
    """Return the values of ``name`` in the files of ``folder`` of a repository, and the problems of these files."""
    paths = sorted((project / folder).glob("[!_]*.py"))
    stamps = tuple((path, path.stat().st_mtime_ns) for path in paths)
    found, problems = _loaded(project, name, stamps)
    return found, (*problems, *_misplaced(project, folder))


@lru_cache(maxsize=16)
def _loaded(
    project: Path, name: str, stamps: tuple[tuple[Path, int], ...]
) -> tuple[tuple[ExtensionFile, ...], tuple[Problem, ...]]:
    found, problems = [], []
    for path, _ in stamps:
        file = f"{_PROJECT}{path.relative_to(project).as_posix()}"
        try:
            module = _module(path)
        except Exception as error:  # noqa: BLE001 - any error of a user's file is reported in one line
            text = (
                f"cannot be imported: {_message(error)}; fix it, or move it out of {path.parent.relative_to(project)}/"
            )
            problems.append(Problem(file, _line(error, path), "", text))
            continue
        if hasattr(module, name):
            found.append(ExtensionFile(file, path, getattr(module, name)))
        else:
            text = f"has no {name}; define it, or prefix the file name with _ to ignore it"
            problems.append(Problem(file, 0, "", text))
    return tuple(found), tuple(problems)


def _module(path: Path) -> Any:
    name = f"own_{path.parent.name}_{path.stem}"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(name)
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look up their module
    spec.loader.exec_module(module)
    return module


def _message(error: Exception) -> str:
    return f"{type(error).__name__}: {error.msg if isinstance(error, SyntaxError) else error}"


def _line(error: Exception, path: Path) -> int:
    """Return the line of ``path`` that raised the error; 0 if it did not."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return error.lineno or 0
    lines, trace = [0], error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    return lines[-1]
