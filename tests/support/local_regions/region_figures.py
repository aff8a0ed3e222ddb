"""Time, processor time, memory and API requests of a local region during a block of a benchmark."""

from __future__ import annotations

import os
import re
import resource
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jacquard.lab.rehearsal import processes
from tests.support.local_regions.local_region import LocalRegion

COMMANDS = "commands and their child processes"
_REQUESTS = re.compile(r"^apiserver_request_total\{(.*)\} (\S+)$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="([^"]*)"')
_CONFLICT = " 409"
_LOOK_SECONDS = 5.0
_PSS = re.compile(r"^Pss: +(\d+) kB", re.MULTILINE)
_FIELDS = slice(11, 15)
"""User and system time in /proc/PID/stat, of the process and of its ended child processes; without PID and name."""


@dataclass
class Figures:
    """Figures of a block."""

    seconds: float = 0.0
    load: tuple[float, float] = (0.0, 0.0)
    """Load of the machine before and after the block."""
    processor_seconds: dict[str, float] = field(default_factory=dict)
    """Of each program that runs at the end, with its threads and ended child processes."""
    megabytes: dict[str, float] = field(default_factory=dict)
    """Proportional set sizes of the programs, without commands, when their sum was largest."""
    requests: dict[str, Counter[str]] = field(default_factory=dict)
    """Requests that the API server of each cluster counted, by verb, resource and code."""

    @property
    def all_processor_seconds(self) -> float:
        return sum(self.processor_seconds.values())

    def conflicts(self, cluster: str) -> int:
        """Return the number of requests that were rejected because of a conflict."""
        return sum(count for request, count in self.requests[cluster].items() if request.endswith(_CONFLICT))

    def recorded(self) -> dict[str, Any]:
        """Return the figures as data for JSON, largest first."""
        return {
            "seconds": self.seconds,
            "load": self.load,
            "processor seconds": self.all_processor_seconds,
            "processor seconds by program": _largest_first(self.processor_seconds),
            "megabytes": sum(self.megabytes.values()),
            "megabytes by program": _largest_first(self.megabytes),
            "requests": {cluster: counts.total() for cluster, counts in self.requests.items()},
            "conflicts": {cluster: self.conflicts(cluster) for cluster in self.requests},
            "requests by kind": {cluster: dict(counts.most_common()) for cluster, counts in self.requests.items()},
        }


@contextmanager
def figures(region: LocalRegion, *clusters: str) -> Iterator[Figures]:
    """Measure a block; requests are those to ``clusters``, which may not exist at its start."""
    found = Figures()
    start, load, commands = time.perf_counter(), os.getloadavg()[0], _of_commands()
    before, requests = _programs(region), {cluster: _requests(region, cluster) for cluster in clusters}

    def look() -> None:
        sizes = _sizes(region)
        if sum(sizes.values()) > sum(found.megabytes.values()):
            found.megabytes = sizes

    with meanwhile(look, _LOOK_SECONDS):
        yield found
    found.seconds, found.load = time.perf_counter() - start, (load, os.getloadavg()[0])
    used: dict[str, float] = defaultdict(float)
    for (program, pid), seconds in _programs(region).items():
        used[program] += seconds - before.get((program, pid), 0.0)
    found.processor_seconds = {**used, COMMANDS: _of_commands() - commands}
    found.requests = {cluster: _requests(region, cluster) - requests[cluster] for cluster in clusters}


@contextmanager
def meanwhile(look: Callable[[], object], seconds: float) -> Iterator[None]:
    """Call ``look`` every ``seconds`` in a separate thread until the block ends."""
    done = threading.Event()

    def looking() -> None:
        while not done.wait(seconds):
            look()

    thread = threading.Thread(target=looking)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _folder(region: LocalRegion) -> Path:
    return region.home / "regions" / region.environment


def _sizes(region: LocalRegion) -> dict[str, float]:
    sizes: dict[str, float] = defaultdict(float)
    for process in processes.running(_folder(region)):
        with suppress(OSError):
            kilobytes = _PSS.search(Path(f"/proc/{process.pid}/smaps_rollup").read_text())
            if kilobytes:
                sizes[process.part] += int(kilobytes[1]) * 1024 / 1e6
    return sizes


def _of_commands() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _programs(region: LocalRegion) -> dict[tuple[str, int], float]:
    """Return the processor seconds of the running programs of a region, by name with cluster, and PID."""
    seconds = {}
    for process in processes.running(_folder(region)):
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        seconds[process.part, process.pid] = sum(map(int, fields[_FIELDS])) / os.sysconf("SC_CLK_TCK")
    return seconds


def _requests(region: LocalRegion, cluster: str) -> Counter[str]:
    requests: Counter[str] = Counter()
    if not (_folder(region) / "kubeconfigs" / f"{cluster}.yaml").exists():
        return requests
    for labels, count in _REQUESTS.findall(str(region.api(cluster).request("GET", "/metrics", accept="text/plain"))):
        of = dict(_LABEL.findall(labels))
        resource = "/".join(filter(None, (of["resource"], of["subresource"])))
        requests[f"{of['verb']} {resource} {of['code']}"] += int(float(count))
    return requests


def _largest_first(figures: dict[str, float]) -> dict[str, float]:
    return dict(sorted(figures.items(), key=lambda item: -item[1]))
