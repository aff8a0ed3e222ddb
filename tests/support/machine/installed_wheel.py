"""Jacquard as an installed package: a wheel of this clone in a separate virtual environment."""

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
    """Build a wheel from a copy of the working tree without files of earlier builds."""
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


def install_beside_clone(built: Path, venv: Path) -> None:
    """Install ``built`` in a new ``venv`` that shares the clone's dependencies, but not the clone itself.

    A ``.pth`` file adds the folder of the dependencies. Python ignores ``.pth`` files in folders added that way,
    including the one that points to the clone.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    [packages] = venv.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    _pip("--python", venv / "bin" / "python", "install", "--no-deps", "--no-index", built)


def install_with_dependencies(built: Path, venv: Path) -> None:
    """Install ``built`` with all dependencies in an existing ``venv``, from files that the setup has downloaded."""
    fetched = virtualenv.wheels()
    _pip("--python", venv / "bin" / "python", "install", "--no-index", "--find-links", fetched, built)


def _pip(*arguments: str | Path) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
