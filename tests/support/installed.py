"""Jacquard as others have it: a wheel of this clone, installed in a virtual environment of theirs."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from jacquard.lab.toolchain import virtualenv
from jacquard.machine import paths

PACKAGES = sorted(found.parent.name for found in paths.ROOT.glob("*/__init__.py"))
_FILES = ("pyproject.toml", "README.md", "LICENSE", "Pulumi.yaml", ".gitattributes")
_CATALOG = "environments/catalog"


def wheel(folder: Path) -> Path:
    """Build a wheel from a copy of the working tree, where nothing of an earlier build lies."""
    source, out = folder / "source", folder / "wheels"
    source.mkdir()
    for name in _FILES:
        shutil.copyfile(paths.ROOT / name, source / name)
    for name in (*PACKAGES, _CATALOG):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(paths.ROOT / name, source / name, symlinks=True, ignore=ignored)
    _pip("wheel", "--no-deps", "--no-build-isolation", source, "-w", out)
    [built] = out.glob("*.whl")
    return built


def beside_dependencies_of_the_clone(built: Path, venv: Path) -> None:
    """Install ``built`` in a new ``venv`` that sees the clone's dependencies, and nothing of the clone itself.

    A line of a ``.pth`` file names a folder, whose own ``.pth`` files, among them that of the clone, say nothing there.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    [packages] = venv.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    _pip("--python", venv / "bin" / "python", "install", "--no-deps", "--no-index", built)


def with_dependencies(built: Path, venv: Path) -> None:
    """Install ``built`` in a ``venv`` that is there, with all that it asks for, from files that set-up has fetched."""
    fetched = virtualenv.wheels()
    _pip("--python", venv / "bin" / "python", "install", "--no-index", "--find-links", fetched, built)


def _pip(*arguments: str | Path) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
