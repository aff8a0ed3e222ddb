"""The page of error texts only contains texts that the program prints."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from jacquard.machine import paths

PAGE = paths.ROOT / "docs" / "troubleshooting.md"
HEADINGS = re.findall(r"^### `(.+)`$", PAGE.read_text(), re.MULTILINE)
HOLE = "\0"
"""Placeholder for a value in a text."""


def texts() -> Iterator[str]:
    """Yield each text of the program, with placeholders for values, and the tables that contain texts."""
    yield (paths.ROOT / "jacquard" / "exchange" / "treatments.yaml").read_text()
    for folder in ("components", "jacquard", "policies", "stacks"):
        for file in (paths.ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.JoinedStr):
                    yield "".join(str(part.value) if isinstance(part, ast.Constant) else HOLE for part in node.values)
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield node.value


@pytest.fixture(scope="module")
def program() -> str:
    return "\n".join(texts())


def test_there_are_headings() -> None:
    assert len(HEADINGS) > 12
    assert len(HEADINGS) == len({*HEADINGS})


@pytest.mark.parametrize("heading", HEADINGS)
def test_the_program_prints_the_text(program: str, heading: str) -> None:
    parts = [part.strip(" ;:,'") for part in heading.split("...")]

    assert [part for part in parts if len(part) > 3 and part not in program] == []
