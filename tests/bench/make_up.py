"""Benchmark: waiting times of users in a fresh clone of this repository with a separate home.

``make up`` without anything running (and without `.venv`), again without changes, a no-op preview, and after ``make
down`` once more with an existing `.venv`. With ``--cold`` the cache is empty, so the toolchain is downloaded and built
as well. The baseline of the preview is that of a stack without resources, in the same run.

python tests/bench/make_up.py [--cold] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from jacquard.machine import paths

PARTS = re.compile(r"^time: .*$", re.MULTILINE)
EMPTY = "name: empty\nruntime: {{name: python, options: {{virtualenv: {venv}}}}}\n"


class Clone:
    """A fresh clone and the commands of users in it; processes that they leave running are not measured."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self.folder = folder / "jacquard"
        subprocess.run(["git", "clone", "--quiet", str(paths.ROOT), str(self.folder)], check=True)
        self.variables = {name: value for name, value in os.environ.items() if not name.startswith("JACQUARD_")}
        self.variables |= {"JACQUARD_CACHE": str(cache), "JACQUARD_HOME": str(folder / "home")}
        self.figures: dict[str, float] = {}

    def time(self, name: str, *command: str) -> str:
        """Run ``command``, record its seconds as ``name`` and return its output."""
        start, used = time.perf_counter(), _processor_seconds()
        done = subprocess.run(command, cwd=self.folder, env=self.variables, capture_output=True, text=True, check=False)
        self.figures[name] = time.perf_counter() - start
        self.figures[f"{name}, processor seconds"] = _processor_seconds() - used
        if done.returncode:
            sys.exit(f"{' '.join(command)} failed:\n{done.stdout}\n{done.stderr}")
        processor = self.figures[f"{name}, processor seconds"]
        print(f"{name:<44} {self.figures[name]:7.1f} s, {processor:.1f} s of processor time", flush=True)
        for parts in PARTS.findall(done.stdout):
            print(f"    {parts}", flush=True)
        return done.stdout + done.stderr

    def pulumi(self, name: str, command: str) -> None:
        """Time one ``pulumi`` command line in the shell that ``jacquard env`` sets up."""
        self.time(name, "bash", "-c", f'eval "$(.venv/bin/jacquard env laptop)" && {command}')


def _processor_seconds() -> float:
    """Return the processor time of all finished commands, including their child processes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Run all steps once and print their seconds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cold", action="store_true", help="begin with an empty cache (takes about 20 minutes more)")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="jacquard-bench-") as name:
        folder = Path(name)
        clone = Clone(folder, folder / "cache" if chosen.cold else paths.cache())
        try:
            if chosen.cold:
                set_up = clone.time("set-up, empty cache", "make", "setup")
                print("\n".join(f"    {line.strip()}" for line in set_up.splitlines() if " in " in line))
                clone.time("make up, first", "make", "up")
            else:
                clone.time("make up, new clone, warm cache", "make", "up")
            clone.time("make up, nothing to do", "make", "up")
            measure_previews(clone, folder)
            clone.time("make down", "make", "down")
            clone.time("make up, nothing running, .venv ready", "make", "up")
        finally:
            subprocess.run(["make", "down"], cwd=clone.folder, env=clone.variables, capture_output=True, check=False)
    if chosen.json:
        chosen.json.write_text(json.dumps(clone.figures, indent=2) + "\n")


def measure_previews(clone: Clone, folder: Path) -> None:
    """Time a preview without changes with and without policies, and the baseline: a stack without resources."""
    empty = folder / "empty"
    empty.mkdir()
    (empty / "Pulumi.yaml").write_text(EMPTY.format(venv=clone.folder / ".venv"))
    (empty / "__main__.py").write_text("")
    clone.pulumi("create an empty stack", f"pulumi -C {empty} stack init empty")
    clone.pulumi("preview of an empty stack (floor)", f"pulumi -C {empty} preview -s empty")
    clone.pulumi("preview -s laptop, no change", "pulumi preview -s laptop --expect-no-changes")
    clone.pulumi(
        "preview -s laptop, no change, policies",
        "pulumi preview -s laptop --expect-no-changes --policy-pack policies",
    )


if __name__ == "__main__":
    main()
