"""Pages of the documentation, and what they point at: links, headings, blocks of YAML."""

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
    """Return what stands in ``page``."""
    return page.read_text(encoding="utf-8")


def prose(page: Path) -> str:
    """Return what stands in ``page`` outside fenced blocks."""
    return _FENCED.sub("", text(page))


def yaml_blocks(page: Path) -> list[str]:
    """Return the blocks of YAML in ``page``."""
    return _YAML.findall(text(page))


def python_blocks(page: Path) -> list[str]:
    """Return the blocks of Python in ``page``."""
    return _PYTHON.findall(text(page))


def contained(shown: Any, whole: Any) -> bool:
    """Tell whether all that is shown is in ``whole``: keys of a mapping, entries of a list that have what is shown."""
    if isinstance(shown, dict):
        return isinstance(whole, dict) and all(
            key in whole and contained(value, whole[key]) for key, value in shown.items()
        )
    if isinstance(shown, list):
        return isinstance(whole, list) and all(any(contained(item, other) for other in whole) for item in shown)
    return bool(shown == whole)


def links(written: str) -> list[str]:
    """Return where links in ``written`` lead within the repository."""
    return [link for link in _LINK.findall(written) if not _ELSEWHERE.match(link)]


def leads_somewhere(page: Path, link: str) -> bool:
    """Tell whether ``link`` leads from ``page`` to a file or folder, and to a heading of it if it names one."""
    name, _, anchor = link.partition("#")
    target = page.parent / name if name else page
    return target.exists() and (not anchor or anchor in _anchors(target))


def _anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^-\w]", "", title.lower().replace(" ", "-")) for title in titles}
