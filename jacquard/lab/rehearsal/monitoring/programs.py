"""Processes of Prometheus and Alertmanager in a region, and their configuration files."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

import urllib3
import yaml

from jacquard.lab.rehearsal import ports, processes
from jacquard.lab.rehearsal.errors import RehearsalError
from jacquard.lab.rehearsal.region import Region
from jacquard.lab.toolchain import binaries
from jacquard.machine import paths, settings
from jacquard.machine.files import replace_private

PROMETHEUS, ALERTMANAGER = "prometheus", "alertmanager"
PROGRAMS = (PROMETHEUS, ALERTMANAGER)
PARTS = (processes.name_of(processes.MONITORING), *PROGRAMS)
"""Parts of a region that are its monitoring."""
_ADDRESSES, _UNSERVED = "addresses.json", "unserved.json"
_POLL_SECONDS = 0.5


def folder(region: Region) -> Path:
    """Return the folder of the monitoring, which exists while the region has monitoring."""
    return region.folder / paths.MONITORING


@dataclass(frozen=True, slots=True)
class Addresses:
    """Ports of the monitoring of a region on the loopback interface."""

    prometheus: int
    alertmanager: int
    exporters: int

    @classmethod
    def written(cls, region: Region) -> Addresses:
        """Choose free ports, and write them to the folder of the region."""
        found = cls(*ports.free(3))
        replace_private(folder(region) / _ADDRESSES, json.dumps(asdict(found)))
        return found

    @classmethod
    def of(cls, region: Region) -> Addresses:
        """Return the ports in the folder of the region.

        Raises:
            RehearsalError: the region has no monitoring.
        """
        try:
            return cls(**json.loads((folder(region) / _ADDRESSES).read_text(encoding="utf-8")))
        except FileNotFoundError:
            name = region.environment
            msg = f"{name}: has no monitoring; run {settings.MONITORING}=on jacquard up {name}"
            raise RehearsalError(msg) from None

    def host(self, name: str) -> str:
        """Return host and port of a part."""
        return f"{ports.LOOPBACK}:{getattr(self, name)}"


def notices(region: Region) -> Path:
    """Return the file with the notices, a line of JSON for each."""
    return folder(region) / "notices.jsonl"


def write_unserved(region: Region, monitors: list[str]) -> None:
    """Write the monitors and targets that no program of the region serves."""
    file, content = folder(region) / _UNSERVED, json.dumps(monitors)
    if not file.exists() or file.read_text(encoding="utf-8") != content:
        replace_private(file, content)


def unserved(region: Region) -> list[str]:
    """Return the monitors and targets that no program of the region serves."""
    return list(json.loads((folder(region) / _UNSERVED).read_text(encoding="utf-8")))


def write(region: Region, program: str, configuration: Mapping[str, Any], rules: Mapping[str, Any]) -> bool:
    """Write the files of a program; return whether any of them changed."""
    home = folder(region) / program
    wanted = {f"{program}.yaml": configuration, **{f"rules/{name}": body for name, body in rules.items()}}
    (home / "rules").mkdir(parents=True, exist_ok=True)
    changed = False
    for file in (home / "rules").iterdir():
        if f"rules/{file.name}" not in wanted:
            file.unlink()
            changed = True
    for name, body in wanted.items():
        file, content = home / name, yaml.dump(body, Dumper=yaml.CSafeDumper, sort_keys=False)
        if not file.exists() or file.read_text(encoding="utf-8") != content:
            replace_private(file, content)
            changed = True
    return changed


def reload(program: str, addresses: Addresses) -> None:
    """Let a program read its changed files.

    Raises:
        RehearsalError: it does not respond yet, or rejects a file.
    """
    try:
        answer = urllib3.request("POST", f"http://{addresses.host(program)}/-/reload", timeout=10, retries=False)
    except urllib3.exceptions.HTTPError as error:
        msg = f"{program}: {error}"
        raise RehearsalError(msg) from error
    if answer.status != HTTPStatus.OK:
        msg = f"{program}: {answer.data.decode().strip()}"
        raise RehearsalError(msg)


def start(region: Region, program: str, addresses: Addresses) -> bool:
    """Start a program with its files; return False if it runs already."""
    if any(process.part == program for process in processes.running(region.folder)):
        return False
    home = folder(region) / program
    arguments = [f"--config.file={home / program}.yaml", f"--web.listen-address={addresses.host(program)}"]
    if program == PROMETHEUS:
        arguments += ["--web.enable-lifecycle", f"--storage.tsdb.path={home / 'data'}"]
    else:
        # Two instances of a region share notifications; one is enough here.
        arguments += [f"--storage.path={home / 'data'}", "--cluster.listen-address="]
    executable = region.folder / "bin" / program
    executable.parent.mkdir(parents=True, exist_ok=True)
    executable.unlink(missing_ok=True)
    executable.symlink_to(binaries.path(program))
    log = region.logs / f"{program}.log"
    processes.launch([str(executable), *arguments], log=log, environment=os.environ, folder=region.folder)
    return True


def await_ready(region: Region, seconds: float) -> Addresses:
    """Wait until Prometheus has samples, Alertmanager responds, and monitors without a program are known.

    Raises:
        RehearsalError: the region has no monitoring, or the programs are not ready in time.
    """
    addresses, end = Addresses.of(region), time.monotonic() + seconds
    listed = folder(region) / _UNSERVED
    while not (
        listed.exists() and all(_responds(addresses.host(name)) for name in PROGRAMS) and _has_samples(addresses)
    ):
        if time.monotonic() > end:
            msg = f"monitoring: not ready after {seconds:g} s; see {region.logs}"
            raise RehearsalError(msg)
        time.sleep(_POLL_SECONDS)
    return addresses


def _responds(address: str) -> bool:
    with suppress(urllib3.exceptions.HTTPError):
        return urllib3.request("GET", f"http://{address}/-/ready", timeout=3, retries=False).status == HTTPStatus.OK
    return False


def _has_samples(addresses: Addresses) -> bool:
    with suppress(urllib3.exceptions.HTTPError):
        url = f"http://{addresses.host(PROMETHEUS)}/api/v1/query?query=up"
        return bool(urllib3.request("GET", url, timeout=3, retries=False).json()["data"]["result"])
    return False
