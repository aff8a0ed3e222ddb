"""Tools that must be installed on the machine: Go and git; for a clone also make."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from jacquard.lab.toolchain import versions
from jacquard.lab.toolchain.versions import Version
from jacquard.machine import paths

GO_MINIMUM = (1, 26, 6)
"""Oldest Go version that the pinned modules accept."""

_VERSION_COMMANDS = {"go": ("env", "GOVERSION"), "git": ("--version",), "make": ("--version",)}
_TIMEOUT_SECONDS = 20


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A tool on PATH; the version is None if the tool prints no version."""

    name: str
    path: Path
    version: Version | None

    @property
    def known_version(self) -> str:
        """Return the version as text."""
        return versions.dotted(self.version) if self.version else "of unknown version"


def wanted() -> tuple[str, ...]:
    """Return the tools that are always required, even if everything is built."""
    return ("git", "make") if paths.IS_CLONE else ("git",)


def find(name: str) -> Tool | None:
    """Return the tool ``name`` if it is on PATH."""
    path = shutil.which(name)
    if not path:
        return None
    return Tool(name=name, path=Path(path), version=ask_version(path, *_VERSION_COMMANDS[name]))


def ask_version(path: str, *arguments: str) -> Version | None:
    """Run a tool and return its version; with GOTOOLCHAIN=local, Go reports its own version, not one to download."""
    environment = {**os.environ, "GOTOOLCHAIN": "local"}
    try:
        answer = subprocess.run(
            [path, *arguments], capture_output=True, text=True, env=environment, timeout=_TIMEOUT_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return versions.parse(answer.stdout) if answer.returncode == 0 else None
