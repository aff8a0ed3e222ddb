"""Texts of both lock files, which are always written together, because each contains the digest of the other."""

from pathlib import Path

from components.specs.environment import Environment
from components.specs.locks import AllocationsLock, ImagesLock
from components.specs.reading.loader import ALLOCATIONS, IMAGE_PINS
from components.specs.reading.lock_text import lock_text, paired


def lock_texts(environment: Environment, folder: Path, numbers: AllocationsLock, pins: ImagesLock) -> dict[Path, str]:
    """Return the texts of the lock files of ``environment``, by path in ``folder`` (all environments)."""
    home = folder / environment.name
    numbers, pins = paired(environment.name, numbers, pins)
    return {home / ALLOCATIONS: lock_text(numbers), home / IMAGE_PINS: lock_text(pins)}
