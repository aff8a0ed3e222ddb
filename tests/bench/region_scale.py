"""Benchmark: processor time, memory and API requests of local regions with more and more hosts, and of their changes.

Each region has the data of `laptop` with another number of hosts in full racks; `scaled_region` describes its pools. It
is allocated, started with ``jacquard up``, left idle and deleted. With ``--changes image``, all nodes of its largest
pool get another image before it is deleted; with ``--changes outage``, all its hosts lose their power and get it back.
A change fails if more nodes of a rollout group are unavailable than its limit, or if a Machine or node does not return.

The processor time of each program includes its threads and ended child processes. The memory is the sum of the
proportional set sizes of the programs, without the commands. The limit is the processor time per host of the last
region relative to the first one. A region has fixed costs, so a ratio below 1 is normal.

python tests/bench/region_scale.py [--hosts 30,75,150] [--changes image outage] [--still SECONDS] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Collection, Iterator
from pathlib import Path

from support import (
    JACQUARD,
    Figures,
    ImageWave,
    LocalRegion,
    deleted_at_exit,
    figures,
    outage,
    region_of,
)

from jacquard.lab.rehearsal.region import MANAGEMENT

_CLUSTER = "acme-train"
"""Largest cluster of a region."""
_BAR = 1.5
_CHANGES = ("image", "outage")
_OF_TESTS = ("CRDS_DIR", "JACQUARD_SPEED")
"""Variables with which tests start a region faster, and with all published CRDs."""
_UP_TIMEOUT_SECONDS = 7200
_TOP = 12
"""Number of programs, and of the most frequent requests, that are printed."""


def main() -> int:
    """Measure one region after the other and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=_numbers, default=(30, 75, 150), help="numbers of hosts, separated by commas")
    parser.add_argument("--changes", nargs="+", choices=_CHANGES, default=(), help="what is changed once all is ready")
    parser.add_argument("--still", type=float, default=20.0, help="seconds for which an idle region is measured")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    chosen = parser.parse_args()
    recorded, starts = {}, []
    for hosts in chosen.hosts:
        recorded[hosts] = of_region = {}
        with tempfile.TemporaryDirectory(prefix="jacquard-bench-") as name:
            for part, found in measure(Path(name), hosts, chosen.still, chosen.changes):
                of_region[part] = found.recorded()
                show(f"{hosts} hosts, {part}", found)
                if part == "up":
                    starts.append(found.all_processor_seconds / hosts)
                if chosen.json:
                    chosen.json.write_text(json.dumps(recorded, indent=2) + "\n")
    ratio = starts[-1] / starts[0]
    sizes = f"{chosen.hosts[-1]} hosts, relative to {chosen.hosts[0]}"
    print(f"processor time per host with {sizes}: {ratio:.2f} (limit {_BAR})")
    return int(ratio > _BAR)


def measure(folder: Path, hosts: int, still_seconds: float, changes: Collection[str]) -> Iterator[tuple[str, Figures]]:
    """Start a region with ``hosts`` hosts at the speed of users, and yield the figures of each part."""
    region = LocalRegion(folder, environments=region_of(hosts, folder / "environments"))
    for name in _OF_TESTS:
        region.variables.pop(name, None)
    wave = ImageWave(region, _CLUSTER, folder)
    if "image" in changes:
        wave.pin_past_image()
    with deleted_at_exit(region):
        with figures(region, MANAGEMENT, _CLUSTER) as up:
            _up(region)
        yield "up", up
        with figures(region, MANAGEMENT, _CLUSTER) as idle:
            time.sleep(still_seconds)
        yield "idle", idle
        if "image" in changes:
            with figures(region, MANAGEMENT, _CLUSTER) as of_wave:
                print(wave.roll_out(lambda: _up(region)), flush=True)
            yield "image wave", of_wave
        if "outage" in changes:
            with figures(region, MANAGEMENT, _CLUSTER) as of_outage:
                print(outage(region, _CLUSTER, folder), flush=True)
            yield "outage", of_outage
        with figures(region, MANAGEMENT, _CLUSTER) as again:
            _up(region)
        yield "up without changes", again


def _up(region: LocalRegion) -> None:
    command = (JACQUARD, "up", region.environment, "--timeout", f"{_UP_TIMEOUT_SECONDS}")
    up = region.run(*command, timeout_seconds=2 * _UP_TIMEOUT_SECONDS)
    if up.code:
        sys.exit(f"jacquard up failed:\n{up.text}")


def show(title: str, found: Figures) -> None:
    """Print the figures of one part."""
    processor, (before, after) = found.all_processor_seconds, found.load
    minutes = found.seconds / 60
    print(f"\n{title}: {found.seconds:.0f} s at a load of {before:.0f} to {after:.0f}")
    print(f"  {processor:.1f} s of processor time, {processor / minutes:.1f} s per minute")
    print(f"  {sum(found.megabytes.values()):.0f} MB at most")
    by_program = sorted(found.processor_seconds.items(), key=lambda item: -item[1])
    for program, seconds in by_program[:_TOP]:
        print(f"  {program:<44} {seconds:7.1f} s {found.megabytes.get(program, 0):7.0f} MB")
    for cluster, counts in found.requests.items():
        print(f"  {counts.total()} requests to {cluster}, {found.conflicts(cluster)} of them conflicts")
        for request, count in counts.most_common(_TOP):
            print(f"    {request:<44} {count:7}")
    sys.stdout.flush()


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(",")))


if __name__ == "__main__":
    sys.exit(main())
