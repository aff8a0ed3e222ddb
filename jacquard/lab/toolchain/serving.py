"""Detection of the plug-ins that a run of ``pulumi`` would use: the vendor's or the stand-ins of a clone.

Searches the same places as the engine, in the same order, but without running the engine, so that programs can also use
this module.
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
    """Version of the plug-in, or the vendor's version that a stand-in replaces; empty if unknown."""

    @classmethod
    def parse(cls, text: str) -> PlugIn | None:
        """Parse the result of `str`; None for any other text, such as the text of a later Jacquard version."""
        kind, _, version = text.partition(" ")
        return cls(kind=Kind(kind), version=version) if kind in set(Kind) else None

    def __str__(self) -> str:
        """Format as kind and version, separated by a space."""
        return f"{self.kind} {self.version}".rstrip()


def serving(variables: Mapping[str, str] = os.environ) -> dict[str, PlugIn]:
    """Return the plug-in by provider that ``pulumi`` would start with these environment variables.

    A plug-in that is not installed counts as the vendor's, because only the vendor's can be downloaded.
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
    is_installed = (folder / f"pulumi-resource-{provider}").is_file()
    kind = Kind.STAND_IN if is_installed and not is_vendors(folder, provider) else Kind.VENDOR
    return PlugIn(kind=kind, version=version)


def _is_set(value: str | None) -> bool:
    return (value or "").lower() in ("1", "true")
