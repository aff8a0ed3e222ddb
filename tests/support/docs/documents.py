"""Pages of the documentation, with their links, headings and YAML blocks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from jacquard.machine import paths

DOCS = paths.ROOT / "docs"
_LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_YAML = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ELSEWHERE = re.compile(r"[a-z]+:")


def pages() -> list[Path]:
    """Return all pages of the repository, sorted."""
    return sorted([*paths.ROOT.glob("*.md"), *DOCS.rglob("*.md")])


def text(page: Path) -> str:
    """Return the text of ``page``."""
    return page.read_text(encoding="utf-8")


def prose(page: Path) -> str:
    """Return the text of ``page`` outside fenced blocks."""
    return _FENCED.sub("", text(page))


def yaml_blocks(page: Path) -> list[str]:
    """Return the blocks of YAML in ``page``."""
    return _YAML.findall(text(page))


def python_blocks(page: Path) -> list[str]:
    """Return the blocks of Python in ``page``."""
    return _PYTHON.findall(text(page))


def contained(shown: Any, whole: Any) -> bool:
    """Return whether ``whole`` contains ``shown``: all keys of a mapping, and a matching entry for each list entry."""
    if isinstance(shown, dict):
        return isinstance(whole, dict) and all(
            key in whole and contained(value, whole[key]) for key, value in shown.items()
        )
    if isinstance(shown, list):
        return isinstance(whole, list) and all(any(contained(item, other) for other in whole) for item in shown)
    return bool(shown == whole)


def links(written: str) -> list[str]:
    """Return the targets of the links in ``written`` that are within the repository."""
    return [link for link in _LINK.findall(written) if not _ELSEWHERE.match(link)]


def has_target(page: Path, link: str) -> bool:
    """Return whether ``link`` resolves from ``page`` to an existing file or folder, and to an existing heading."""
    name, _, anchor = link.partition("#")
    target = page.parent / name if name else page
    return target.exists() and (not anchor or anchor in _anchors(target))


def _anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^-\w]", "", title.lower().replace(" ", "-")) for title in titles}
