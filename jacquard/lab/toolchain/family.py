"""Binaries and data files that one Go module folder provides, and the digest of the inputs of their build."""

import hashlib
import json
import platform
import sys
from dataclasses import dataclass
from pathlib import Path

from jacquard.lab.toolchain import versions
from jacquard.machine import paths


@dataclass(frozen=True, kw_only=True)
class Binary:
    """An executable and its Go package."""

    name: str
    package: str
    expected_seconds: int


@dataclass(frozen=True, kw_only=True)
class Data:
    """Files of a Go module other than Go code: custom resource definitions, webhook manifests, scripts."""

    name: str
    module: str
    contents: tuple[str, ...]
    """Files and folders that are kept, relative to the module's folder."""


@dataclass(frozen=True, kw_only=True)
class Family:
    """Binaries and data that one go.mod pins and one module cache provides.

    The folder may have Go code of its own, for a program of which upstream publishes only parts.
    """

    name: str
    """Name of the family and, unless it is ``aligned``, of its folder in ``jacquard/lab/toolchain/modules``."""
    module: str
    """Go module whose version is the version of the family."""
    binaries: tuple[Binary, ...] = ()
    data: tuple[Data, ...] = ()
    aligned: bool = False
    """Whether the family shares ``modules/region`` with others. All use the same versions of common modules, so that
    each package is compiled only once. A changed version builds all of them again."""
    tags: str = ""
    stamps: tuple[str, ...] = ()
    """Values linked into the binaries, as ``package.variable=value``; {version}, {major} and {minor} are filled in."""
    disk_bytes: int

    @property
    def folder(self) -> Path:
        """Return the folder with go.mod and go.sum."""
        return paths.ROOT / "jacquard/lab/toolchain/modules" / ("region" if self.aligned else self.name)

    @property
    def sources(self) -> list[Path]:
        """Return the files that the build reads: go.mod, go.sum and own Go code."""
        return [self.folder / "go.mod", self.folder / "go.sum", *sorted(self.folder.glob("*.go"))]

    @property
    def version(self) -> str:
        """Return the pinned version with its leading v."""
        return versions.of_module(self.folder / "go.mod", self.module)

    def flags(self) -> list[str]:
        """Return the arguments of ``go build`` that determine its output."""
        major, minor, _ = versions.parse(self.version) or (0, 0, 0)
        stamps = [f"-X {stamp.format(version=self.version, major=major, minor=minor)}" for stamp in self.stamps]
        tags = ["-tags", self.tags] if self.tags else []
        # The linker drops debug information; without it, the compiler needs a tenth less processor time.
        undebugged = ["-gcflags=all=-dwarf=false", "-ldflags", " ".join(["-s", "-w", *stamps])]
        return ["-trimpath", "-buildvcs=false", *tags, *undebugged]

    def digest(self) -> str:
        """Return a hash of all inputs of the build: the files of the folder, this row, the platform of this machine."""
        row = {
            "flags": self.flags(),
            "packages": [(binary.name, binary.package) for binary in self.binaries],
            "data": [(data.name, data.module, data.contents) for data in self.data],
            "machine": [sys.platform, platform.machine()],
        }
        total = hashlib.sha256(json.dumps(row, sort_keys=True).encode())
        for file in self.sources:
            total.update(hashlib.sha256(file.read_bytes()).digest())
        return total.hexdigest()[:16]
