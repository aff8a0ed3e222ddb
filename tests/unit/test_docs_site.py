"""The documentation site has every page once, links within itself and the whole public API; it builds strictly."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

import jacquard
from jacquard.machine import paths
from tests.support.docs.documents import DOCS, links, prose, text

PAGES = sorted(DOCS.rglob("*.md"))
PACKAGES = ("components", "jacquard", "policies", "stacks")
SHORT = 8
"""Parts of an error text with fewer characters are not searched, because they occur by chance."""


def navigation() -> list[str]:
    """Return the pages in the navigation of the site."""
    _, _, nav = text(paths.ROOT / "mkdocs.yml").partition("\nnav:\n")

    def walk(entry: Any) -> list[str]:
        if isinstance(entry, str):
            return [entry]
        return [page for item in (entry.values() if isinstance(entry, dict) else entry) for page in walk(item)]

    return walk(yaml.safe_load(nav))


def test_the_navigation_has_every_page_once() -> None:
    decisions = {page for page in PAGES if page.parent.name == "adr" and page.name != "README.md"}

    assert sorted(navigation()) == sorted(str(page.relative_to(DOCS)) for page in PAGES if page not in decisions)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_links_stay_within_the_site(page: Path) -> None:
    targets = [(page.parent / link.partition("#")[0]).resolve() for link in links(prose(page))]

    assert [target for target in targets if not target.is_relative_to(DOCS)] == []


def test_the_python_reference_has_the_public_api() -> None:
    documented = re.findall(r"^::: ([\w.]+)\.(\w+)$", text(DOCS / "reference" / "python-api.md"), re.MULTILINE)

    assert sorted(name for _, name in documented) == sorted(jacquard.__all__)
    homes = {name: module for module, names in jacquard._HOMES.items() for name in names}
    assert [(module, name) for module, name in documented if homes[name] != module] == []


@cache
def messages() -> str:
    """Return all texts in the source and in its tables; values inside of a text are line breaks."""
    found = []
    for file in (file for package in PACKAGES for file in (paths.ROOT / package).rglob("*.py")):
        for node in ast.walk(ast.parse(text(file))):
            match node:
                case ast.JoinedStr():
                    found.append(
                        "".join(str(part.value) if isinstance(part, ast.Constant) else "\n" for part in node.values)
                    )
                case ast.Constant(value=str()):
                    found.append(node.value)
    found += [text(file) for package in PACKAGES for file in (paths.ROOT / package).rglob("*.yaml")]
    return "\n".join(found)


def errors() -> list[str]:
    """Return the error texts that the page about troubleshooting explains."""
    return re.findall(r"^### `(.+)`$", text(DOCS / "troubleshooting.md"), re.MULTILINE)


@pytest.mark.parametrize("error", errors())
def test_errors_of_the_page_are_texts_of_the_commands(error: str) -> None:
    parts = [part.strip(" ';,:") for part in re.split(r"\.\.\.", error)]
    searched = [part for part in parts if len(part) >= SHORT]

    assert searched
    assert [part for part in searched if part not in messages()] == []


def test_the_tools_of_the_site_are_pinned() -> None:
    group = tomllib.loads(text(paths.ROOT / "pyproject.toml"))["dependency-groups"]["docs"]
    pinned = re.findall(r"^([\w-]+)==", text(paths.ROOT / "requirements-docs.lock"), re.MULTILINE)

    assert {re.split("[=>]", item)[0] for item in group} <= set(pinned)


@pytest.mark.nightly  # The tools have 17,000 files and are not part of the setup.
def test_the_site_builds_without_warnings(tmp_path: Path) -> None:
    assert find_spec("zensical"), "run 'make docs-tools' first"
    shutil.copytree(DOCS, tmp_path / "docs")
    shutil.copy(paths.ROOT / "mkdocs.yml", tmp_path)  # A symbolic link would make the clone the root of the site.
    for name in ("components", "jacquard"):
        (tmp_path / name).symlink_to(paths.ROOT / name)

    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "No issues found" in done.stderr
    site = tmp_path / "site"
    assert 'class="mermaid"' in text(site / "contributing" / "architecture" / "index.html")
    start = text(site / "index.html")
    assert 'stylesheets/site.css"' in start
    assert re.findall(r'(?:src|rel="stylesheet" href)="https?://[^"]*', start) == []
    assert 'class="mermaid"' not in start  # Mermaid is loaded from another site.
    api = text(site / "reference" / "python-api" / "index.html")
    assert all(f'.{name}"' in api for name in jacquard.__all__)
    assert len(json.loads(text(site / "search.json"))["items"]) > len(PAGES)
