"""Programs that a test starts, each with its own log."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


class Programs:
    """Running programs by name, with their logs in a folder; `stop` ends all of them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, *command: str, **variables: str) -> None:
        """Start a program with further environment variables; its output is appended to ``NAME.log``."""
        with (self._folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(command, env={**os.environ, **variables}, stdout=log, stderr=log)
        self._running[name] = process

    def kill(self, name: str) -> None:
        """Kill a program, as a host failure does."""
        process = self._running.pop(name)
        process.kill()
        process.wait()

    def stop(self) -> None:
        """Kill all programs."""
        for name in list(self._running):
            self.kill(name)
