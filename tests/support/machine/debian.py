"""Debian packages for tests, extracted into a folder that all clones share; nothing is installed."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from jacquard.machine import paths


@dataclass(frozen=True)
class Unpacked:
    """Extracted packages."""

    root: Path

    def path(self, pattern: str) -> Path:
        """Return the only file or folder below the root that matches ``pattern``."""
        [found] = self.root.glob(pattern)
        return found

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment variables by which programs find the extracted libraries."""
        libraries = sorted(
            {str(path.parent) for part in ("lib", "usr/lib") for path in self.root.glob(f"{part}/**/*.so*")}
        )
        return {**os.environ, "LD_LIBRARY_PATH": ":".join(libraries)}


def unpacked(name: str, packages: Iterable[str]) -> Unpacked:
    """Return ``packages``, downloaded once as ``name``; skip the test if the download fails."""
    packages = sorted(packages)
    root = paths.cache() / "debian" / f"{name}-{hashlib.sha256(' '.join(packages).encode()).hexdigest()[:8]}"
    if not root.exists():
        if not (shutil.which("apt-get") and shutil.which("dpkg")):
            pytest.skip(f"NO {name.upper()}: it comes from Debian's packages, and this is no Debian")
        root.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=root.parent) as folder:
            _fetch(Path(folder), name, packages)
            if not root.exists():  # Another process has extracted the same packages.
                (Path(folder) / "root").rename(root)
    return Unpacked(root)


def _fetch(work: Path, name: str, packages: Iterable[str]) -> None:
    for part in ("lists/partial", "archives/partial"):
        (work / part).mkdir(parents=True)
    # The package lists of the machine may be missing or outdated, and must not be changed.
    own = ("-qq", "-o", f"Dir::State::Lists={work}/lists", "-o", f"Dir::Cache={work}", "-o", "APT::Sandbox::User=root")
    for command in (("apt-get", *own, "update"), ("apt-get", *own, "download", *packages)):
        done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"NO {name.upper()}: its packages cannot be fetched: {' '.join(done.stderr.split())[-300:]}")
    for package in sorted(work.glob("*.deb")):
        subprocess.run(("dpkg", "-x", package, work / "root"), check=True)
