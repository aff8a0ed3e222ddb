"""Selects ``pulumi``: the vendor's if complete and new enough, otherwise the ``pulumi`` built from Go modules.

The vendor's engine runs only with the vendor's language host and providers, the built engine only with the stand-ins.
Programs, state and stack files are the same in both cases.
"""

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
"""The vendor's providers that the components use."""
MARK = "made by `make setup`"
"""Marker text in each file that replaces a file of the vendor."""
OURS = ".jacquard"
"""Marker file in each folder with a ``pulumi`` that a clone created."""

_FETCH_TIMEOUT_SECONDS = 90
_LANGUAGE_HOST = "pulumi-language-python"


@dataclass(frozen=True, kw_only=True)
class Engine:
    """The selected engine and the reason for the selection."""

    vendor: Path | None = None
    """Path of the vendor's ``pulumi``; None for the built engine."""
    version: str
    why: str
    plugins: Mapping[str, Path] = field(default_factory=dict)
    """Folders of the vendor's plugins by provider name; empty for the built engine."""


class _Unfit(Exception):  # noqa: N818  (not an error: the reason to build)
    """The vendor's engine is not used; the message contains the reason, and ``remedy`` the remedy."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(reason)
        self.remedy = remedy


def plugin(provider: str) -> str:
    """Return the folder name of a provider's plugin, such as ``resource-kubernetes-v4.34.2``."""
    return f"resource-{provider}-v{_provider_version(provider)}"


def choose(*, fetch: bool) -> Engine:
    """Select the engine.

    Args:
        fetch: download missing plugins with the vendor's ``pulumi`` (into the cache, not the user's home).

    Raises:
        SettingError: the value of JACQUARD_TOOLCHAIN is unknown.
        ToolchainError: JACQUARD_TOOLCHAIN is ``vendor`` and the vendor's engine cannot be used.
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
        known_version = versions.dotted(version) if version else "of unknown version"
        reason = f"{pulumi} is {known_version}, needs {minimum} or newer"
        raise _Unfit(reason, "upgrade it")
    if not any((folder / _LANGUAGE_HOST).is_file() for folder in (pulumi.parent, pulumi.resolve().parent)):
        reason = f"{pulumi} has no {_LANGUAGE_HOST} next to it"
        raise _Unfit(reason, "install the complete distribution")
    plugins = {provider: _plugin(provider, pulumi, fetch=fetch, again=again) for provider in PROVIDERS}
    return Engine(vendor=pulumi, version=f"v{versions.dotted(version)}", why="installed and complete", plugins=plugins)


def _on_path() -> Path | None:
    """Return the first ``pulumi`` on PATH that was not installed by a clone of this repository."""
    for folder in os.get_exec_path():
        pulumi = shutil.which("pulumi", path=folder)
        if pulumi and not (Path(folder) / OURS).exists():
            return Path(pulumi)
    return None


def _plugin(provider: str, pulumi: Path, *, fetch: bool, again: bool) -> Path:
    """Return the folder of the vendor's plugin; download it if required."""
    cached = paths.cache() / "plugins" / plugin(provider)
    homes = [os.environ.get("PULUMI_HOME"), Path.home() / ".pulumi"]
    for folder in (cached, *(Path(home, "plugins", plugin(provider)) for home in homes if home)):
        if is_vendors(folder, provider):
            return folder
    note = cached.with_name(f"{cached.name}.unavailable")  # with_suffix would drop the patch version
    remedy = f"install it: {' '.join(_install(provider, pulumi))}"
    if note.exists() and not again:
        reason = f"{note.read_text()} (earlier attempt; {settings.TOOLCHAIN}=vendor tries again)"
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
    """Install a plugin into the cache with ``pulumi``; return the problem, or an empty string."""
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
            output = answer.stderr.strip() or answer.stdout.strip() or "no output"
            return output.splitlines()[-1]
        fetched = staging / "plugins" / plugin(provider)
        if not is_vendors(fetched, provider):
            return f"pulumi did not create {plugin(provider)}"
        if not cached.exists():
            fetched.rename(cached)
    except subprocess.TimeoutExpired:
        return f"timed out after {_FETCH_TIMEOUT_SECONDS} s"
    except OSError as error:
        return str(error)
    else:
        return ""
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _install(provider: str, pulumi: Path) -> list[str]:
    return [str(pulumi), "plugin", "install", "resource", provider, f"v{_provider_version(provider)}"]


def is_vendors(folder: Path, provider: str) -> bool:
    """Return whether a plugin is installed, complete (pulumi marks partly unpacked plugins) and not a stand-in."""
    executable = folder / f"pulumi-resource-{provider}"
    if not executable.is_file() or folder.with_name(f"{folder.name}.partial").exists():
        return False
    with executable.open("rb") as file:
        return MARK.encode() not in file.read(512)


def _provider_version(provider: str) -> str:
    return versions.of_package(f"pulumi-{provider}")
