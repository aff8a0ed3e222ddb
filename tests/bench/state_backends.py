"""Benchmark: one stack with its state in a folder, in an S3 server and in PostgreSQL.

The stack has as many objects as a stack may have. It is applied to a bare API server and previewed, and one object is
added. The limit is on the ratio of the seconds of `up` to those with a folder. Both servers run on this machine, so no
figure contains the latency of a network. `make test-nightly` builds the S3 server.

python tests/bench/state_backends.py [--objects 320] [--rounds 3] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from single_objects import Project, new_namespace
from support import S3, LocalApiServer, Postgres, StateStore

from jacquard.lab.toolchain import binaries

LIMIT = 3.0
"""Seconds of `up` with a server, relative to those with a folder."""
FOLDER = "folder"
STORES: dict[str, type[StateStore]] = {"S3": S3, "PostgreSQL": Postgres}


def one_run(server: LocalApiServer, objects: int, store: StateStore | None) -> dict[str, float]:
    """Return the seconds of each command on one stack."""
    url, variables = (store.url, store.variables) if store else ("", {})
    with tempfile.TemporaryDirectory(prefix="jacquard-bench-", ignore_cleanup_errors=True) as folder:
        namespace = new_namespace(server.api)
        project = Project(Path(folder), server.kubeconfig, namespace, objects, backend=url, variables=variables)
        figures = {"up": project.up(), "no-op preview": project.preview()}
        project.variables["BENCH_OBJECTS"] = str(objects + 1)
        figures["up of one more"] = project.up()
        project.pulumi("stack", "rm", "bench", "--force", "--yes", "--non-interactive")
        return figures


def main() -> None:
    """Run the rounds, print medians, and compare each server with the folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objects", type=int, default=320, help="ConfigMaps in the stack (default 320)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds (default 3)")
    parser.add_argument("--json", type=Path, help="also write the figures of all rounds here")
    chosen = parser.parse_args()
    binaries.path("versitygw")  # with an error that names the command that builds it; in tests, S3 would be skipped
    rounds: dict[str, list[dict[str, float]]] = {FOLDER: [], **{name: [] for name in STORES}}
    with tempfile.TemporaryDirectory(prefix="jacquard-bench-") as folder, ExitStack() as running:
        server = LocalApiServer(Path(folder) / "server", kinds=())
        running.callback(server.stop)
        stores: dict[str, StateStore | None] = {FOLDER: None}
        for name, kind in STORES.items():
            stores[name] = store = kind(Path(folder) / name)
            running.callback(store.stop)
            store.start()
        for _ in range(chosen.rounds):
            for name, of_backend in stores.items():
                rounds[name].append(one_run(server, chosen.objects, of_backend))
    for name, runs in rounds.items():
        figures = {step: statistics.median(run[step] for run in runs) for step in runs[0]}
        print(f"{name:<11}", *(f"{step} {seconds:.1f} s" for step, seconds in figures.items()), sep="   ")
    ratios = {
        name: statistics.median(run["up"] / base["up"] for run, base in zip(rounds[name], rounds[FOLDER], strict=True))
        for name in STORES
    }
    for name, ratio in ratios.items():
        print(f"up with {name}, relative to a folder: {ratio:.2f} (limit {LIMIT})")
    if chosen.json:
        chosen.json.write_text(json.dumps({"rounds": rounds, "ratios": ratios}, indent=2) + "\n")
    sys.exit(int(max(ratios.values()) > LIMIT))


if __name__ == "__main__":
    main()
