"""Benchmark: loading, planning and checking the data of a large region, compared with plain readers of the files.

The baseline is the simplest reader: csv.reader and PyYAML's C parser over the same files, in the same rounds. The whole
command is `jacquard check` in a separate process, with policies and all rendered objects. Growth is measured with
several copies of the region, with their own lock files.

python tests/bench/region_model.py [--environment us-east-04a] [--copies 9] [--rounds 5] [--json FILE]
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar

import yaml
from support import ENVIRONMENTS, measured, multiply

from components.inputs.manifests import manifests
from components.lookups.slices import slices
from components.render.manifest import objects
from components.rules.checks import check
from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from jacquard.machine import paths

BARS = {
    "load, plan and checks over floor": 10.0,
    "whole command over floor": 19.0,
    "whole command, MB": 400.0,
    "time per host, larger over plain": 1.3,
    "rendering everything, seconds": 3.0,
}

T = TypeVar("T")


def floor(name: str, folder: Path) -> None:
    """Read the files of ``name`` and of the catalogue with parsers only."""
    for path in [*(folder / "catalog").glob("*.yaml"), *(folder / name).rglob("*.yaml")]:
        yaml.load(path.read_text(), yaml.CSafeLoader)
    for path in (folder / name / "inventory").glob("*.csv"):
        list(csv.reader(path.read_text().splitlines()))


def work(name: str, folder: Path) -> None:
    """Load the environment and run all cross-checks, including allocation."""
    problems = check(load_environment(name, folder))
    if problems:
        print(f"{name}: {problems[0].place} {problems[0].text}", file=sys.stderr)
        os._exit(1)


def render(environment: Environment) -> None:
    """Render every object of every slice."""
    for piece in slices(environment):
        for _ in objects(manifests(environment, piece)):
            pass


def hosts(name: str, folder: Path) -> int:
    """Return the number of hosts in the inventory."""
    files = (folder / name / "inventory").glob("*.csv")
    return sum(len(path.read_text().splitlines()) - 1 for path in files)


def seconds(task: Callable[[T], object], prepare: Callable[[], T]) -> float:
    """Return the processor seconds of ``task`` with the result of ``prepare``.

    It runs in a separate process, without caches of earlier calls.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        prepared = prepare()
        start = time.process_time()
        task(prepared)
        os.write(writing, str(time.process_time() - start).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        measured = answer.read()
    os.waitpid(child, 0)
    return float(measured)


def command(name: str) -> tuple[float, float]:
    """Return processor seconds and peak MB of the whole ``jacquard check``."""
    whole = measured(str(paths.VENV / "bin" / "jacquard"), "check", name)
    return whole.processor_seconds, whole.megabytes


def main() -> int:
    """Run the rounds, and print medians with their limits; return 1 if a limit is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--environment", default=largest(), help="which environment (default: the one with most data)")
    parser.add_argument("--copies", type=int, default=9, help="how many times over the larger region is (default 9)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds (default 5)")
    parser.add_argument("--json", type=Path, help="also write the figures of all rounds here")
    chosen = parser.parse_args()
    name = chosen.environment
    with tempfile.TemporaryDirectory(prefix="jacquard-bench-") as scratch:
        plain, larger = (multiply(name, copies, Path(scratch) / str(copies)) for copies in (1, chosen.copies))
        growth, rounds = hosts(name, larger) / hosts(name, plain), []
        print(f"{hosts(name, ENVIRONMENTS)} hosts, and {growth:.2f} times as many")
        for _ in range(chosen.rounds):
            base = seconds(partial(floor, name), lambda: ENVIRONMENTS)
            load = seconds(partial(work, name), lambda: ENVIRONMENTS)
            few, many = seconds(partial(work, name), lambda: plain), seconds(partial(work, name), lambda: larger)
            rendered = seconds(render, lambda: load_environment(name, ENVIRONMENTS))
            whole, megabytes = command(name)
            rounds.append(
                {
                    "load, plan and checks over floor": load / base,
                    "whole command over floor": whole / base,
                    "whole command, MB": megabytes,
                    "time per host, larger over plain": many / growth / few,
                    "rendering everything, seconds": rendered,
                    "whole command, seconds": whole,
                    "floor, seconds": base,
                    "load, plan and checks, seconds": load,
                }
            )
    if chosen.json:
        chosen.json.write_text(json.dumps({"rounds": rounds}, indent=2) + "\n")
    return int(shown(rounds, BARS))


def largest() -> str:
    """Return the environment with the largest inventory."""
    sizes = {
        path.parent.name: sum(file.stat().st_size for file in path.glob("*.csv"))
        for path in ENVIRONMENTS.glob("*/inventory")
    }
    return max(sizes, key=lambda name: sizes[name])


def shown(rounds: list[dict[str, float]], bars: Mapping[str, float]) -> bool:
    """Print the median and the spread of each figure; return whether a limit is exceeded."""
    missed = False
    for name in rounds[0]:
        values = sorted(figures[name] for figures in rounds)
        median, bar = statistics.median(values), bars.get(name)
        verdict = "" if bar is None else f"   bar {bar:g}: {'met' if median <= bar else 'MISSED'}"
        missed |= bar is not None and median > bar
        print(f"{name:<36} median {median:.2f}   {values[0]:.2f} .. {values[-1]:.2f}{verdict}")
    return missed


if __name__ == "__main__":
    sys.exit(main())
