"""Loader of extensions: Python files of a user's repository, each of which defines a predefined name.

Files in ``extensions/components/`` and ``extensions/policies/`` are loaded by path, because these folders are not
packages. Their code runs in another process (`components.inputs.extensions.process`).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from components.inputs.extensions import process as extension_process
from components.inputs.extensions.process import Code, ExtensionError
from components.lookups.slices import Slice
from components.render.extensions import ExtensionInput, annotation_problems
from components.render.manifest import Manifest, Rendered, objects
from components.specs.environment import Environment
from components.specs.reading.problems import Problem, SpecError
from components.specs.struct import Struct

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


class ExtensionFile(Struct, kw_only=False):
    """Extension file, and the value that the file defines."""

    file: str
    """Path of the file relative to the folder of an environment, as in problems."""
    path: Path
    value: Any
    type_name: str


class ExtensionComponent(Struct, kw_only=False):
    """Extension component. Its code is written by users and may fail."""

    file: str
    make: Concepts

    def inputs(self, environment: Environment, part: Slice) -> tuple[ExtensionInput, ...]:
        """Return the inputs that the component adds to ``part``.

        Raises:
            SpecError: the code of the component fails or yields another type.
        """
        try:
            made: object = self.make(environment, part)
        except ExtensionError as error:
            text = f"concepts() fails on slice {part.name}: {error.reason}; fix it"
            raise self._wrong(environment, error.line, text) from error
        inputs = tuple(made) if isinstance(made, Iterable) else (made,)
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
        Problem(file.file, 0, "", f"concepts is of type {file.type_name}; write def concepts(environment, part)")
        for file in odd
    )
    return tuple(ExtensionComponent(file.file, file.value) for file in files if file not in odd), problems


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
    for path, stamp in stamps:
        file = f"{_PROJECT}{path.relative_to(project).as_posix()}"
        try:
            found = extension_process.load(Code(project, path, stamp), name)
        except ExtensionError as error:
            text = f"cannot be imported: {error.reason}; fix it, or move it out of {path.parent.relative_to(project)}/"
            problems.append(Problem(file, error.line, "", text))
            continue
        if found:
            files.append(ExtensionFile(file, path, found.value, found.type_name))
        else:
            text = f"has no {name}; define it, or prefix the file name with _ to ignore it"
            problems.append(Problem(file, 0, "", text))
    return tuple(files), tuple(problems)
