"""Which ``pulumi`` runs here: the vendor's when it is complete and new enough, else the one built from Go modules.

The choice is all or nothing: the vendor's engine comes with the vendor's language host and providers, the built one
with the stand-ins. Either way programs, state and stack files are the same.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from jacquard.lab.toolchain import tools, versions
from jacquard.machine import paths, settings
from jacquard.machine.errors import ToolchainError

PROVIDERS = ("kubernetes", "command")
"""The providers of the vendor's that the components use."""
MARK = "made by `make setup`"
"""Stands in every file that replaces one of the vendor's."""
OURS = ".jacquard"
"""A file in each folder with a ``pulumi`` that a clone laid out."""

_FETCH_TIMEOUT_SECONDS = 90
_LANGUAGE_HOST = "pulumi-language-python"


@dataclass(frozen=True, kw_only=True)
class Engine:
    """The chosen engine and why."""

    vendor: Path | None = None
    """The vendor's ``pulumi``; None when it is built here."""
    version: str
    why: str
    plugins: Mapping[str, Path] = field(default_factory=dict)
    """Folders of the vendor's plugins, by name of the provider."""


class _Unfit(Exception):  # noqa: N818  (not an error: the reason to build)
    """Why the vendor's engine is not used; carries the reason and what would change it."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(reason)
        self.remedy = remedy


def plugin(provider: str) -> str:
    """Return the folder name of a provider's plugin, as ``resource-kubernetes-v4.34.2``."""
    return f"resource-{provider}-v{_provider_version(provider)}"


def choose(*, fetch: bool) -> Engine:
    """Decide which engine is used.

    Args:
        fetch: let the vendor's ``pulumi`` fetch plugins that it lacks (into the cache, not the user's home).

    Raises:
        SettingError: JACQUARD_TOOLCHAIN has no such value.
        ToolchainError: it is ``vendor`` and the vendor's engine cannot be used.
    """
    mode = settings.toolchain()
    version = f"v{versions.of_package('pulumi')}"
    if mode == "build":
        return Engine(version=version, why=f"{settings.TOOLCHAIN} is build")
    try:
        return _vendor(fetch=fetch, again=mode == "vendor")
    except _Unfit as unfit:
        if mode == "vendor":
            message = f"pulumi: {unfit}; {unfit.remedy}, or set {settings.TOOLCHAIN}=build"
            raise ToolchainError(message) from unfit
        return Engine(version=version, why=str(unfit))


def _vendor(*, fetch: bool, again: bool) -> Engine:
    pulumi = _on_path()
    if not pulumi:
        reason = "pulumi is not on PATH"
        raise _Unfit(reason, "install it")
    minimum = versions.of_package("pulumi")
    version = tools.ask_version(str(pulumi), "version")
    if not version or version < (versions.parse(minimum) or version):
        found = versions.dotted(version) if version else "of unknown version"
        reason = f"{pulumi} is {found}, needs {minimum} or newer"
        raise _Unfit(reason, "upgrade it")
    if not any((folder / _LANGUAGE_HOST).is_file() for folder in (pulumi.parent, pulumi.resolve().parent)):
        reason = f"{pulumi} has no {_LANGUAGE_HOST} beside it"
        raise _Unfit(reason, "install the complete distribution")
    plugins = {provider: _plugin(provider, pulumi, fetch=fetch, again=again) for provider in PROVIDERS}
    return Engine(vendor=pulumi, version=f"v{versions.dotted(version)}", why="installed and complete", plugins=plugins)


def _on_path() -> Path | None:
    """Return the first ``pulumi`` on PATH that no clone of ours has put there."""
    for folder in os.get_exec_path():
        found = shutil.which("pulumi", path=folder)
        if found and not (Path(folder) / OURS).exists():
            return Path(found)
    return None


def _plugin(provider: str, pulumi: Path, *, fetch: bool, again: bool) -> Path:
    """Return the folder of the vendor's plugin, fetched if need be."""
    cached = paths.cache() / "plugins" / plugin(provider)
    homes = [os.environ.get("PULUMI_HOME"), Path.home() / ".pulumi"]
    for folder in (cached, *(Path(home, "plugins", plugin(provider)) for home in homes if home)):
        if is_vendors(folder, provider):
            return folder
    note = cached.with_name(f"{cached.name}.unavailable")  # with its suffix, another patch release inherited it
    remedy = f"install it: {' '.join(_install(provider, pulumi))}"
    if note.exists() and not again:
        reason = f"{note.read_text()} (tried before; {settings.TOOLCHAIN}=vendor tries again)"
        raise _Unfit(reason, remedy)
    if not fetch:
        reason = f"plugin {plugin(provider)} is not installed"
        raise _Unfit(reason, remedy)
    problem = _fetch(provider, pulumi, cached)
    if problem:
        reason = f"plugin {plugin(provider)} is not installed and cannot be fetched ({problem})"
        with contextlib.suppress(OSError):  # an unwritable cache is reported by the checks
            note.write_text(reason)
        raise _Unfit(reason, remedy)
    note.unlink(missing_ok=True)
    return cached


def _fetch(provider: str, pulumi: Path, cached: Path) -> str:
    """Let ``pulumi`` install a plugin into the cache; return what went wrong, or nothing."""
    staging = cached.parent / f"fetch-{os.getpid()}"
    try:
        staging.mkdir(parents=True)
        answer = subprocess.run(
            _install(provider, pulumi),
            env={**os.environ, "PULUMI_HOME": str(staging), "PULUMI_SKIP_UPDATE_CHECK": "true"},
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=_FETCH_TIMEOUT_SECONDS,
            check=False,
        )
        if answer.returncode:
            said = answer.stderr.strip() or answer.stdout.strip() or "no output"
            return said.splitlines()[-1]
        fetched = staging / "plugins" / plugin(provider)
        if not is_vendors(fetched, provider):
            return f"pulumi made no {plugin(provider)}"
        if not cached.exists():
            fetched.rename(cached)
    except subprocess.TimeoutExpired:
        return f"no end after {_FETCH_TIMEOUT_SECONDS} s"
    except OSError as error:
        return str(error)
    else:
        return ""
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _install(provider: str, pulumi: Path) -> list[str]:
    return [str(pulumi), "plugin", "install", "resource", provider, f"v{_provider_version(provider)}"]


def is_vendors(folder: Path, provider: str) -> bool:
    """Tell whether a plugin is there, whole (pulumi marks one that it is still unpacking), and not a stand-in."""
    executable = folder / f"pulumi-resource-{provider}"
    if not executable.is_file() or folder.with_name(f"{folder.name}.partial").exists():
        return False
    with executable.open("rb") as file:
        return MARK.encode() not in file.read(512)


def _provider_version(provider: str) -> str:
    return versions.of_package(f"pulumi-{provider}")
