"""Lays out what ``pulumi`` needs beside it and in its home, for this project; never in the user's own.

Every file is written beside its place and renamed, and only when it differs, so a running engine never sees half a
file and a second set-up changes nothing.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import stat
from pathlib import Path

from jacquard.lab.toolchain import binaries, virtualenv
from jacquard.lab.toolchain.engine import MARK, OURS, PROVIDERS, Engine, plugin
from jacquard.machine import paths
from jacquard.machine.errors import ToolchainError

_LANGUAGE_HOST = "pulumi-language-python"
_EXECUTOR = "pulumi-language-python-exec"


def lay_out(engine: Engine) -> None:
    """Make the folders ``bin``, ``home/plugins`` and ``state`` of this project's Pulumi.

    ``bin`` goes to the front of a user's PATH, so it has the other commands of this project as well.

    Raises:
        ToolchainError: the engine is to be the built one and is not built.
    """
    folder = paths.pulumi_bin()
    for made in (folder, paths.pulumi_home() / "plugins", paths.pulumi_state()):
        made.mkdir(parents=True, exist_ok=True)
    _write(folder / OURS, f"{MARK}\n", executable=False)
    if engine.vendor:
        _link(engine.vendor, folder / "pulumi")
        for name in (_LANGUAGE_HOST, _EXECUTOR):
            (folder / name).unlink(missing_ok=True)
    else:
        _share(binaries.path("pulumi"), folder / "pulumi")
        executor = binaries.data("pulumi-sdk") / "python" / "cmd" / _EXECUTOR
        _write(folder / _EXECUTOR, executor.read_text(), executable=True)
        host = launcher("jacquard.lab.standins.language_host", JACQUARD_LANGUAGE_EXEC=folder / _EXECUTOR)
        _write(folder / _LANGUAGE_HOST, host, executable=True)
    _link(paths.VENV / "bin" / "jacquard", folder / "jacquard")
    with contextlib.suppress(ToolchainError):  # not built where others bring the clusters
        _link(binaries.path("kubectl"), folder / "kubectl")
    for provider in PROVIDERS:
        _provider(provider, engine)
    _forgo_logs()


def launcher(module: str, **variables: Path) -> str:
    """Return a script that runs a module of ours from any folder, whatever packages lie there.

    Args:
        module: what to run.
        variables: paths that the module finds in its environment.
    """
    python = shlex.quote(str(virtualenv.python()))
    settings = "".join(f"export {name}={shlex.quote(str(value))}\n" for name, value in variables.items())
    head = f"#!/bin/sh\n# {MARK}: stands in for the vendor's executable of this name\n"
    return f'{head}{settings}exec {python} -P -m {module} "$@"\n'


def _provider(provider: str, engine: Engine) -> None:
    name = f"pulumi-resource-{provider}"
    folder = paths.pulumi_home() / "plugins" / plugin(provider)
    folder.mkdir(exist_ok=True)
    if engine.vendor:
        sources = [file for file in engine.plugins[provider].iterdir() if file.is_file()]
        for source in sources:
            _share(source, folder / source.name)
        kept = {source.name for source in sources}
    else:
        _write(folder / name, launcher(f"jacquard.lab.standins.{provider}"), executable=True)
        kept = {name}
    for file in folder.iterdir():
        if file.name not in kept and not file.name.startswith("."):
            file.unlink(missing_ok=True)


def _forgo_logs() -> None:
    """Put a file where the engine makes its folder of automatic logs, which nothing else switches off.

    It writes the properties of every resource there several times over: most of the work of a large preview, and a copy
    of the state on disk that nobody asked for. Without the folder it says so in its debug log and goes on.
    """
    logs = paths.pulumi_home() / "logs"
    with contextlib.suppress(OSError):  # a running engine writes there; the next set-up sees to it
        if logs.is_dir():
            shutil.rmtree(logs)
        _write(logs, "", executable=False)


def _write(path: Path, text: str, *, executable: bool) -> None:
    mode = 0o755 if executable else 0o644
    if path.is_file() and not path.is_symlink() and stat.S_IMODE(path.stat().st_mode) == mode:
        with path.open("rb") as file:
            if file.read(len(text.encode()) + 1) == text.encode():
                return
    partial = _partial(path)
    partial.write_text(text)
    partial.chmod(mode)
    partial.replace(path)


def _share(source: Path, path: Path) -> None:
    """Hard-link a file, or copy it to another file system; not a symbolic link, which ``pulumi`` would follow."""
    there = path.stat() if path.is_file() and not path.is_symlink() else None
    wanted = source.stat()
    if there and (there.st_size, there.st_mtime_ns) == (wanted.st_size, wanted.st_mtime_ns):
        return
    partial = _partial(path)
    try:
        partial.hardlink_to(source.resolve())
    except OSError:
        shutil.copy2(source, partial)
    partial.replace(path)


def _link(source: Path, path: Path) -> None:
    """Link symbolically: the vendor's ``pulumi`` so finds its own language host, a script its own interpreter."""
    if path.is_symlink() and path.readlink() == source:
        return
    partial = _partial(path)
    partial.symlink_to(source)
    partial.replace(path)


def _partial(path: Path) -> Path:
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.unlink(missing_ok=True)
    return partial
