"""Writes lock files outside a command."""

from __future__ import annotations

from pathlib import Path

from components.specs.environment import Environment
from components.specs.locks import AllocationsLock, ImagesLock
from components.specs.reading.loader import ALLOCATIONS, IMAGE_PINS
from components.specs.reading.lock_text import lock_text, paired
from jacquard.machine.edits import editing


def write_locks(environment: Environment, folder: Path, numbers: AllocationsLock, pins: ImagesLock) -> list[Path]:
    """Write both lock files of ``environment`` in ``folder`` (all environments) and return the files that changed."""
    home = folder / environment.name
    numbers, pins = paired(environment.name, numbers, pins)
    with editing(folder, [environment.name], "test") as edit:
        return edit.write({home / ALLOCATIONS: lock_text(numbers), home / IMAGE_PINS: lock_text(pins)})
