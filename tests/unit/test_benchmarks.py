"""Benchmarks keep working while the code that they import changes."""

import subprocess
import sys

import pytest

from jacquard.machine import paths

FOLDER = paths.ROOT / "tests" / "bench"
BENCHMARKS = sorted(path.name for path in FOLDER.glob("*.py") if path.stem != "support")


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_loads_and_describes_itself(name: str) -> None:
    command = [sys.executable, FOLDER / name, "--help"]

    outcome = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, check=False)

    assert outcome.returncode == 0, outcome.stderr
    assert "--json" in outcome.stdout
