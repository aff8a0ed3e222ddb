"""Benchmark: processor time, memory and API requests of local regions with more and more hosts.

Each region has the data of `laptop` with another number of hosts in full racks; `scaled_region` describes its pools. It
is allocated, started with ``jacquard up``, read and deleted. The processor time of each program includes its threads,
but not its ended child processes. The memory is the sum of the proportional set sizes of the programs, without the
command. The requests are those that the API server of the management cluster counted. The limit is the time per host of
the last region relative to the first one. A region has fixed costs, so a ratio below 1 is normal.

python tests/bench/region_scale.py [--hosts 30,75,150] [--still SECONDS] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

from support import JACQUARD, LocalRegion, deleted_at_exit, meanwhile, region_of

from jacquard.lab.rehearsal import processes
from jacquard.lab.rehearsal.region import MANAGEMENT

_REQUESTS = re.compile(r"^apiserver_request_total\{(.*)\} (\S+)$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="([^"]*)"')
_CONFLICT = " 409"
_BAR = 1.5
_OF_TESTS = ("CRDS_DIR", "JACQUARD_SPEED")
"""Variables with which tests start a region faster, and with all published CRDs."""
_UP_TIMEOUT_SECONDS = 7200
_LOOK_SECONDS = 5.0
_PSS = re.compile(r"^Pss: +(\d+) kB", re.MULTILINE)
_TOP = 12
"""Number of the most frequent requests that are printed."""
_FIELDS = slice(11, 13)
"""User and system time in /proc/PID/stat, counted after the closing bracket of the command."""


def main() -> int:
    """Measure one region after the other and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=_numbers, default=(30, 75, 150), help="numbers of hosts, separated by commas")
    parser.add_argument("--still", type=float, default=20.0, help="seconds for which an idle region is measured")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    chosen = parser.parse_args()
    figures = {}
    for hosts in chosen.hosts:
        with tempfile.TemporaryDirectory(prefix="jacquard-bench-") as name:
            figures[hosts] = measure(Path(name), hosts, chosen.still)
        show(hosts, figures[hosts])
    first, last = (figures[hosts]["processor seconds"] / hosts for hosts in (chosen.hosts[0], chosen.hosts[-1]))
    sizes = f"{chosen.hosts[-1]} hosts, relative to {chosen.hosts[0]}"
    print(f"processor time per host with {sizes}: {last / first:.2f} (limit {_BAR})")
    if chosen.json:
        chosen.json.write_text(json.dumps(figures, indent=2) + "\n")
    return int(last / first > _BAR)


def measure(folder: Path, hosts: int, still_seconds: float) -> dict[str, Any]:
    """Start a region with ``hosts`` hosts at the speed of users, and return its figures."""
    region = LocalRegion(folder, environments=region_of(hosts, folder / "environments"))
    for name in _OF_TESTS:
        region.variables.pop(name, None)
    with deleted_at_exit(region):
        load, start, before = os.getloadavg()[0], time.perf_counter(), _of_commands()
        command = (JACQUARD, "up", region.environment, "--timeout", f"{_UP_TIMEOUT_SECONDS}")
        memory = Memory(region)
        with meanwhile(memory.look, _LOOK_SECONDS):
            up = region.run(*command, timeout_seconds=2 * _UP_TIMEOUT_SECONDS)
        if up.code:
            sys.exit(f"jacquard up failed:\n{up.text}")
        seconds, ended, requests = time.perf_counter() - start, programs(region), counted(region)
        of_commands = {"jacquard up and its commands": _of_commands() - before}
        time.sleep(still_seconds)
        idle = sum(programs(region).values()) - sum(ended.values())
    by_program = of_commands | ended
    return {
        "seconds": seconds,
        "load before": load,
        "load after": os.getloadavg()[0],
        "processor seconds": sum(by_program.values()),
        "megabytes": sum(memory.largest.values()),
        "megabytes by program": memory.largest,
        "programs": dict(sorted(by_program.items(), key=lambda item: -item[1])),
        "requests": sum(requests.values()),
        "conflicts": sum(count for key, count in requests.items() if key.endswith(_CONFLICT)),
        "requests by kind": dict(requests.most_common()),
        "idle, processor seconds per minute": idle * 60 / still_seconds,
    }


class Memory:
    """Proportional set sizes of the running programs of a region, in megabytes, when their sum was largest."""

    def __init__(self, region: LocalRegion) -> None:
        self._folder = region.home / "regions" / region.environment
        self.largest: dict[str, float] = {}

    def look(self) -> None:
        """Measure the programs that run now."""
        sizes: dict[str, float] = {}
        for process in processes.running(self._folder):
            with suppress(OSError):
                kilobytes = _PSS.search(Path(f"/proc/{process.pid}/smaps_rollup").read_text())
                if kilobytes:
                    sizes[process.part] = sizes.get(process.part, 0.0) + int(kilobytes[1]) * 1024 / 1e6
        if sum(sizes.values()) > sum(self.largest.values()):
            self.largest = dict(sorted(sizes.items(), key=lambda item: -item[1]))


def _of_commands() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def programs(region: LocalRegion) -> dict[str, float]:
    """Return the processor seconds of the running programs of a region, by name and cluster."""
    seconds: dict[str, float] = {}
    for process in processes.running(region.home / "regions" / region.environment):
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        seconds[process.part] = seconds.get(process.part, 0.0) + sum(map(int, fields[_FIELDS])) / os.sysconf(
            "SC_CLK_TCK"
        )
    return seconds


def counted(region: LocalRegion) -> Counter[str]:
    """Return the requests that the API server of the management cluster has answered, by verb, resource and code."""
    requests: Counter[str] = Counter()
    for labels, count in _REQUESTS.findall(str(region.api(MANAGEMENT).request("GET", "/metrics", accept="text/plain"))):
        of = dict(_LABEL.findall(labels))
        resource = "/".join(filter(None, (of["resource"], of["subresource"])))
        requests[f"{of['verb']} {resource} {of['code']}"] += int(float(count))
    return requests


def show(hosts: int, figures: dict[str, Any]) -> None:
    """Print the figures of one region."""
    processor, requests = figures["processor seconds"], figures["requests"]
    print(f"\n{hosts} hosts: {processor:.1f} s of processor time, {processor / hosts:.2f} s per host")
    print(f"  {figures['seconds']:.0f} s at a load of {figures['load before']:.0f} to {figures['load after']:.0f}")
    print(f"  {figures['megabytes']:.0f} MB at most")
    for program, seconds in figures["programs"].items():
        print(f"  {program:<44} {seconds:7.1f} s {figures['megabytes by program'].get(program, 0):7.0f} MB")
    print(f"  {requests} requests ({requests / hosts:.0f} per host), {figures['conflicts']} of them conflicts")
    for request, count in list(figures["requests by kind"].items())[:_TOP]:
        print(f"    {request:<44} {count:7}")
    print(f"  idle: {figures['idle, processor seconds per minute']:.1f} s per minute", flush=True)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(",")))


if __name__ == "__main__":
    sys.exit(main())
