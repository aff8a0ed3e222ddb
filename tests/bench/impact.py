"""Benchmark: impact of a change in a large region, from the command to the pull request comment and report.

The baseline is loading the same region twice. One change promotes a pool of one tenant; the other changes every pool of
every tenant. Each measurement runs the whole command in a separate process, in a repository created for it.

python tests/bench/impact.py [--environment us-east-04a] [--rounds 5] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from region_model import largest, shown
from support import ENVIRONMENTS, measured

from components.specs.reading.edits import edited
from components.specs.reading.loader import load_environment
from jacquard.machine import paths

JACQUARD = str(paths.VENV / "bin" / "jacquard")
BARS = {
    "one pool, processor seconds": 5.0,
    "one pool, MB": 500.0,
    "every pool, processor seconds": 10.0,
    "every pool, MB": 500.0,
    "comment of every pool, bytes": 60_000.0,
    "every pool with a report, processor seconds": 12.0,
    "report of every pool, bytes": 2_000_000.0,
}


def git(folder: Path, *arguments: str) -> None:
    """Run git in ``folder``."""
    subprocess.run(["git", "-C", str(folder), "-c", "user.name=b", "-c", "user.email=b@b", *arguments], check=True)


def one_pool(folder: Path) -> None:
    """Add a taint to the first tenant's last pool, and promote it."""
    path = next((folder / "tenants").glob("*.yaml"))
    text = path.read_text()
    *_, pool = re.finditer(r"- \{name: ([a-z0-9-]+), instance_type: [^,]+, (nodes|racks): \d+", text)
    path.write_text(f"{text[: pool.end()]}, taints: [{{key: a, value: b, effect: NoSchedule}}]{text[pool.end() :]}")
    cluster = re.findall(r"^  - name: ([a-z0-9-]+)$", text[: pool.start()], re.MULTILINE)[-1]
    run("promote", folder.name, f"{cluster}/{pool[1]}", "--to", "data", "--all")


def every_pool(folder: Path) -> None:
    """Add a label to every pool of every tenant."""

    def labelled(document: Any) -> Any:
        for cluster in document.get("clusters", ()):
            for pool in cluster["pools"]:
                pool.setdefault("labels", {})["bench"] = "x"
        return document

    for path in (folder / "tenants").glob("*.yaml"):
        path.write_text(edited(path.read_text(), labelled))


def run(*arguments: str) -> None:
    """Run ``jacquard`` and assert success."""
    subprocess.run([JACQUARD, *arguments], check=True, stdout=subprocess.DEVNULL)


def figures(name: str, environments: Path) -> dict[str, float]:
    """Return the measurements of one round."""
    start = time.process_time()
    for _ in range(2):
        load_environment(name, environments)
    found = {"floor, processor seconds": time.process_time() - start}
    for what, change in (("one pool", one_pool), ("every pool", every_pool)):
        change(environments / name)
        whole = measured(JACQUARD, "impact", name, "--format", "markdown")
        page = environments.parent / "report.html"
        report = measured(JACQUARD, "impact", name, "--html", str(page))
        git(environments.parent, "checkout", "-q", ".")
        found |= {f"{what}, processor seconds": whole.processor_seconds, f"{what}, MB": whole.megabytes}
        found[f"comment of {what}, bytes"] = float(len(whole.output.encode()))
        found[f"{what} with a report, processor seconds"] = report.processor_seconds
        found[f"report of {what}, bytes"] = float(page.stat().st_size)
    return found


def main() -> int:
    """Run the rounds, and print medians with their limits; return 1 if a limit is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--environment", default=largest(), help="which environment (default: the one with most data)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds (default 5)")
    parser.add_argument("--json", type=Path, help="also write the figures of all rounds here")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="jacquard-bench-") as scratch:
        environments = Path(shutil.copytree(ENVIRONMENTS, Path(scratch) / "environments"))
        os.environ["JACQUARD_ENVIRONMENTS"] = str(environments)
        for command in (("init", "-q"), ("add", "."), ("commit", "-qm", "data")):
            git(environments.parent, *command)
        rounds = [figures(chosen.environment, environments) for _ in range(chosen.rounds)]
    if chosen.json:
        chosen.json.write_text(json.dumps({"rounds": rounds}, indent=2) + "\n")
    return int(shown(rounds, BARS))


if __name__ == "__main__":
    sys.exit(main())
