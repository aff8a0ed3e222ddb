"""Prerequisites of the set-up. All problems are reported together, one line each, with a remedy."""

import contextlib
import importlib.util
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from jacquard.lab.toolchain import binaries, tools, versions
from jacquard.lab.toolchain.family import Family
from jacquard.lab.toolchain.tools import Tool
from jacquard.lab.toolchain.versions import Version
from jacquard.machine import paths
from jacquard.machine.disk import free_bytes

VENV_BYTES = 400 << 20
"""Disk space that creating ``.venv`` needs."""
OTHER_FOLDER = "make it writable, or choose another folder with"


def size(count: int) -> str:
    """Format a number of bytes as MiB or GiB."""
    return f"{count / (1 << 30):.1f} GiB" if count >= 1 << 30 else f"{count / (1 << 20):.0f} MiB"


def folder_bytes(folder: Path) -> int:
    """Return the total size of the files in a folder; files may appear or disappear meanwhile."""
    total = 0
    for parent, _, files in os.walk(folder):
        for file in files:
            with contextlib.suppress(FileNotFoundError):
                total += (Path(parent) / file).lstat().st_size
    return total


def go_problem(go: Tool | None) -> str:
    """Return the problem of the Go on PATH, or an empty string."""
    minimum = versions.dotted(tools.GO_MINIMUM)
    remedy = f"install Go {minimum} or newer from go.dev/dl"
    if not go:
        return f"go: is not on PATH; {remedy}"
    if not go.version or go.version < tools.GO_MINIMUM:
        return f"go: {go.path} is {go.known_version}, needs {minimum} or newer; {remedy}"
    return ""


def usable(go: Tool | None) -> Version | None:
    """Return the version of ``go`` if it can build, or None."""
    return go.version if go and not go_problem(go) else None


def missing_tool(name: str) -> str:
    """Return the problem of a tool that is not on PATH."""
    return f"{name}: is not on PATH; install it with the system's package manager"


def space_problem(missing: Sequence[Family], free: Callable[[Path], int] = free_bytes) -> str:
    """Return the problem if the disk of the cache is too full to build ``missing``, or an empty string.

    The files of an interrupted build count as built.
    """
    need = sum(family.disk_bytes for family in missing)
    need -= folder_bytes(binaries.workspace()) if missing else 0
    task = f"building {', '.join(family.name for family in missing)}"
    remedy = "free some space, or choose a folder on a larger disk with JACQUARD_CACHE"
    return _space(paths.cache(), need, task, remedy, free)


def problems(
    missing: Sequence[Family],
    *,
    go: Tool | None,
    venv: bool,
    find: Callable[[str], Tool | None] = tools.find,
    free: Callable[[Path], int] = free_bytes,
) -> list[str]:
    """Return all problems that block the set-up.

    Args:
        missing: the families to build.
        go: the Go on PATH.
        venv: whether ``.venv`` has to be created.
        find: lookup of tools.
        free: returns the number of free bytes in the file system of a folder.
    """
    messages = [go_problem(go)] if missing else []
    messages += [missing_tool(name) for name in tools.wanted() if not find(name)]
    if venv and not importlib.util.find_spec("ensurepip"):
        messages.append(
            "python: the modules venv and ensurepip are missing; install them "
            "(Debian and Ubuntu: apt-get install python3-venv)"
        )
    unwritable = _unwritable("cache", paths.cache(), f"{OTHER_FOLDER} JACQUARD_CACHE")
    messages.append(unwritable)
    if paths.cache() not in paths.home().parents:
        messages.append(_unwritable("cache", paths.home(), f"{OTHER_FOLDER} JACQUARD_HOME"))
    if paths.IS_CLONE:
        messages.append(_unwritable("clone", paths.ROOT, "make it writable, or clone to another folder"))
    if not unwritable:
        messages.append(space_problem(missing, free))
    if venv:
        messages.append(_space(paths.ROOT, VENV_BYTES, "creating .venv", "free some space", free))
    return [problem for problem in messages if problem]


def _unwritable(subject: str, folder: Path, remedy: str) -> str:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return ""
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        return f"{subject}: cannot write to {folder} ({reason}); {remedy}"


def _space(folder: Path, need: int, task: str, remedy: str, free: Callable[[Path], int]) -> str:
    left = free(folder)
    if left >= need:
        return ""
    return f"disk: {task} needs {size(need)}, {folder} has {size(left)} free; {remedy}"
