"""The real FRR, as Debian packages it, taken apart into a folder: nothing is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from toolchain import paths

PACKAGES = ("frr", "libyang2", "libjson-c5", "libc-ares2", "libcap2")
"""FRR and the libraries that a small Debian lacks."""


@dataclass(frozen=True)
class Frr:
    """Daemons of FRR, and the libraries that they need."""

    root: Path
    """Folder that packages were taken apart into."""

    def daemon(self, name: str) -> Path:
        """Return the path of a daemon, such as ``bgpd``."""
        return self.root / "usr/lib/frr" / name

    @property
    def environment(self) -> dict[str, str]:
        """Return the variables by which daemons find their libraries."""
        [libraries] = {path.parent.parent for path in self.root.glob("usr/lib/*/frr/libfrr.so.0")}
        return {**os.environ, "LD_LIBRARY_PATH": f"{libraries}:{libraries / 'frr'}"}


def debian_frr() -> Frr:
    """Return FRR from Debian's packages, fetched once for all clones; the test is skipped where it cannot be had."""
    root = paths.cache() / "frr"
    if not (root / "usr/lib/frr/bgpd").exists():
        if not (shutil.which("apt-get") and shutil.which("dpkg")):
            pytest.skip("NO FRR: routes are not judged by the real one, which comes from Debian's packages")
        _fetch(root)
    return Frr(root)


def _fetch(root: Path) -> None:
    root.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=root.parent) as folder:
        _take_apart(Path(folder))
        if not root.exists():  # somebody else's is as good
            (Path(folder) / "root").rename(root)


def _take_apart(work: Path) -> None:
    for part in ("lists/partial", "archives/partial"):
        (work / part).mkdir(parents=True)
    # apt's own lists may be missing or old, and are not ours to change.
    own = ("-qq", "-o", f"Dir::State::Lists={work}/lists", "-o", f"Dir::Cache={work}", "-o", "APT::Sandbox::User=root")
    for command in (("apt-get", *own, "update"), ("apt-get", *own, "download", *PACKAGES)):
        done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"NO FRR: routes are not judged by the real one: {' '.join(done.stderr.split())[-300:]}")
    for package in sorted(work.glob("*.deb")):
        subprocess.run(("dpkg", "-x", package, work / "root"), check=True)
