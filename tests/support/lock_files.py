"""Writes lock files outside a command."""

from __future__ import annotations

from pathlib import Path

from components.specs.environment import Environment
from components.specs.locks import AllocationsLock, ImagesLock
from components.specs.reading.store import lock_texts
from jacquard.machine.edits import editing


def write_locks(environment: Environment, folder: Path, numbers: AllocationsLock, pins: ImagesLock) -> list[Path]:
    """Write both lock files of ``environment`` in ``folder`` (all environments) and return the files that changed."""
    with editing(folder, [environment.name], "test") as edit:
        return edit.write(lock_texts(environment, folder, numbers, pins))
