"""Benchmark: time from the start of each server until it prints its port, and of short ``jacquard`` commands.

The baseline is the interpreter of ``.venv`` starting and importing grpc, measured in the same rounds.

python tests/bench/start_up.py [--rounds 7] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

from jacquard.lab.toolchain import environment
from jacquard.machine import paths

ENGINE = "127.0.0.1:1"
"""An unused engine address; servers print their port before they connect."""


def servers() -> dict[str, Path]:
    """Return the programs that the engine starts, by name."""
    plugins = paths.pulumi_home() / "plugins"
    return {
        "language host": paths.pulumi_bin() / "pulumi-language-python",
        "provider kubernetes": plugins / "resource-kubernetes-v4.34.2" / "pulumi-resource-kubernetes",
        "provider command": plugins / "resource-command-v1.2.1" / "pulumi-resource-command",
        "provider jacquard": paths.VENV / "bin" / "pulumi-resource-jacquard",
    }


def seconds_to_port(command: list[str], variables: dict[str, str]) -> float:
    """Return the seconds until the first line on standard output, which is the port."""
    start = time.perf_counter()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=variables
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        seconds = time.perf_counter() - start
        process.terminate()
    if not line.strip():
        sys.exit(f"{command[0]} ended without a word")
    return seconds


ANSWERS = (("--version",), ("--help",), ("check", "--help"))
"""Commands of ``jacquard``: two that need no verb, one that loads models, rules and policies."""


def seconds_to_end(command: list[str], variables: dict[str, str]) -> float:
    """Return the seconds until a short command exits."""
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, env=variables, check=True)
    return time.perf_counter() - start


def main() -> None:
    """Run the rounds, and print medians with the ratio to the baseline."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7, help="rounds (default 7)")
    parser.add_argument("--json", type=Path, help="also write the figures of all rounds here")
    chosen = parser.parse_args()
    variables = environment.process(paths.ROOT.name)
    floor = [sys.executable, "-c", "import grpc; print(1)"]
    ports = {"floor": floor, **{name: [str(path), ENGINE] for name, path in servers().items()}}
    answers = {f"jacquard {' '.join(words)}": [str(paths.VENV / "bin" / "jacquard"), *words] for words in ANSWERS}
    rounds = [
        {name: seconds_to_port(command, variables) for name, command in ports.items()}
        | {name: seconds_to_end(command, variables) for name, command in answers.items()}
        for _ in range(chosen.rounds)
    ]
    base = statistics.median(figures["floor"] for figures in rounds)
    for name in rounds[0]:
        values = sorted(figures[name] for figures in rounds)
        median = statistics.median(values)
        print(f"{name:<21} median {median:.2f} s   {values[0]:.2f} .. {values[-1]:.2f}   {median / base:.1f} x floor")
    if chosen.json:
        chosen.json.write_text(json.dumps({"rounds": rounds}, indent=2) + "\n")


if __name__ == "__main__":
    main()
