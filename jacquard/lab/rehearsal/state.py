"""State of the parts of a region."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable
from typing import Any

from jacquard.lab.rehearsal import kwok, manager, processes
from jacquard.lab.rehearsal.region import MANAGEMENT, Region

_PORT = re.compile(r"--(?:secure-port|webhook-port|listen-client-urls|server-address)=(?:.*:)?(\d+)$")


def parts(region: Region) -> list[dict[str, Any]]:
    """Return all expected and running parts: name, pid, alive, port, since (ISO 8601, None if unknown)."""
    clusters = region.clusters()
    expected = {f"{cluster}/{part}" for cluster in clusters for part in _processes(region, cluster)}
    if MANAGEMENT in clusters:
        expected |= {manager.NAME, "operators"}
    running = processes.running(region.folder)
    dead = expected - {process.part for process in running}
    rows = [_row(process.part, process) for process in running] + [_row(name, None) for name in dead]
    return sorted(rows, key=lambda row: ("/" in row["name"], row["name"]))


def _processes(region: Region, cluster: str) -> Iterable[str]:
    """Return the local processes of a cluster; clusters of kind or a context have only kwok's controller."""
    backend = region.backend_mark(cluster).read_text()
    is_external = backend == "kind" or (cluster == MANAGEMENT and backend != "kwok")
    return ("kwok-controller",) if is_external else kwok.PARTS


def _row(name: str, process: processes.Process | None) -> dict[str, Any]:
    port, since = None, None
    if process:
        port = next((int(match[1]) for argument in process.arguments if (match := _PORT.match(argument))), None)
        started = process.since()
        since = started and dt.datetime.fromtimestamp(started, dt.UTC).isoformat(timespec="seconds")
    return {"name": name, "pid": process and process.pid, "alive": process is not None, "port": port, "since": since}
