"""All benchmarks in sequence: ``python tests/bench [--json FOLDER]``.

Each is a separate command with ``--help``. They use the API server of a temporary local region, so other regions on the
machine are not affected.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from jacquard.machine import paths

REGION = "bench"
FOLDER = Path(__file__).parent
_IN_A_REGION = ("single_objects.py", "objectset_create.py")
"""Benchmarks that need a local region."""
_NO_BENCHMARKS = {"__main__.py", "support.py"}
_OTHERS = sorted({path.name for path in FOLDER.glob("*.py")} - {*_IN_A_REGION, *_NO_BENCHMARKS})
"""Benchmarks that need no region, or start their own."""


def run(*command: str | Path) -> int:
    """Run one command, show its output and return its exit code."""
    print(f"\n$ {' '.join(str(part) for part in command)}", flush=True)
    return subprocess.run([str(part) for part in command], cwd=paths.ROOT, check=False).returncode


def main() -> int:
    """Run all benchmarks; the exit code is 1 if one exceeds its limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="folder that takes the figures of each benchmark as JSON")
    chosen = parser.parse_args()
    if chosen.json:
        chosen.json.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="jacquard-bench-") as home:
        os.environ["JACQUARD_HOME"] = home
        rehearsal = (sys.executable, "-m", "jacquard.lab.rehearsal")
        if run(*rehearsal, "up", REGION, "--cluster", "management"):
            return 1
        try:
            codes = [run(sys.executable, FOLDER / name, *_options(name, chosen.json)) for name in _IN_A_REGION]
        finally:
            run(*rehearsal, "down", REGION)
    codes += [run(sys.executable, FOLDER / name, *_options(name, chosen.json)) for name in _OTHERS]
    return int(any(codes))


def _options(name: str, folder: Path | None) -> list[str | Path]:
    kubeconfig = ["--kubeconfig", paths.kubeconfig(REGION, "management")] if name in _IN_A_REGION else []
    return [*kubeconfig, *(["--json", folder / f"{Path(name).stem}.json"] if folder else [])]


if __name__ == "__main__":
    sys.exit(main())
