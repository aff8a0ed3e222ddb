"""Copies of the data that a test may spoil."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jacquard.machine import paths

ENVIRONMENTS = paths.ROOT / "environments"
LAPTOP = ENVIRONMENTS / "laptop"


def copy_data(folder: Path, *names: str) -> Path:
    """Copy the catalogue and the environments ``names`` into ``folder``, which must not exist yet, and return it."""
    for name in ("catalog", *names):
        (folder / name).mkdir(parents=True)
        for path, content in _files(name):
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_bytes(content)
    return folder


@cache
def _files(name: str) -> tuple[tuple[Path, bytes], ...]:
    """Return the files of an environment; they are read once, since thousands of tests have a copy."""
    files = sorted(path for path in (ENVIRONMENTS / name).rglob("*") if path.is_file())
    return tuple((path.relative_to(ENVIRONMENTS), path.read_bytes()) for path in files)
