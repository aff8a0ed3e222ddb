"""Versions: how they are read, compared, and where each pin is written down (go.mod, requirements.lock)."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

from jacquard.machine import paths

Version = tuple[int, int, int]

_NUMBER = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")


def parse(text: str) -> Version | None:
    """Return the first version in ``text`` ("go1.26.8", "v3.259.0", "GNU Make 4.3"), or None."""
    found = _NUMBER.search(text)
    return (int(found[1]), int(found[2]), int(found[3] or 0)) if found else None


def dotted(version: tuple[int, ...]) -> str:
    """Return a version as people write it."""
    return ".".join(str(part) for part in version)


def of_module(go_mod: Path, module: str) -> str:
    """Return the version that a ``go.mod`` requires of ``module``, with its leading v.

    Raises:
        LookupError: the file does not require that module.
    """
    found = re.search(rf"^\s*(?:require )?{re.escape(module)} (v\S+)", go_mod.read_text(), re.MULTILINE)
    if not found:
        message = f"{go_mod} does not require {module}"
        raise LookupError(message)
    return found[1]


def of_package(package: str) -> str:
    """Return the version of a Python package that the lock file pins; without a clone, the one that is installed.

    Raises:
        LookupError: the lock file does not pin that package, or it is not installed.
    """
    if not paths.IS_CLONE:
        return metadata.version(package)
    lock = paths.ROOT / "requirements.lock"
    found = re.search(rf"^{re.escape(package)}==(\S+)", lock.read_text(), re.MULTILINE)
    if not found:
        message = f"{lock} does not pin {package}"
        raise LookupError(message)
    return found[1]
