"""Loader of extensions: Python files of a user's repository, each of which defines a predefined name.

Files in ``extensions/components/`` and ``extensions/policies/`` are loaded by path, because these folders are not
packages.
"""

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
"""Function ``concepts`` in a file of ``extensions/components/``; returns the inputs to add to a slice."""
FOLDER = "extensions/components"
FORMER = {FOLDER: "components", "extensions/policies": "policies/rules"}
"""Folder from which extensions were loaded formerly, by current folder."""
PACKAGES = ("components", "jacquard", "policies", "stacks")
"""Packages of Jacquard. A folder of a user's repository with the name of such a package must not be a package
itself."""
_LEAVE = "remove it, or rename it"
_PROJECT = "../../"
"""Path from the folder of an environment to its project."""


@dataclass(frozen=True, slots=True)
class ExtensionFile:
    """Extension file, and the value that the file defines."""

    file: str
    """Path of the file relative to the folder of an environment, as in problems."""
    path: Path
    value: Any


@dataclass(frozen=True, slots=True)
class ExtensionComponent:
    """Extension component. Its code is written by users and may fail."""

    file: str
    path: Path
    make: Concepts

    def inputs(self, environment: Environment, part: Slice) -> tuple[ExtensionInput, ...]:
        """Return the inputs that the component adds to ``part``.

        Raises:
            SpecError: the code of the component fails or yields another type.
        """
        try:
            inputs = tuple(self.make(environment, part))
        except Exception as error:
            text = f"concepts() fails on slice {part.name}: {_message(error)}; fix it"
            raise self._wrong(environment, _line(error, self.path), text) from error
        odd = [type(item).__name__ for item in inputs if not isinstance(item, ExtensionInput)]
        if odd:
            text = f"concepts() yields {odd[0]} for slice {part.name}; yield ExtensionInput of jacquard"
            raise self._wrong(environment, 0, text)
        wrong = [
            f"component '{concept.name}': {_named(item)}: {text}"
            for concept in inputs
            for item in objects(concept.objects)
            for text in annotation_problems(item)
        ]
        if wrong:
            raise self._wrong(environment, 0, *wrong)
        return inputs

    def _wrong(self, environment: Environment, line: int, *texts: str) -> SpecError:
        return SpecError(environment.name, [Problem(self.file, line, "", text) for text in texts])


def extension_inputs(environment: Environment, part: Slice) -> Iterator[ExtensionInput]:
    """Yield the inputs that extension components add to ``part``.

    Raises:
        SpecError: code of a component fails, or two components use the same name.
    """
    files: dict[str, str] = {}
    for component in environment.extensions:
        for item in component.inputs(environment, part):
            if item.name in files:
                other = from_project(files[item.name])
                text = f"component '{item.name}' of slice {part.name} is also in {other}; rename it"
                raise SpecError(environment.name, [Problem(component.file, 0, "", text)])
            files[item.name] = component.file
            yield item


def refuse_twins(environment: Environment, part: Slice, rendered: tuple[Rendered, ...]) -> None:
    """Check that no extension component creates an object that ``part`` already contains.

    Raises:
        SpecError: with all duplicate objects.
    """
    count = Counter(item.key for item in objects(rendered)) if environment.extensions else Counter[str]()
    problems = [
        Problem(
            component.file,
            0,
            "",
            f"component '{concept.name}': {_named(item)} is defined twice in slice {part.name}; {_LEAVE}",
        )
        for component in environment.extensions
        for concept in component.inputs(environment, part)
        for item in objects(concept.objects)
        if count[item.key] > 1
    ]
    if problems:
        raise SpecError(environment.name, problems)


def _named(item: Manifest) -> str:
    where = f"{item.namespace}/" if item.namespace else ""
    return f"{item.kind} {where}{item.name} of cluster {item.cluster}"


def components(project: Path) -> tuple[tuple[ExtensionComponent, ...], tuple[Problem, ...]]:
    """Return the extension components of the repository ``project``, and the problems of their files."""
    files, problems = load(project, FOLDER, "concepts")
    problems += tuple(_shadows(project))
    odd = [file for file in files if not callable(file.value)]
    problems += tuple(
        Problem(
            file.file, 0, "", f"concepts is of type {type(file.value).__name__}; write def concepts(environment, part)"
        )
        for file in odd
    )
    made = (ExtensionComponent(file.file, file.path, file.value) for file in files if file not in odd)
    return tuple(made), problems


def _shadows(project: Path) -> Iterator[Problem]:
    """Yield a problem for each folder that Python would import instead of a package of Jacquard."""
    for name in PACKAGES:
        if (project / name / "__init__.py").is_file():
            text = (
                f"hides the package {name} of Jacquard from programs run in this folder; move your code to extensions/"
            )
            yield Problem(f"{_PROJECT}{name}/__init__.py", 0, "", text)


def _misplaced(project: Path, folder: str) -> Iterator[Problem]:
    """Yield a problem for each file in the former location of ``folder``."""
    for path in sorted((project / FORMER[folder]).glob("[!_]*.py")):
        yield Problem(
            f"{_PROJECT}{path.relative_to(project).as_posix()}", 0, "", f"is not loaded; move it to {folder}/"
        )


def from_project(place: str) -> str:
    """Return the file of a problem relative to the project's folder."""
    return place.removeprefix(_PROJECT)


def load(project: Path, folder: str, name: str) -> tuple[tuple[ExtensionFile, ...], tuple[Problem, ...]]:
    """Return the values of ``name`` in the files of ``folder`` of a repository, and the problems of these files."""
    paths = sorted((project / folder).glob("[!_]*.py"))
    stamps = tuple((path, path.stat().st_mtime_ns) for path in paths)
    files, problems = _loaded(project, name, stamps)
    return files, (*problems, *_misplaced(project, folder))


@lru_cache(maxsize=16)
def _loaded(
    project: Path, name: str, stamps: tuple[tuple[Path, int], ...]
) -> tuple[tuple[ExtensionFile, ...], tuple[Problem, ...]]:
    files, problems = [], []
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
            files.append(ExtensionFile(file, path, getattr(module, name)))
        else:
            text = f"has no {name}; define it, or prefix the file name with _ to ignore it"
            problems.append(Problem(file, 0, "", text))
    return tuple(files), tuple(problems)


def _module(path: Path) -> Any:
    name = f"own_{path.parent.name}_{path.stem}"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(name)
    module = module_from_spec(spec)
    sys.modules[name] = module  # The decorator of data classes looks up the module in sys.modules.
    spec.loader.exec_module(module)
    return module


def _message(error: Exception) -> str:
    return f"{type(error).__name__}: {error.msg if isinstance(error, SyntaxError) else error}"


def _line(error: Exception, path: Path) -> int:
    """Return the line of ``path`` that raised ``error``; 0 if other code raised it."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return error.lineno or 0
    lines, trace = [0], error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    return lines[-1]
