"""A disk of a few MiB that a test fills and frees: a tmpfs in a new mount namespace."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest


class SmallDisk:
    """A disk for other processes at `path`, until `close`; skip the test if no namespace can be created."""

    def __init__(self, folder: Path, *, mebibytes: int) -> None:
        folder.mkdir()
        own = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
        mount = f"mount -t tmpfs -o size={mebibytes}m none {folder} && echo up && exec sleep infinity"
        self._keeper = subprocess.Popen(
            ["unshare", *own, "--mount", "sh", "-c", mount], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        assert self._keeper.stdout is not None
        if (answer := self._keeper.stdout.readline()) != b"up\n":
            self.close()
            pytest.skip(f"NO SMALL DISK: a mount namespace needs root or user namespaces: {answer.decode().strip()}")
        self.path = Path(f"/proc/{self._keeper.pid}/root{folder}")
        self._ballast = self.path / "ballast"

    def fill(self) -> None:
        """Leave no free space."""
        with self._ballast.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(self.path).free)

    def free(self) -> None:
        """Free the space that `fill` has used."""
        self._ballast.unlink()

    def close(self) -> None:
        """Remove the disk."""
        self._keeper.terminate()
        self._keeper.communicate()
