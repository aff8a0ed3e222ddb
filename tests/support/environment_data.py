"""Copies of the data that a test may spoil."""

from __future__ import annotations

import shutil
from pathlib import Path

from toolchain import paths

ENVIRONMENTS = paths.ROOT / "environments"


def copy_data(folder: Path, *names: str) -> Path:
    """Copy the catalogue and the environments ``names`` into ``folder``, which must not exist yet, and return it."""
    for name in ("catalog", *names):
        shutil.copytree(ENVIRONMENTS / name, folder / name)
    return folder
