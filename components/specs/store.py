"""The only writer of lock files: atomic, and only of what changed."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from components.specs.environment import Environment
from components.specs.loader import ALLOCATIONS, IMAGE_PINS
from components.specs.lock_text import lock_text
from components.specs.locks import AllocationsLock, ImagesLock


def write_locks(environment: Environment, folder: Path, numbers: AllocationsLock, pins: ImagesLock) -> list[Path]:
    """Write both lock files of ``environment`` in ``folder`` (of all environments) and return those that changed."""
    home = folder / environment.name
    texts = {home / ALLOCATIONS: lock_text(numbers), home / IMAGE_PINS: lock_text(pins)}
    return [path for path, text in texts.items() if replace_text(path, text)]


def replace_text(path: Path, text: str) -> bool:
    """Replace ``path`` by ``text`` in one step; tell whether that changed anything.

    Raises:
        OSError: it cannot be written; the error names ``path``.
    """
    if path.exists() and path.read_bytes() == text.encode():
        return False
    try:
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
        Path(temporary).chmod(mode)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return True
