"""What must hold before anything is made; every problem at once, one line each, with its remedy."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from jacquard.lab.toolchain import binaries, tools, versions
from jacquard.lab.toolchain.families import Family
from jacquard.lab.toolchain.tools import Tool
from jacquard.lab.toolchain.versions import Version
from jacquard.machine import paths

VENV_BYTES = 400 << 20
"""What ``.venv`` needs while it is made."""
OTHER_FOLDER = "make it writable or name another folder:"


def size(count: int) -> str:
    """Return a number of bytes for people."""
    return f"{count / (1 << 30):.1f} GiB" if count >= 1 << 30 else f"{count / (1 << 20):.0f} MiB"


def existing(folder: Path) -> Path:
    """Return the nearest folder that exists."""
    return next(candidate for candidate in (folder, *folder.parents) if candidate.exists())


def free_bytes(folder: Path) -> int:
    """Return how many bytes the file system of ``folder`` has left."""
    return shutil.disk_usage(existing(folder)).free


def folder_bytes(folder: Path) -> int:
    """Return how many bytes the files of a folder hold; they may come and go while this counts."""
    total = 0
    for parent, _, files in os.walk(folder):
        for file in files:
            with contextlib.suppress(FileNotFoundError):
                total += (Path(parent) / file).lstat().st_size
    return total


def go_problem(go: Tool | None) -> str:
    """Return what is wrong with the Go on PATH, or nothing."""
    minimum = versions.dotted(tools.GO_MINIMUM)
    get = f"install Go {minimum} or newer from go.dev/dl"
    if not go:
        return f"go: is not on PATH; {get}"
    if not go.version or go.version < tools.GO_MINIMUM:
        return f"go: {go.path} is {go.known_version}, needs {minimum} or newer; {get}"
    return ""


def usable(go: Tool | None) -> Version | None:
    """Return the version of a Go that can build, or None."""
    return go.version if go and not go_problem(go) else None


def missing_tool(name: str) -> str:
    """Return the complaint about a tool that PATH lacks."""
    return f"{name}: is not on PATH; install it with the system's package manager"


def space_problem(missing: Sequence[Family], free: Callable[[Path], int] = free_bytes) -> str:
    """Return whether the cache's disk is too full to build what is missing, or nothing.

    What an interrupted build has left counts as built.
    """
    need = sum(family.disk_bytes for family in missing)
    need -= folder_bytes(binaries.workspace()) if missing else 0
    what = f"building {', '.join(family.name for family in missing)}"
    return _space(paths.cache(), need, what, "free some, or name a folder on a larger disk: JACQUARD_CACHE", free)


def problems(
    missing: Sequence[Family],
    *,
    go: Tool | None,
    venv: bool,
    find: Callable[[str], Tool | None] = tools.find,
    free: Callable[[Path], int] = free_bytes,
) -> list[str]:
    """Return everything that stands in the way.

    Args:
        missing: the families that have to be built.
        go: the Go on PATH.
        venv: whether ``.venv`` has to be made.
        find: how tools are looked up.
        free: how many bytes are free in a folder's file system.
    """
    found = [go_problem(go)] if missing else []
    found += [missing_tool(name) for name in tools.wanted() if not find(name)]
    if venv and not importlib.util.find_spec("ensurepip"):
        found.append(
            "python: the modules venv and ensurepip are missing; install them "
            "(Debian and Ubuntu: apt-get install python3-venv)"
        )
    unwritable = _unwritable("cache", paths.cache(), f"{OTHER_FOLDER} JACQUARD_CACHE")
    found.append(unwritable)
    if paths.cache() not in paths.home().parents:
        found.append(_unwritable("cache", paths.home(), f"{OTHER_FOLDER} JACQUARD_HOME"))
    if paths.IS_CLONE:
        found.append(_unwritable("clone", paths.ROOT, "make it writable, or clone to another folder"))
    if not unwritable:
        found.append(space_problem(missing, free))
    if venv:
        found.append(_space(paths.ROOT, VENV_BYTES, "making .venv", "free some", free))
    return [problem for problem in found if problem]


def _unwritable(what: str, folder: Path, remedy: str) -> str:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return ""
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        return f"{what}: cannot write to {folder} ({reason}); {remedy}"


def _space(folder: Path, need: int, what: str, remedy: str, free: Callable[[Path], int]) -> str:
    left = free(folder)
    if left >= need:
        return ""
    return f"disk: {what} needs {size(need)}, {folder} has {size(left)} free; {remedy}"
