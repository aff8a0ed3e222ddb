"""Where built binaries and modules' data folders are found.

A family lies in ``binaries/<family>-<digest>-go<major.minor>``: everything that decides its content is in the name, so
clones that agree share it and clones that differ never meet.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from jacquard.lab.toolchain import versions
from jacquard.lab.toolchain.families import FAMILIES, Data, Family
from jacquard.lab.toolchain.versions import Version
from jacquard.machine import paths
from jacquard.machine.errors import ToolchainError

OVERRIDE = "JACQUARD_BINARIES"
"""Names a folder whose binaries are used before the built ones; for people who work on this repository."""


def path(name: str) -> Path:
    """Return the executable ``name``.

    Raises:
        ToolchainError: it is not built.
        KeyError: no family has a binary of that name.
    """
    family = _of_binary(name)
    chosen = overridden(name)
    if chosen:
        return chosen
    found = folder(family)
    if not found:
        message = f"{name}: {family.name} {family.version} is not built; run `{paths.set_up()}`"
        raise ToolchainError(message)
    return found / "bin" / name


def data(name: str) -> Path:
    """Return the folder with the files of a module, laid out as in the module.

    Raises:
        ToolchainError: they have not been fetched.
        KeyError: no family has data of that name.
    """
    family, wanted = _of_data(name)
    found = _data_folder(family, wanted)
    if found:
        return found
    message = f"{name}: the files of {wanted.module} are not there yet; run `{paths.set_up()}`"
    raise ToolchainError(message)


def module_folder(module_cache: Path, wanted: Data, family: Family) -> Path:
    """Return where a module cache keeps the version of the module that ``family`` pins; a capital is written ``!c``."""
    escaped = re.sub("[A-Z]", lambda capital: f"!{capital[0].lower()}", wanted.module)
    return module_cache / f"{escaped}@{versions.of_module(family.folder / 'go.mod', wanted.module)}"


def overridden(name: str) -> Path | None:
    """Return the executable in the developer's folder, if there is such a folder and it has it."""
    chosen = os.environ.get(OVERRIDE)
    candidate = Path(chosen).expanduser().resolve() / name if chosen else None
    return candidate if candidate and candidate.is_file() else None


def target(family: Family, go: Version) -> Path:
    """Return the folder of ``family`` as built by this version of Go."""
    return paths.cache() / "binaries" / f"{family.name}-{family.digest()}-go{versions.dotted(go[:2])}"


def workspace() -> Path:
    """Return the folder of builds under way and their caches; it is gone when nothing is left to build."""
    return paths.cache() / "build"


def folder(family: Family) -> Path | None:
    """Return the complete folder of ``family`` that the newest Go built, or None."""
    found = (paths.cache() / "binaries").glob(f"{family.name}-{family.digest()}-go*")
    whole = [candidate for candidate in found if complete(candidate, family)]
    return max(
        whole, key=lambda candidate: versions.parse(candidate.name.rpartition("-go")[2]) or (0, 0, 0), default=None
    )


def complete(candidate: Path, family: Family) -> bool:
    """Tell whether a folder has all binaries and data of ``family``."""
    files = [candidate / "bin" / binary.name for binary in family.binaries]
    files += [candidate / "data" / data.name / content for data in family.data for content in data.contents]
    return all(file.exists() for file in files)


def missing(families: tuple[Family, ...], go: Version | None) -> list[Family]:
    """Return what has to be built: with a Go at hand for that Go, without one only what nobody built."""
    return [family for family in families if not _satisfied(family, go)]


def _satisfied(family: Family, go: Version | None) -> bool:
    if family.binaries and all(overridden(binary.name) for binary in family.binaries):
        return all(_data_folder(family, wanted) for wanted in family.data)
    return complete(target(family, go), family) if go else folder(family) is not None


def _data_folder(family: Family, wanted: Data) -> Path | None:
    """Find a module's files: in the cache, else, for developers, where Go itself keeps modules."""
    built = folder(family)
    if built:
        return built / "data" / wanted.name
    module_cache = _module_cache() if os.environ.get(OVERRIDE) else None
    if not module_cache:
        return None
    found = module_folder(module_cache, wanted, family)
    return found if all((found / content).exists() for content in wanted.contents) else None


def _of_binary(name: str) -> Family:
    for family in FAMILIES:
        if any(binary.name == name for binary in family.binaries):
            return family
    raise KeyError(name)


def _of_data(name: str) -> tuple[Family, Data]:
    for family in FAMILIES:
        for candidate in family.data:
            if candidate.name == name:
                return family, candidate
    raise KeyError(name)


def _module_cache() -> Path | None:
    try:
        answer = subprocess.run(["go", "env", "GOMODCACHE"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return Path(answer.stdout.strip())
