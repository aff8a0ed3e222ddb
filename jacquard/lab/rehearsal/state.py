"""Which parts of a region run."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable
from typing import Any

from jacquard.lab.rehearsal import kwok, manager, processes
from jacquard.lab.rehearsal.region import MANAGEMENT, Region

_PORT = re.compile(r"--(?:secure-port|webhook-port|listen-client-urls|server-address)=(?:.*:)?(\d+)$")


def parts(region: Region) -> list[dict[str, Any]]:
    """Return every part that should run or does: name, pid, alive, port, since (ISO 8601, None when not known)."""
    clusters = region.clusters()
    expected = {f"{cluster}/{part}" for cluster in clusters for part in _processes(region, cluster)}
    if MANAGEMENT in clusters:
        expected |= {manager.NAME, "operators"}
    running = processes.running(region.folder)
    dead = expected - {process.part for process in running}
    rows = [_row(process.part, process) for process in running] + [_row(name, None) for name in dead]
    return sorted(rows, key=lambda row: ("/" in row["name"], row["name"]))


def _processes(region: Region, cluster: str) -> Iterable[str]:
    """Return the processes of a cluster here; one made elsewhere has kwok's controller only."""
    made_with = region.backend_mark(cluster).read_text()
    elsewhere = made_with == "kind" or (cluster == MANAGEMENT and made_with != "kwok")
    return ("kwok-controller",) if elsewhere else kwok.PARTS


def _row(name: str, process: processes.Process | None) -> dict[str, Any]:
    port, since = None, None
    if process:
        port = next((int(found[1]) for word in process.arguments if (found := _PORT.match(word))), None)
        began = process.since()
        since = began and dt.datetime.fromtimestamp(began, dt.UTC).isoformat(timespec="seconds")
    return {"name": name, "pid": process and process.pid, "alive": process is not None, "port": port, "since": since}
