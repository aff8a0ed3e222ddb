"""The tools a bare machine must bring: Go and git; a clone is worked on by make besides."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from jacquard.lab.toolchain import versions
from jacquard.lab.toolchain.versions import Version
from jacquard.machine import paths

GO_MINIMUM = (1, 26, 6)
"""What the pinned modules ask for."""

_VERSION_COMMANDS = {"go": ("env", "GOVERSION"), "git": ("--version",), "make": ("--version",)}
_TIMEOUT_SECONDS = 20


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A tool on PATH; its version is None when it does not tell one."""

    name: str
    path: Path
    version: Version | None

    @property
    def known_version(self) -> str:
        """Return the version for people."""
        return versions.dotted(self.version) if self.version else "of unknown version"


def wanted() -> tuple[str, ...]:
    """Return the tools that are needed whatever has been built."""
    return ("git", "make") if paths.IS_CLONE else ("git",)


def find(name: str) -> Tool | None:
    """Return the tool ``name`` if PATH has it."""
    path = shutil.which(name)
    if not path:
        return None
    return Tool(name=name, path=Path(path), version=ask_version(path, *_VERSION_COMMANDS[name]))


def ask_version(path: str, *arguments: str) -> Version | None:
    """Run a tool to learn its version; a Go must answer for itself, not for a newer one it would fetch."""
    environment = {**os.environ, "GOTOOLCHAIN": "local"}
    try:
        answer = subprocess.run(
            [path, *arguments], capture_output=True, text=True, env=environment, timeout=_TIMEOUT_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return versions.parse(answer.stdout) if answer.returncode == 0 else None
