"""Reads files that may be missing, and replaces files atomically: a reader never sees a part of the new content."""

import os
import stat
import tempfile
from pathlib import Path

_PUBLIC, _PRIVATE = 0o644, 0o600


def existing_text(path: Path) -> str:
    """Return the text of ``path``; empty if there is no such file."""
    return path.read_text(encoding="utf-8") if path.exists() else ""


def replace_text(path: Path, content: str | bytes) -> bool:
    """Write ``path``, keep the mode of an existing file, and return whether the file changed.

    Raises:
        OSError: the file cannot be written; the error names ``path``.
    """
    return _replace(path, _bytes(content), mode_for(path))


def replace_private(path: Path, content: str | bytes) -> bool:
    """Write ``path``, readable by its owner only, and create its folder; return whether the file changed.

    Raises:
        OSError: the file cannot be written; the error names ``path``.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    return _replace(path, _bytes(content), _PRIVATE)


def _bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


def _replace(path: Path, content: bytes, mode: int) -> bool:
    if _mode(path) == mode and path.read_bytes() == content:
        return False
    try:
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(mode)
        Path(temporary).replace(path)
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise
    return True


def mode_for(path: Path) -> int:
    """Return the permissions of the next version of ``path``."""
    return _mode(path) or _PUBLIC


def _mode(path: Path) -> int | None:
    """Return the permissions of ``path``, None if the file does not exist."""
    return stat.S_IMODE(path.stat().st_mode) if path.exists() else None
