"""Free space of disks."""

import shutil
from pathlib import Path


def existing(folder: Path) -> Path:
    """Return ``folder``, or its nearest parent that exists."""
    return next(candidate for candidate in (folder, *folder.parents) if candidate.exists())


def free_bytes(folder: Path) -> int:
    """Return the number of free bytes in the file system of ``folder``."""
    return shutil.disk_usage(existing(folder)).free
