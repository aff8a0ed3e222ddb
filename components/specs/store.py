"""The only writer of ``environments/``: sorted, one entry a line, atomic."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from components.specs.environment import Environment
from components.specs.loader import ALLOCATIONS, IMAGE_PINS
from components.specs.locks import AllocationsLock, ImagesLock
from components.specs.strict_yaml import is_plain

_HEADERS = {
    ALLOCATIONS: "# written by jacquard allocate; review, do not edit\n",
    IMAGE_PINS: "# written by jacquard allocate (new groups) and jacquard promote; review, do not edit\n",
}


def write_locks(environment: Environment, folder: Path, numbers: AllocationsLock, pins: ImagesLock) -> list[Path]:
    """Write both lock files of ``environment`` in ``folder`` (of all environments) and return those that changed."""
    home = folder / environment.name
    texts = {home / ALLOCATIONS: lock_text(numbers), home / IMAGE_PINS: lock_text(pins)}
    return [path for path, text in texts.items() if _write(path, text)]


def lock_text(lock: AllocationsLock | ImagesLock) -> str:
    """Return the text of a lock file: sections in the model's order, entries sorted, one a line."""
    name = ALLOCATIONS if isinstance(lock, AllocationsLock) else IMAGE_PINS
    return _HEADERS[name] + "".join(_sections(lock.model_dump(mode="json")))


def _sections(data: dict[str, Any]) -> Iterator[str]:
    for key, value in data.items():
        if not isinstance(value, dict):
            yield f"{key}: {value}\n"
        elif not value:
            yield f"{key}: {{}}\n"
        else:
            yield f"{key}:\n"
            for name, entry in sorted(value.items()):
                yield f"  {_text(name)}: {_entry(entry)}\n"


def _entry(entry: Any) -> str:
    if isinstance(entry, dict):
        return "{" + ", ".join(f"{key}: {_entry(value)}" for key, value in entry.items()) + "}"
    return _text(entry) if isinstance(entry, str) else str(entry)


def _text(text: str) -> str:
    return text if is_plain(text) else f'"{text}"'


def _write(path: Path, text: str) -> bool:
    """Replace ``path`` by ``text`` in one step; tell whether that changed anything."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
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
