"""Folders are small, and folders of tests have the names of the source that they test."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from jacquard.machine import paths

MOST_FILES = 25
TREES = ("charts", "components", "docs", "jacquard", "policies", "schemas", "stacks", "templates", "tests")
LARGE = {
    "docs/adr": "records are found by their number",
    "docs/reference": "pages with public addresses, most of them generated",
    "schemas": "generated files with public addresses",
}
"""Folders with more files, and the reason."""
TESTED = {
    "tests/policies": "policies/rules",
    "tests/unit/cli": "jacquard/cli",
    "tests/unit/rehearsal": "jacquard/lab/rehearsal",
    "tests/unit/render": "components/render",
    "tests/unit/rules": "components/rules",
    "tests/unit/specs": "components/specs",
}
"""Folders of tests, and the source with the same folders."""


def test_a_folder_has_at_most_25_files() -> None:
    files = (path for tree in TREES for path in (paths.ROOT / tree).rglob("*") if path.is_file())
    counts = Counter(path.parent.relative_to(paths.ROOT).as_posix() for path in files if _is_counted(path))

    large = {folder for folder, count in counts.items() if count > MOST_FILES}
    assert large == LARGE.keys(), "divide the folder by subject, or add it to LARGE with a reason"


@pytest.mark.parametrize(("tests", "source"), TESTED.items())
def test_tests_are_in_the_folder_of_their_module(tests: str, source: str) -> None:
    folders = {path.parent.relative_to(paths.ROOT / tests) for path in (paths.ROOT / tests).rglob("test_*.py")}
    modules = {path.with_suffix("").relative_to(paths.ROOT / source) for path in _modules(paths.ROOT / source)}

    assert folders - modules - {Path()} == set()


def _modules(folder: Path) -> list[Path]:
    """Return the packages and modules below ``folder``."""
    return [path for path in folder.rglob("*") if path.suffix == ".py" or (path.is_dir() and _is_counted(path))]


def _is_counted(path: Path) -> bool:
    return "__pycache__" not in path.parts and path.name != "__init__.py" and not path.name.startswith(".")
