"""The only writer of lock files. Both files are written together, each atomically and only if its content changed."""

from pathlib import Path

from components.specs.environment import Environment
from components.specs.locks import AllocationsLock, ImagesLock
from components.specs.reading.loader import ALLOCATIONS, IMAGE_PINS
from components.specs.reading.lock_text import lock_text, paired
from jacquard.machine.files import replace_text


def write_locks(environment: Environment, folder: Path, numbers: AllocationsLock, pins: ImagesLock) -> list[Path]:
    """Write both lock files of ``environment`` in ``folder`` (all environments) and return the files that changed."""
    home = folder / environment.name
    numbers, pins = paired(environment.name, numbers, pins)
    texts = {home / ALLOCATIONS: lock_text(numbers), home / IMAGE_PINS: lock_text(pins)}
    return [path for path, text in texts.items() if replace_text(path, text)]
