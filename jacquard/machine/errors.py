"""The errors of the toolchain, and what is said of the operating system's."""

from __future__ import annotations


class ToolchainError(Exception):
    """Something the user can put right; the text is the whole message, several problems on several lines."""


class SettingError(ToolchainError):
    """A setting of ours has a value that nothing can be done with, or nobody says which project: wrong usage."""


def explained(error: OSError) -> str:
    """Return in one line what the operating system refused, such as ``/cache: read-only file system``."""
    reason = (error.strerror or str(error)).lower()
    return f"{error.filename}: {reason}" if error.filename else reason
