"""Benchmark: the whole inventory of a region through ``pulumi up``, compared with a bare concurrent apply loop.

The program, the data and the stacks are those of users: one stack for each hall, all halls in parallel, a file backend
with checkpoints. The baseline applies the same objects with the same client and number of connections. Each part has a
separate API server without other objects or controllers; the objects that the bare-metal operator creates for each
host, and that the program only patches, are created beforehand.

python tests/bench/inventory_scale.py [--environment us-east-04a] [--hall a --hall b] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from objectset_create import apply_loop
from support import LocalApiServer, meanwhile, start_captured

from components.inputs.manifests import manifests
from components.lookups.slices import SliceKind, slices
from components.render.manifest import MANAGEMENT, ManifestSet, objects
from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from components.specs.struct import asdict
from jacquard.lab.rehearsal.operators.hosts.firmware import SPECS
from jacquard.lab.toolchain import environment
from jacquard.machine import paths

BARS = {
    "up --skip-preview over floor": 4.0,
    "up with preview over floor": 7.0,
    "no-op preview, seconds": 20.0,
    "no-op preview, MB of the largest process": 300.0,
    "state over compact JSON of the manifests": 1.3,
}
_LOOK_SECONDS = 0.1


@dataclass
class Memory:
    """Largest resident size of any process of some sessions, sampled while they run."""

    sessions: set[int] = field(default_factory=set)
    largest: dict[str, int] = field(default_factory=dict)
    """KiB by program name."""

    def look(self) -> None:
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                status = (entry / "status").read_text()
                if os.getsid(int(entry.name)) not in self.sessions or "VmHWM:" not in status:
                    continue
            except OSError:
                continue
            name = status.split("\t", 1)[1].split("\n", 1)[0]
            size = int(status.split("VmHWM:", 1)[1].split()[0])
            self.largest[name] = max(size, self.largest.get(name, 0))


@dataclass
class Part:
    """One API server with the namespaces of the inventory, and the stacks that fill it."""

    folder: Path
    data: Path
    region: Environment
    stacks: list[str]
    bodies: dict[str, dict[str, Any]]
    made: dict[str, dict[str, Any]]
    """Objects that exist beforehand, as their controllers create them."""

    def __post_init__(self) -> None:
        kubeconfigs = self.folder / "kubeconfigs"
        kubeconfigs.mkdir(parents=True)
        self.server = LocalApiServer(
            self.folder / "server",
            kinds={str(body["kind"]) for body in self.bodies.values()},
            kubeconfig=kubeconfigs / "management.yaml",
            context=self.region.region.context or "test",
        )
        places = {body["metadata"].get("namespace") for body in self.bodies.values()}
        for namespace in {"inventory", *filter(None, places)}:
            self.server.namespace(namespace)
        apply_loop(self.server.api, self.made)
        self.state = self.folder / "state"
        self.state.mkdir()
        self.variables = {
            **environment.process(self.region.name, backend_url=f"file://{self.state}?metadata=skip"),
            "PULUMI_CONFIG_PASSPHRASE": environment.REHEARSAL_PASSPHRASE,
            "JACQUARD_KUBECONFIGS": str(kubeconfigs),
            "JACQUARD_ENVIRONMENTS": str(self.data),
        }

    def project(self) -> None:
        """Create a project that runs the program of this repository, with empty stacks."""
        (self.folder / "stacks").symlink_to(paths.ROOT / "stacks")
        settings = {
            "name": "jacquard",
            "main": "stacks/",
            "runtime": {"name": "python", "options": {"virtualenv": str(paths.VENV)}},
            "plugins": {"providers": [{"name": "jacquard", "path": str(paths.VENV / "bin")}]},
        }
        (self.folder / "Pulumi.yaml").write_text(json.dumps(settings))
        for stack in self.stacks:
            self.side_by_side("stack", "init", stacks=[stack])

    def side_by_side(self, *arguments: str, stacks: Sequence[str] | None = None, memory: Memory | None = None) -> float:
        """Run one ``pulumi`` command line for all stacks in parallel; return the total seconds."""
        start = time.perf_counter()
        processes = [
            start_captured(
                "pulumi", *arguments, "-s", stack, "--non-interactive", folder=self.folder, variables=self.variables
            )
            for stack in stacks or self.stacks
        ]
        if memory is not None:
            memory.sessions |= {process.pid for process in processes}
        outputs = [process.communicate() for process in processes]
        seconds = time.perf_counter() - start
        for process, (stdout, stderr) in zip(processes, outputs, strict=True):
            if process.returncode:
                sys.exit(f"pulumi {' '.join(arguments)} failed:\n{stdout[-4000:]}\n{stderr[-4000:]}")
        return seconds


class Bench:
    """All parts of one run, in sequence."""

    def __init__(self, folder: Path, name: str, halls: Sequence[str]) -> None:
        self.folder = folder
        self.data = folder / "environments"
        shutil.copytree(paths.environments(), self.data)
        self.region = load_environment(name, self.data)
        pieces = [piece for piece in slices(self.region) if piece.kind is SliceKind.INVENTORY]
        chosen = [piece for piece in pieces if not halls or piece.subject in halls]
        racks = [item for piece in chosen for item in manifests(self.region, piece)]
        found = list(objects(tuple(racks)))
        patches = [patch for rack in racks if isinstance(rack, ManifestSet) for patch in rack.patches.values()]
        patched = {item.key: item for patch in patches for item in patch.objects(MANAGEMENT)}
        self.made = {key: {**item.body, "spec": SPECS[item.kind]} for key, item in patched.items()}
        declared = [item.body for item in found if item.key not in patched] + [asdict(patch) for patch in patches]
        self.declared = sum(len(json.dumps(body, separators=(",", ":")).encode()) for body in declared)
        self.stacks = [f"{name}.{piece.name}" for piece in chosen]
        self.bodies = {item.key: dict(item.body) for item in found}
        self.figures: dict[str, float] = {}

    @contextmanager
    def part(self, name: str) -> Iterator[Part]:
        """Start an API server for one part, and delete all of it afterwards."""
        print(f"{name} ...", flush=True)
        folder = self.folder / name
        made = {} if name.startswith("floor") else self.made
        part = Part(folder, self.data, self.region, self.stacks, self.bodies, made)
        try:
            yield part
        finally:
            part.server.stop()
            shutil.rmtree(folder)

    def floor(self, name: str) -> None:
        """Measure the bare loop."""
        with self.part(name) as part:
            self.figures[f"{name}, seconds"] = apply_loop(part.server.api, self.bodies)

    def without_preview(self) -> None:
        """Measure the first ``up`` without its preview, the size of its state, and a preview without changes."""
        memory = Memory()
        with self.part("without-preview") as part:
            part.project()
            self.figures["up --skip-preview, seconds"] = part.side_by_side("up", "--yes", "--skip-preview")
            state = sum(file.stat().st_size for file in part.state.rglob("*/stacks/**/*.json"))
            self.figures["state over compact JSON of the manifests"] = state / self.declared
            with meanwhile(memory.look, _LOOK_SECONDS):
                noop = part.side_by_side("preview", "--expect-no-changes", memory=memory)
        self.figures["no-op preview, seconds"] = noop
        for name, size in memory.largest.items():
            self.figures[f"no-op preview, MB of {name}"] = size * 1024 / 1e6
        self.figures["no-op preview, MB of the largest process"] = max(memory.largest.values()) * 1024 / 1e6

    def with_preview(self) -> None:
        """Measure the first ``up`` with its preview."""
        with self.part("with-preview") as part:
            part.project()
            self.figures["up with preview, seconds"] = part.side_by_side("up", "--yes")

    def run(self) -> dict[str, float]:
        """Measure all parts and return the figures."""
        self.floor("floor before")
        self.without_preview()
        self.with_preview()
        self.floor("floor after")
        figures = self.figures
        base = statistics.mean((figures["floor before, seconds"], figures["floor after, seconds"]))
        figures["up --skip-preview over floor"] = figures["up --skip-preview, seconds"] / base
        figures["up with preview over floor"] = figures["up with preview, seconds"] / base
        return figures


def main() -> int:
    """Measure once, print each figure with its limit, and return 1 if a limit is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--environment", default="us-east-04a", help="sliced environment (default us-east-04a)")
    parser.add_argument("--hall", action="append", default=[], help="only this hall; may be repeated (default all)")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="jacquard-bench-") as name:
        bench = Bench(Path(name), chosen.environment, chosen.hall)
        print(f"{len(bench.bodies)} objects in {len(bench.stacks)} stacks", flush=True)
        figures = bench.run()
    for figure, value in figures.items():
        bar = f"at most {BARS[figure]:g}" if figure in BARS else ""
        print(f"{figure:<44} {value:8.2f}   {bar}")
    if chosen.json:
        sizes = {"environment": chosen.environment, "stacks": bench.stacks, "objects": len(bench.bodies)}
        chosen.json.write_text(json.dumps({**sizes, "figures": figures, "bars": BARS}, indent=2) + "\n")
    return int(any(figures[figure] > bar for figure, bar in BARS.items()))


if __name__ == "__main__":
    sys.exit(main())
