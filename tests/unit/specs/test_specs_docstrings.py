"""Each field and each enumeration value has a docstring that is understandable alone in an editor."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from jacquard.machine import paths

SPECS = sorted((paths.ROOT / "components" / "specs").rglob("*.py"))
FOLDERS = ("components", "jacquard", "policies", "stacks")
LEANING = re.compile(
    r"(As|By|Of|From|Also|And|Or|Only|Same|The same|Ditto|None|Such as|Beside|Below|With|Without|Required|Copied"
    r"|Unique (in|on|within)|It|Its|They|Their|Them|These|Those)\b"
)
"""Prefixes of docstrings that depend on neighbouring fields."""
TELEGRAM = re.compile(r"(?<!-> )\b(none( given| listed)?|0):", re.IGNORECASE)
"""Abbreviated statements of defaults in place of a sentence."""


def fields(definition: ast.ClassDef) -> Iterator[str]:
    """Yield the annotated fields of a model or dataclass, and the members of an enumeration."""
    enumeration = any(isinstance(base, ast.Name) and base.id.endswith("Enum") for base in definition.bases)
    for statement in definition.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.Assign(targets=[ast.Name(id=name)]) if enumeration:
                yield name


def docstrings(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the docstrings of modules, constants, classes and their fields, each with its name."""
    yield "module", ast.get_docstring(tree) or ""
    yield from below("", tree.body)
    for definition in ast.walk(tree):
        if isinstance(definition, ast.ClassDef):
            yield definition.name, ast.get_docstring(definition) or ""
            yield from below(f"{definition.name}.", definition.body)


def below(owner: str, body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    """Yield the docstring that follows each assignment of ``body``."""
    for statement, follower in pairwise(body):
        match statement, follower:
            case (
                ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield f"{owner}{name}", text


def undocumented(tree: ast.Module) -> list[str]:
    documented = {name for name, text in docstrings(tree) if text}
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    every = [f"{definition.name}.{name}" for definition in classes for name in fields(definition)]
    return [name for name in every if name not in documented]


def fragments(tree: ast.Module) -> list[str]:
    found = [(name, text) for name, text in docstrings(tree) if LEANING.match(text) or TELEGRAM.search(text)]
    return [f"{name}: {text}" for name, text in found]


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_every_field_and_every_member_of_the_data_has_a_docstring(path: Path) -> None:
    assert undocumented(parsed(path)) == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_of_modules_classes_fields_and_constants_are_self_contained(folder: str) -> None:
    files = (paths.ROOT / folder).rglob("*.py")

    assert {str(path): found for path in files if (found := fragments(parsed(path)))} == {}


def test_a_field_and_a_member_without_a_docstring_are_found() -> None:
    tree = ast.parse(
        "class Kind(StrEnum):\n    RACK = 'rack'\n    HALL = 'hall'\n    '''Hosts of one hall fail together.'''\n"
        "class PoolSpec(Spec):\n    model_config = ConfigDict()\n    name: str\n    nodes: int\n    '''Machines.'''\n"
    )

    assert undocumented(tree) == ["Kind.RACK", "PoolSpec.name"]


@pytest.mark.parametrize(
    "text",
    ["As rolling, but later.", "By cluster.", "Of each rollout group.", "It is ready.", "Hours; none given: any."],
)
def test_a_docstring_that_leans_on_its_neighbour_is_found(text: str) -> None:
    assert fragments(ast.parse(f"class PoolSpec(Spec):\n    name: str\n    '''{text}'''\n")) == [
        f"PoolSpec.name: {text}"
    ]
