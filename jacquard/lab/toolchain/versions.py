"""Parsing and formatting of versions, and reading of pins from go.mod and requirements.lock."""

import re
from importlib import metadata
from pathlib import Path

from jacquard.machine import paths

Version = tuple[int, int, int]

_NUMBER = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")


def parse(text: str) -> Version | None:
    """Return the first version in ``text`` ("go1.26.8", "v3.259.0", "GNU Make 4.3"), or None."""
    match = _NUMBER.search(text)
    return (int(match[1]), int(match[2]), int(match[3] or 0)) if match else None


def dotted(version: tuple[int, ...]) -> str:
    """Format a version with dots."""
    return ".".join(str(part) for part in version)


def of_module(go_mod: Path, module: str) -> str:
    """Return the version that a ``go.mod`` requires of ``module``, with its leading v.

    Raises:
        LookupError: the file does not require that module.
    """
    match = re.search(rf"^\s*(?:require )?{re.escape(module)} (v\S+)", go_mod.read_text(), re.MULTILINE)
    if not match:
        message = f"{go_mod} does not require {module}"
        raise LookupError(message)
    return match[1]


def of_package(package: str) -> str:
    """Return the version of a Python package from the lock file; without a clone, the installed version.

    Raises:
        LookupError: the lock file does not pin the package, or the package is not installed.
    """
    if not paths.IS_CLONE:
        return metadata.version(package)
    lock = paths.ROOT / "requirements.lock"
    match = re.search(rf"^{re.escape(package)}==(\S+)", lock.read_text(), re.MULTILINE)
    if not match:
        message = f"{lock} does not pin {package}"
        raise LookupError(message)
    return match[1]
