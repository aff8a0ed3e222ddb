"""Changes of lock files as line diffs."""

import difflib

from rich.console import Console
from rich.text import Text

from components.specs.environment import Environment
from components.specs.locks import AllocationsLock, ImagesLock
from components.specs.reading.loader import ALLOCATIONS, IMAGE_PINS
from components.specs.reading.lock_text import lock_text, paired
from jacquard.machine import paths
from jacquard.machine.files import existing_text

_DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def changes(environment: Environment, numbers: AllocationsLock, pins: ImagesLock) -> list[str]:
    """Return the diff between the lock files on disk and the new ones, line by line; empty if they are equal."""
    folder = paths.environments() / environment.name
    lines: list[str] = []
    for name, lock in zip((ALLOCATIONS, IMAGE_PINS), paired(environment.name, numbers, pins), strict=True):
        lines += file_changes(f"{environment.name}/{name}", existing_text(folder / name), lock_text(lock))
    return lines


def file_changes(label: str, before: str, after: str) -> list[str]:
    """Return the diff between two texts of the file ``label``, line by line; empty if they are equal."""
    return list(difflib.unified_diff(before.splitlines(), after.splitlines(), label, label, lineterm="", n=0))


def show_diff(console: Console, lines: list[str], explanations: list[str]) -> None:
    """Print a coloured diff, then the ``explanations``."""
    for line in lines:
        console.print(Text(line, _DIFF_STYLES.get(line[:1], "")), no_wrap=True, overflow="ignore", crop=False)
    for line in explanations:
        console.print(Text(line), soft_wrap=True)
