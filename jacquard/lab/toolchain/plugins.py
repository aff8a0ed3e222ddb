"""Install the files that ``pulumi`` needs next to its executable and in its home, for this project only.

The user's own Pulumi home is not changed. Each file that differs is written under a temporary name and then renamed.
A running engine therefore never reads a partial file, and a second set-up changes nothing.
"""

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
    """Create the folders ``bin``, ``home/plugins`` and ``state`` of this project's Pulumi.

    Users put ``bin`` first on PATH; the folder therefore also contains the other commands of this project.

    Raises:
        ToolchainError: the built engine is selected, but not built.
    """
    folder = paths.pulumi_bin()
    for required in (folder, paths.pulumi_home() / "plugins", paths.pulumi_state()):
        required.mkdir(parents=True, exist_ok=True)
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
    with contextlib.suppress(ToolchainError):  # With JACQUARD_CLUSTER=kind, kubectl is not built.
        _link(binaries.path("kubectl"), folder / "kubectl")
    for provider in PROVIDERS:
        _provider(provider, engine)
    _forgo_logs()


def launcher(module: str, **variables: Path) -> str:
    """Return a script that runs a module of this project in any working directory, without imports from that directory.

    Args:
        module: name of the module.
        variables: environment variables of the module, with paths as values.
    """
    python = shlex.quote(str(virtualenv.python()))
    settings = "".join(f"export {name}={shlex.quote(str(value))}\n" for name, value in variables.items())
    head = f"#!/bin/sh\n# {MARK}: replaces the vendor's executable of this name\n"
    return f'{head}{settings}exec {python} -P -m {module} "$@"\n'


def _provider(provider: str, engine: Engine) -> None:
    name = f"pulumi-resource-{provider}"
    folder = paths.pulumi_home() / "plugins" / plugin(provider)
    folder.mkdir(exist_ok=True)
    if engine.vendor:
        sources = [file for file in engine.plugins[provider].iterdir() if file.is_file()]
        for source in sources:
            _share(source, folder / source.name)
        names = {source.name for source in sources}
    else:
        _write(folder / name, launcher(f"jacquard.lab.standins.{provider}"), executable=True)
        names = {name}
    for file in folder.iterdir():
        if file.name not in names and not file.name.startswith("."):
            file.unlink(missing_ok=True)


def _forgo_logs() -> None:
    """Disable the engine's automatic logs, for which there is no setting: create a file in place of their folder.

    The engine writes the properties of every resource to these logs several times. These writes are most of the work of
    a large preview, and leave an unwanted copy of the state on disk. Without the folder, the engine only writes a debug
    message.
    """
    logs = paths.pulumi_home() / "logs"
    with contextlib.suppress(OSError):  # a running engine writes into the folder; the next set-up tries again
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
    """Hard-link a file, or copy it across file systems; ``pulumi`` would follow a symbolic link."""
    current = path.stat() if path.is_file() and not path.is_symlink() else None
    wanted = source.stat()
    if current and (current.st_size, current.st_mtime_ns) == (wanted.st_size, wanted.st_mtime_ns):
        return
    partial = _partial(path)
    try:
        partial.hardlink_to(source.resolve())
    except OSError:
        shutil.copy2(source, partial)
    partial.replace(path)


def _link(source: Path, path: Path) -> None:
    """Create a symbolic link, by which the vendor's ``pulumi`` finds its language host, or a script its interpreter."""
    if path.is_symlink() and path.readlink() == source:
        return
    partial = _partial(path)
    partial.symlink_to(source)
    partial.replace(path)


def _partial(path: Path) -> Path:
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.unlink(missing_ok=True)
    return partial
