"""Benchmark: processor time of ``jacquard --help`` and ``jacquard check``, as ratios to baselines of the same rounds.

The baseline of ``--help`` is an interpreter that exits immediately; that of ``check`` reads the same files with C
parsers.

python tests/bench/command_start.py [--rounds 5] [--environment lab] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path

from support import ENVIRONMENTS, measured

_PARSED = """
import csv, sys
from pathlib import Path
import yaml
for folder in map(Path, sys.argv[1:]):
    for path in folder.rglob("*.yaml"):
        yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)
    for path in folder.rglob("*.csv"):
        with path.open(newline="") as file:
            list(csv.reader(file))
"""
_MAIN = "from jacquard.cli.app import main; main()"
LIMITS = {"help": 5.0, "check": 10.0}
"""Maximum ratio of each command to its baseline."""


def main() -> None:
    """Run the rounds and print the ratios of the medians; exit with 1 if a ratio is above its limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="rounds (default 5)")
    parser.add_argument("--environment", default="lab", help="environment to check (default lab)")
    parser.add_argument("--json", type=Path, help="also write the figures of all rounds here")
    chosen = parser.parse_args()
    python, folders = sys.executable, [str(ENVIRONMENTS / name) for name in (chosen.environment, "catalog")]
    commands = {
        "help floor": [python, "-c", "pass"],
        "help": [python, "-c", _MAIN, "--help"],
        "check floor": [python, "-c", _PARSED, *folders],
        "check": [python, "-c", _MAIN, "check", chosen.environment],
    }
    rounds = [
        {name: measured(*command).processor_seconds for name, command in commands.items()} for _ in range(chosen.rounds)
    ]
    medians = {name: statistics.median(figures[name] for figures in rounds) for name in commands}
    ratios = {name: medians[name] / medians[f"{name} floor"] for name in LIMITS}
    for name, ratio in ratios.items():
        print(f"{name:<6} {medians[name]:.2f} s   {ratio:.1f} x floor   limit {LIMITS[name]:g} x")
    if chosen.json:
        chosen.json.write_text(json.dumps({"rounds": rounds, "ratios": ratios}, indent=2) + "\n")
    if any(ratio > LIMITS[name] for name, ratio in ratios.items()):
        sys.exit(1)


if __name__ == "__main__":
    main()
