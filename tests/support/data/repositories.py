"""Data under version control, to compare with an earlier commit."""

from __future__ import annotations

import subprocess
from pathlib import Path

COMMIT = ("-c", "user.name=a", "-c", "user.email=a@example", "commit", "-q", "-m", "data")


def git(folder: Path, *arguments: str) -> str:
    """Return the output of git."""
    done = subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def committed(environments: Path) -> Path:
    """Return a folder of environments in a new repository with one commit that contains only this folder."""
    git(environments.parent, "init", "-q", "-b", "main")
    git(environments.parent, "add", environments.name)
    git(environments.parent, *COMMIT)
    return environments
