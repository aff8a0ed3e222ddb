"""The virtual environment: created from the lock file with hashes, recreated if the lock or the interpreter changes."""

import hashlib
import json
import os
import platform
import shutil
import sys
from pathlib import Path

from jacquard.lab.toolchain import process
from jacquard.lab.toolchain.progress import Progress, duration
from jacquard.machine import paths

_MAKE_SECONDS = 5
_DOWNLOAD_SECONDS = 30
_DEPENDENCIES_SECONDS = 10
_EDITABLE_SECONDS = 5
_BYTECODE_SECONDS = 3
_COMPLETE = "complete"
"""Marker file of a complete download."""


def python() -> Path:
    """Return the interpreter of ``.venv``."""
    return paths.VENV / "bin" / "python"


def fresh() -> bool:
    """Return whether the locked dependencies are installed for this interpreter."""
    return python().exists() and _stamp().get("dependencies") == _dependencies()


def current() -> bool:
    """Return whether the dependencies and this project itself are installed and up to date."""
    return fresh() and _stamp().get("project") == _project()


def ensure(progress: Progress) -> None:
    """Create or update ``.venv``; a stamp is written after each part, so that an interrupted part is repeated.

    Raises:
        ToolchainError: venv or pip fails.
    """
    seconds = 0.0
    if not fresh():
        if paths.VENV.is_symlink() or paths.VENV.is_file():
            paths.VENV.unlink()
        shutil.rmtree(paths.VENV, ignore_errors=True)
        seconds += _run("venv", [_base_python(), "-m", "venv", paths.VENV], _MAKE_SECONDS, progress)
        seconds += _dependencies_from_cache(progress)
        _write_stamp({"dependencies": _dependencies()})
    if not current():
        command = [*_pip(), "install", "--no-deps", "--no-build-isolation", "-e", paths.ROOT]
        seconds += _run("project", command, _EDITABLE_SECONDS, progress)
        _write_stamp({"dependencies": _dependencies(), "project": _project()})
    if _stamp().get("bytecode") != _modules():
        seconds += _run("bytecode", [python(), "-m", "jacquard.lab.toolchain.bytecode"], _BYTECODE_SECONDS, progress)
        _write_stamp(_stamp() | {"bytecode": _modules()})
    text = f"made in {duration(seconds)}" if seconds else "up to date"
    progress.say(".venv", f"{text}, Python {platform.python_version()}")


def _dependencies_from_cache(progress: Progress) -> float:
    """Install the locked packages from files that all clones share; `bytecode` compiles the imported packages."""
    lock, downloads = paths.ROOT / "requirements.lock", wheels()
    locked: list[str | Path] = ["--no-deps", "--require-hashes", "-r", lock]
    seconds = 0.0
    if not (downloads / _COMPLETE).exists():
        downloads.mkdir(parents=True, exist_ok=True)
        seconds += _run("download", [*_pip(), "download", *locked, "-d", downloads], _DOWNLOAD_SECONDS, progress)
        (downloads / _COMPLETE).touch()
    command = [*_pip(), "install", "--no-index", "--find-links", downloads, "--no-compile", *locked]
    return seconds + _run("dependencies", command, _DEPENDENCIES_SECONDS, progress)


def wheels() -> Path:
    """Return the folder of the downloaded packages for this interpreter and platform."""
    lock = (paths.ROOT / "requirements.lock").read_bytes()
    version = ".".join(platform.python_version_tuple()[:2])
    digest = _digest(lock, platform.python_implementation(), version, platform.system(), platform.machine())
    return paths.cache() / "wheels" / digest[:16]


def _run(step: str, command: list[str | Path], expected_seconds: float, progress: Progress) -> float:
    dropped = ("PYTHONDONTWRITEBYTECODE", "PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")
    environment = {name: value for name, value in os.environ.items() if name not in dropped}
    environment |= {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1", "PIP_USER": "0"}
    return process.run(
        command,
        what=f".venv: {step}",
        folder=paths.ROOT,
        environment=environment,
        log=paths.home() / "logs" / f"venv-{step}.log",
        tick=progress.running(f".venv: {step}", expected_seconds),
    )


def _pip() -> list[str | Path]:
    return [python(), "-m", "pip"]


def _base_python() -> str:
    """Return the running interpreter; inside ``.venv``, which is deleted, return its base interpreter."""
    if Path(sys.prefix).resolve() == paths.VENV.resolve():
        return str(getattr(sys, "_base_executable", sys.executable))
    return sys.executable


def _dependencies() -> str:
    """Return a hash of the dependencies' inputs, including the folder, because scripts contain the folder's path."""
    lock = (paths.ROOT / "requirements.lock").read_bytes()
    return _digest(lock, platform.python_version(), str(paths.VENV))


def _project() -> str:
    """Return a hash of the inputs of the editable installation: its settings and the mapped packages."""
    packages = sorted(module.parent.name for module in paths.ROOT.glob("*/__init__.py"))
    return _digest((paths.ROOT / "pyproject.toml").read_bytes(), *packages)


def _modules() -> str:
    """Return a hash of the sizes and times of this project's modules, by which Python invalidates bytecode."""
    files = sorted(file for package in paths.ROOT.glob("*/__init__.py") for file in package.parent.rglob("*.py"))
    return _digest(b"", *(f"{file} {file.stat().st_size} {file.stat().st_mtime_ns}" for file in files))


def _digest(content: bytes, *more: str) -> str:
    return hashlib.sha256(b"\0".join((content, *(part.encode() for part in more)))).hexdigest()


def _stamp_file() -> Path:
    return paths.VENV / "jacquard-stamp.json"


def _stamp() -> dict[str, str]:
    try:
        stamp = json.loads(_stamp_file().read_text())
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def _write_stamp(stamp: dict[str, str]) -> None:
    partial = _stamp_file().with_suffix(".partial")
    partial.write_text(json.dumps(stamp, indent=2) + "\n")
    partial.replace(_stamp_file())
