"""Texts follow the style of the project: docstrings, comments, messages and pages avoid the words of a list."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from jacquard.machine import paths
from tests.support.docs.documents import pages, prose

LIST: dict[str, list[dict[str, str]]] = yaml.safe_load(
    (paths.ROOT / "tests/support/docs/prose.yaml").read_text(encoding="utf-8")
)
EVERYWHERE, OPENINGS = LIST["everywhere"], LIST["docstrings"]
FOLDERS = ("components", "jacquard", "policies", "stacks")
SOURCES = sorted(file for folder in FOLDERS for file in (paths.ROOT / folder).rglob("*.py"))
PAGES = [page for page in pages() if page.name != "upstream-constraints.md"]
_CODE = re.compile(r"`+[^`]*`+|\{[^{}]*\}|\]\([^)]*\)")
_WORDS = re.compile(r"\s")


def violations(text: str, rows: list[dict[str, str]]) -> Iterator[str]:
    """Yield each word of ``text`` that a row forbids, with what to write instead."""
    for row in rows:
        for match in re.finditer(rf"\b(?:{row['words']})\b" if rows is EVERYWHERE else row["words"], text):
            yield f"'{match[0]}': write {row['instead']}"


def texts(source: str) -> Iterator[tuple[int, str]]:
    """Yield comments and strings of several words in ``source``, with their lines and without code inside."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and _WORDS.search(token.string)):
            yield token.start[0], _CODE.sub("", token.string)


def docstrings(source: str) -> Iterator[tuple[int, str]]:
    """Yield the docstrings of modules, classes and functions in ``source``, with the line of their owner."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            yield getattr(node, "lineno", 1), ast.get_docstring(node) or ""


def in_source(file: Path) -> list[str]:
    """Return the violations in a source file, with their lines."""
    source = file.read_text(encoding="utf-8")
    found = [(line, problem) for line, text in texts(source) for problem in violations(text, EVERYWHERE)]
    found += [(line, problem) for line, text in docstrings(source) for problem in violations(text, OPENINGS)]
    return [f"{file.relative_to(paths.ROOT)}:{line}: {problem}" for line, problem in sorted(found)]


def test_sources_avoid_the_words_of_the_list() -> None:
    assert [problem for file in SOURCES for problem in in_source(file)] == []
    assert len(SOURCES) > 800


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(paths.ROOT)))
def test_pages_avoid_the_words_of_the_list(page: Path) -> None:
    assert list(violations(_CODE.sub("", prose(page)), EVERYWHERE)) == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('"""What a host is."""\n', ["'What': write a noun phrase or an imperative"]),
        ("x = 1  # nobody reads it\n", ["'nobody': write a passive, or the component that acts"]),
        ('x = f"{told} hosts"\n', []),
        ('x = "told"\n', []),
        ('x = "hosts side by side"\n', ["'side by side': write in parallel"]),
    ],
)
def test_violations_are_found(source: str, expected: list[str], tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    file = tmp_path / "module.py"
    file.write_text(source, encoding="utf-8")

    assert [text.partition(": ")[2] for text in in_source(file)] == expected
