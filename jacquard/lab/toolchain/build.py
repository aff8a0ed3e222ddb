"""Build families from their pinned Go modules into the cache that all clones share.

Modules and object files are kept in separate caches until every family is built. An interrupted build therefore
continues where it stopped; the caches, several gigabytes, are deleted at the end. The user's Go configuration applies,
including the checksum database; only settings that would change the result are overridden.
"""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from jacquard.lab.toolchain import binaries, process, versions
from jacquard.lab.toolchain.family import Binary, Data, Family
from jacquard.lab.toolchain.progress import Progress, duration
from jacquard.lab.toolchain.tools import Tool
from jacquard.machine import paths
from jacquard.machine.lock import held

_DATA_SECONDS = 2
_NOT_PASSED_ON = ("GOOS", "GOARCH", "GOEXPERIMENT", "GOBIN")


def build(missing: Sequence[Family], go: Tool, progress: Progress) -> None:
    """Build the missing families; a second process waits for the first one and reuses its result.

    Raises:
        ToolchainError: a build fails.
    """
    seconds = sum(binary.expected_seconds for family in missing for binary in family.binaries)
    progress.say("build", f"{', '.join(family.name for family in missing)}: about {duration(seconds)} on two cores")
    with held(paths.cache() / "build.lock", "building", lambda text: progress.say("build", text)):
        for family in missing:
            if not binaries.complete(_target(family, go), family):
                _build_family(family, go, progress)
        shutil.rmtree(binaries.workspace(), ignore_errors=True)


def _build_family(family: Family, go: Tool, progress: Progress) -> None:
    target = _target(family, go)
    unfinished = binaries.workspace() / target.name
    modules = unfinished / "modules"
    modules.mkdir(parents=True, exist_ok=True)
    for file in family.sources:
        shutil.copyfile(file, modules / file.name)
    for data in family.data:
        _fetch(data, family, go, unfinished, progress)
    for binary in family.binaries:
        _compile(binary, family, go, unfinished, progress)
    shutil.rmtree(modules)
    if target.exists():
        shutil.rmtree(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished.rename(target)


def _fetch(data: Data, family: Family, go: Tool, unfinished: Path, progress: Progress) -> None:
    """Download a module and copy its data files; go.sum of the family verifies the download."""
    subject = f"{data.name} files"
    source = binaries.module_folder(_module_cache(), data, family)
    version = versions.of_module(family.folder / "go.mod", data.module)
    seconds = process.run(
        [go.path, "mod", "download", f"{data.module}@{version}"],
        what=subject,
        folder=unfinished / "modules",
        environment=environment(),
        log=_log(family, data.name),
        tick=progress.running(subject, _DATA_SECONDS),
    )
    target = unfinished / "data" / data.name
    for content in data.contents:
        (target / content).parent.mkdir(parents=True, exist_ok=True)
        if (source / content).is_dir():
            shutil.copytree(source / content, target / content, dirs_exist_ok=True)
        else:
            shutil.copy2(source / content, target / content)
    progress.say(subject, f"{version} in {duration(seconds)}")


def _compile(binary: Binary, family: Family, go: Tool, unfinished: Path, progress: Progress) -> None:
    finished = unfinished / "bin" / binary.name
    if finished.exists():
        progress.say(binary.name, f"{family.version} already built before the interruption")
        return
    partial = binaries.workspace() / f"{binary.name}.{os.getpid()}"
    seconds = process.run(
        [go.path, "build", *family.flags(), "-o", partial, binary.package],
        what=binary.name,
        folder=unfinished / "modules",
        environment=environment(),
        log=_log(family, binary.name),
        tick=progress.running(binary.name, binary.expected_seconds),
    )
    finished.parent.mkdir(parents=True, exist_ok=True)
    partial.rename(finished)
    expected = duration(binary.expected_seconds)
    progress.say(binary.name, f"{family.version} in {duration(seconds)} (expected {expected})")


def environment() -> dict[str, str]:
    """Return the environment variables of all ``go`` commands."""
    inherited = {name: value for name, value in os.environ.items() if name not in _NOT_PASSED_ON}
    return {
        **inherited,
        "CGO_ENABLED": "0",
        "GOFLAGS": "-mod=readonly -modcacherw",
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
        "GOCACHE": str(binaries.workspace() / "objects"),
        "GOMODCACHE": str(_module_cache()),
    }


def _module_cache() -> Path:
    return binaries.workspace() / "downloads"


def _target(family: Family, go: Tool) -> Path:
    return binaries.target(family, go.version or (0, 0, 0))


def _log(family: Family, name: str) -> Path:
    return paths.cache() / "logs" / f"{family.name}-{name}.log"
