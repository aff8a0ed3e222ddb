"""What a command would change in lock files, line by line."""

from __future__ import annotations

import difflib
from pathlib import Path

from rich.console import Console
from rich.text import Text

from components.specs.environment import Environment
from components.specs.locks import AllocationsLock, ImagesLock
from components.specs.reading.loader import ALLOCATIONS, IMAGE_PINS
from components.specs.reading.lock_text import lock_text, paired
from jacquard.machine import paths

_DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def changes(environment: Environment, numbers: AllocationsLock, pins: ImagesLock) -> list[str]:
    """Return the difference to the lock files as they are, line by line; empty when there is none."""
    folder = paths.environments() / environment.name
    lines: list[str] = []
    for name, lock in zip((ALLOCATIONS, IMAGE_PINS), paired(environment.name, numbers, pins), strict=True):
        lines += file_changes(f"{environment.name}/{name}", _text(folder / name), lock_text(lock))
    return lines


def file_changes(label: str, before: str, after: str) -> list[str]:
    """Return the difference between two texts of the file ``label``, line by line; empty when there is none."""
    return list(difflib.unified_diff(before.splitlines(), after.splitlines(), label, label, lineterm="", n=0))


def show_diff(console: Console, lines: list[str], told: list[str]) -> None:
    """Print a difference in the colours of one, and then what it means in the words of ``told``."""
    for line in lines:
        console.print(Text(line, _DIFF_STYLES.get(line[:1], "")), soft_wrap=True)
    for line in told:
        console.print(Text(line), soft_wrap=True)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""
