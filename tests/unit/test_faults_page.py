"""The page of faults lists each fault once, with tests that exist or with a gap."""

from __future__ import annotations

import ast
import re

import pytest

from jacquard.machine import paths

TESTS = paths.ROOT / "tests"
PAGE = (paths.ROOT / "docs" / "contributing" / "faults.md").read_text()
FAULTS = re.findall(r"^(\d+)\. (.+)\n((?:    - .+\n?)*)", PAGE, re.MULTILINE)
COUNT = 40


@pytest.fixture(scope="module")
def names() -> frozenset[str]:
    """Return the names of all test functions."""
    return frozenset(
        node.name
        for file in TESTS.rglob("test_*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    )


def test_each_fault_is_listed_once() -> None:
    assert [int(number) for number, _, _ in FAULTS] == [*range(1, COUNT + 1)]


@pytest.mark.parametrize(("number", "entries"), [(number, entries) for number, _, entries in FAULTS])
def test_a_fault_names_tests_that_exist_or_a_gap(names: frozenset[str], number: str, entries: str) -> None:
    lines = re.findall(r"^    - (.+)$", entries, re.MULTILINE)
    named = [line.strip("`") for line in lines if not line.startswith("Gap: ")]

    assert lines, f"fault {number} has neither a test nor a gap"
    assert [name for name in named if name not in names and not (paths.ROOT / name).is_file()] == []
