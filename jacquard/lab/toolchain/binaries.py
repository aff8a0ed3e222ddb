"""Paths of built binaries and of the data folders of Go modules.

A family is stored in ``binaries/<family>-<digest>-go<major.minor>``. The digest covers all inputs of the build: clones
with equal inputs share a folder, clones with different inputs use different folders.
"""

import os
import re
import subprocess
from pathlib import Path

from jacquard.lab.toolchain import versions
from jacquard.lab.toolchain.families import FAMILIES
from jacquard.lab.toolchain.family import Data, Family
from jacquard.lab.toolchain.versions import Version
from jacquard.machine import paths
from jacquard.machine.errors import ToolchainError

OVERRIDE = "JACQUARD_BINARIES"
"""Environment variable with a folder whose binaries take precedence over built ones; for work on this repository."""


def path(name: str) -> Path:
    """Return the path of the executable ``name``.

    Raises:
        ToolchainError: the executable is not built.
        KeyError: no family has a binary of that name.
    """
    family = _of_binary(name)
    chosen = overridden(name)
    if chosen:
        return chosen
    built = folder(family)
    if not built:
        message = f"{name}: {family.name} {family.version} is not built; run `{paths.set_up()}`"
        raise ToolchainError(message)
    return built / "bin" / name


def data(name: str) -> Path:
    """Return the folder with the data files of a module, in the layout of the module.

    Raises:
        ToolchainError: the files are not downloaded.
        KeyError: no family has data of that name.
    """
    family, wanted = _of_data(name)
    data_folder = _data_folder(family, wanted)
    if data_folder:
        return data_folder
    message = f"{name}: the files of {wanted.module} are not downloaded; run `{paths.set_up()}`"
    raise ToolchainError(message)


def module_folder(module_cache: Path, wanted: Data, family: Family) -> Path:
    """Return the module cache folder of the version that ``family`` pins; in its name, a capital C is ``!c``."""
    escaped = re.sub("[A-Z]", lambda capital: f"!{capital[0].lower()}", wanted.module)
    return module_cache / f"{escaped}@{versions.of_module(family.folder / 'go.mod', wanted.module)}"


def overridden(name: str) -> Path | None:
    """Return the executable in the folder of `OVERRIDE`, or None without such a folder or file."""
    chosen = os.environ.get(OVERRIDE)
    candidate = Path(chosen).expanduser().resolve() / name if chosen else None
    return candidate if candidate and candidate.is_file() else None


def target(family: Family, go: Version) -> Path:
    """Return the folder of ``family`` for this version of Go."""
    return paths.cache() / "binaries" / f"{family.name}-{family.digest()}-go{versions.dotted(go[:2])}"


def workspace() -> Path:
    """Return the folder of unfinished builds and their caches; it is deleted after the last build."""
    return paths.cache() / "build"


def folder(family: Family) -> Path | None:
    """Return the complete folder of ``family`` built by the newest Go, or None."""
    candidates = (paths.cache() / "binaries").glob(f"{family.name}-{family.digest()}-go*")
    built = [candidate for candidate in candidates if complete(candidate, family)]
    return max(
        built, key=lambda candidate: versions.parse(candidate.name.rpartition("-go")[2]) or (0, 0, 0), default=None
    )


def complete(candidate: Path, family: Family) -> bool:
    """Return whether a folder contains all binaries and data of ``family``."""
    files = [candidate / "bin" / binary.name for binary in family.binaries]
    files += [candidate / "data" / data.name / content for data in family.data for content in data.contents]
    return all(file.exists() for file in files)


def missing(families: tuple[Family, ...], go: Version | None) -> list[Family]:
    """Return the families to build: families not built by ``go``; without Go, families not built by any Go."""
    return [family for family in families if not _satisfied(family, go)]


def _satisfied(family: Family, go: Version | None) -> bool:
    if family.binaries and all(overridden(binary.name) for binary in family.binaries):
        return all(_data_folder(family, wanted) for wanted in family.data)
    return complete(target(family, go), family) if go else folder(family) is not None


def _data_folder(family: Family, wanted: Data) -> Path | None:
    """Return the folder of a module's data: in the cache, otherwise, with `OVERRIDE`, in Go's module cache."""
    built = folder(family)
    if built:
        return built / "data" / wanted.name
    module_cache = _module_cache() if os.environ.get(OVERRIDE) else None
    if not module_cache:
        return None
    module = module_folder(module_cache, wanted, family)
    return module if all((module / content).exists() for content in wanted.contents) else None


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
