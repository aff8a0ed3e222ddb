"""A vendor installation of ``pulumi`` with plug-ins on this machine, without marks of Jacquard.

The installation consists of the built engine and the stand-ins, so that tests exercise only the provider migration.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jacquard.lab.toolchain import binaries, virtualenv
from jacquard.lab.toolchain.engine import PROVIDERS, plugin
from tests.support.local_regions.local_region import LocalRegion

_HOST = "pulumi-language-python"


@contextmanager
def vendor_on_path(region: LocalRegion, folder: Path) -> Iterator[None]:
    """Put ``pulumi`` on the PATH of the region's commands, with plug-ins in a home."""
    before = dict(region.variables)
    bin_, home = folder / "bin", folder / "home"
    bin_.mkdir(parents=True)
    # No symbolic link: the engine would search its language host next to the target.
    try:
        (bin_ / "pulumi").hardlink_to(binaries.path("pulumi").resolve())
    except OSError:  # The cache is on another file system.
        shutil.copy2(binaries.path("pulumi"), bin_ / "pulumi")
    executor = binaries.data("pulumi-sdk") / "python" / "cmd" / f"{_HOST}-exec"
    _script(bin_ / _HOST, "language_host", f"export JACQUARD_LANGUAGE_EXEC={shlex.quote(str(executor))}\n")
    for provider in PROVIDERS:
        _script(home / "plugins" / plugin(provider) / f"pulumi-resource-{provider}", provider)
    region.variables |= {"PATH": f"{bin_}{os.pathsep}{before['PATH']}", "PULUMI_HOME": str(home)}
    try:
        yield
    finally:
        region.variables = before


def _script(path: Path, module: str, settings: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    python = shlex.quote(str(virtualenv.python()))
    path.write_text(f'#!/bin/sh\n{settings}exec {python} -P -m jacquard.lab.standins.{module} "$@"\n')
    path.chmod(0o755)
