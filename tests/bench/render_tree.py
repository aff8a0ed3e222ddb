"""Benchmark: `jacquard render ENV --out DIR` for a large region, compared with plain files of the same bytes.

The baseline creates the same folders and writes the same bytes, in the same rounds, with one `open` per file. Objects
are rendered beforehand, since `region_model.py` measures rendering. Processor time includes the kernel's work for the
process, which is most of it; elapsed time also depends on the disk and on other load.

python tests/bench/render_tree.py [--environment us-east-04a] [--rounds 5] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from region_model import largest, shown
from support import ENVIRONMENTS

from components.inputs.manifests import manifests
from components.lookups.slices import slices
from components.render.manifest import Manifest, objects
from components.specs.reading.loader import load_environment
from jacquard.cli.views import render_tree

BARS = {"processor time over floor": 3.0, "elapsed over floor": 3.0}


def floor(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write ``contents`` as plain files."""
    made = set()
    for path, content in sorted(contents.items()):
        name = f"{folder}/{path}"
        parent = name.rpartition("/")[0]
        if parent not in made:
            os.makedirs(parent, exist_ok=True)  # noqa: PTH103 - a floor has nothing between it and the system
            made.add(parent)
        with open(name, "wb") as file:  # noqa: PTH123
            file.write(content)


def work(folder: Path, environment: str, items: Sequence[Manifest]) -> None:
    """Write ``items`` as the command does."""
    render_tree.FOLDER.write(folder, environment, render_tree.files(items))


def measured(task: Callable[[Path], None]) -> tuple[float, float]:
    """Return processor and elapsed seconds of ``task`` in an empty folder, in a separate process."""
    with tempfile.TemporaryDirectory(prefix="jacquard-bench-") as folder:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            used, began = time.process_time(), time.monotonic()
            task(Path(folder) / "out")
            os.write(writing, f"{time.process_time() - used} {time.monotonic() - began}".encode())
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as answer:
            processor, elapsed = answer.read().split()
        os.waitpid(child, 0)
    return float(processor), float(elapsed)


def main() -> int:
    """Run the rounds, and print medians with their limits; return 1 if a limit is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--environment", default=largest(), help="which environment (default: the one with most data)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds (default 5)")
    parser.add_argument("--json", type=Path, help="also write the figures of all rounds here")
    chosen = parser.parse_args()
    region = load_environment(chosen.environment, ENVIRONMENTS)
    items = [item for piece in slices(region) for item in objects(manifests(region, piece))]
    contents = {path: text.encode() for path, text in render_tree.files(items).items()}
    render_tree._scalar.cache_clear()  # Each round starts like the command.
    print(f"{len(contents)} files, {sum(map(len, contents.values())) / 1e6:.1f} MB")
    rounds = []
    for _ in range(chosen.rounds):
        base, base_elapsed = measured(lambda folder: floor(folder, contents))
        done, done_elapsed = measured(lambda folder: work(folder, chosen.environment, items))
        rounds.append(
            {
                "processor time over floor": done / base,
                "elapsed over floor": done_elapsed / base_elapsed,
                "floor, processor seconds": base,
                "floor, elapsed seconds": base_elapsed,
            }
        )
    if chosen.json:
        chosen.json.write_text(json.dumps({"rounds": rounds}, indent=2) + "\n")
    return int(shown(rounds, BARS))


if __name__ == "__main__":
    sys.exit(main())
