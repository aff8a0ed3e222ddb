"""Which plug-ins would serve a run of ``pulumi`` with given variables: the vendor's, or the stand-ins of a clone.

Looks where the engine looks, and in its order; it asks nothing of the engine, so that a program can tell as well.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jacquard.lab.toolchain.engine import PROVIDERS, is_vendors, plugin
from jacquard.machine.kind import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class PlugIn:
    """The plug-in of one provider."""

    kind: Kind
    version: str = ""
    """Version that it is, or stands for; empty when nobody wrote it down."""

    @classmethod
    def parse(cls, text: str) -> PlugIn | None:
        """Return what `str` made ``text`` of; None if nothing did, as when a later Jacquard wrote it."""
        kind, _, version = text.partition(" ")
        return cls(kind=Kind(kind), version=version) if kind in set(Kind) else None

    def __str__(self) -> str:
        """Return kind and version."""
        return f"{self.kind} {self.version}".rstrip()


def serving(variables: Mapping[str, str] = os.environ) -> dict[str, PlugIn]:
    """Return the plug-in of each provider that ``pulumi`` would start with these environment variables.

    One that is not installed is the vendor's: nothing else can be fetched.
    """
    return {provider: _serving(provider, variables) for provider in PROVIDERS}


def _serving(provider: str, variables: Mapping[str, str]) -> PlugIn:
    home = variables.get("PULUMI_HOME")
    folder = (Path(home) if home else Path.home() / ".pulumi") / "plugins" / plugin(provider)
    version = folder.name.rpartition("-v")[2]
    if not _is_set(variables.get("PULUMI_IGNORE_AMBIENT_PLUGINS")):
        ambient = shutil.which(f"pulumi-resource-{provider}", path=variables.get("PATH", ""))
        if ambient:
            folder, version = Path(ambient).parent, ""
    there = (folder / f"pulumi-resource-{provider}").is_file()
    kind = Kind.STAND_IN if there and not is_vendors(folder, provider) else Kind.VENDOR
    return PlugIn(kind=kind, version=version)


def _is_set(value: str | None) -> bool:
    return (value or "").lower() in ("1", "true")
