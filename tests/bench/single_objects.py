"""Benchmark: ``pulumi up`` of single objects, compared with a bare apply loop on the same API server.

The baseline is 1,000 server-side applies from Python over 8 connections. The limit is on the ratio: seconds of an `up`
of N ConfigMaps divided by the seconds of the baseline, compared with the ratio of the vendor's provider (2.8 s over 1.1
s for 100).

python tests/bench/single_objects.py --kubeconfig FILE [--objects 100] [--rounds 3] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from jacquard.lab.toolchain import environment
from jacquard.machine import paths
from jacquard.providers.kube import ApiServer

VENDOR_UP_SECONDS = 2.8
"""Vendor's provider, 100 ConfigMaps, file backend."""
VENDOR_FLOOR_SECONDS = 1.1
"""1,000 applies from Python, 8 connections, same machine and day as the figure above."""
FLOOR_OBJECTS = 1000
CONNECTIONS = 8
PROGRAM = """
import os
import pulumi

class Provider(pulumi.ProviderResource):
    def __init__(self, name, kubeconfig):
        inputs = {"kubeconfig": kubeconfig, "clusterIdentifier": "bench"}
        super().__init__("kubernetes", name, inputs, pulumi.ResourceOptions(version="4.34.2"))

options = pulumi.ResourceOptions(provider=Provider("bench", os.environ["BENCH_KUBECONFIG"]))
for number in range(int(os.environ["BENCH_OBJECTS"])):
    metadata = {"name": f"single-{number}", "namespace": os.environ["BENCH_NAMESPACE"]}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"v": "1"}}
    pulumi.CustomResource("kubernetes:core/v1:ConfigMap", metadata["name"], body, options)
"""


def config_map(namespace: str, name: str) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
        "data": {"v": "1"},
    }


def floor_seconds(api: ApiServer, namespace: str) -> float:
    """Return the duration of applying 1,000 new ConfigMaps in seconds."""
    bodies = [config_map(namespace, f"floor-{number}") for number in range(FLOOR_OBJECTS)]
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        start = time.perf_counter()
        list(pool.map(lambda body: api.apply(body, field_manager="bench"), bodies))
        return time.perf_counter() - start


class Project:
    """A temporary Pulumi project.

    Args:
        folder: Its folder.
        kubeconfig: Kubeconfig of the cluster.
        namespace: Namespace of its objects.
        objects: Number of its objects.
        backend: URL of its backend; by default, a folder in ``folder``.
        variables: Further environment variables of the engine.
    """

    def __init__(
        self,
        folder: Path,
        kubeconfig: Path,
        namespace: str,
        objects: int,
        *,
        backend: str = "",
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = folder
        (folder / "state").mkdir()
        (folder / "__main__.py").write_text(PROGRAM)
        (folder / "Pulumi.yaml").write_text(
            f"name: bench\nruntime: {{name: python, options: {{virtualenv: {paths.VENV}}}}}\n"
        )
        self.variables = {
            **environment.process("bench", backend_url=backend or f"file://{folder / 'state'}"),
            "PULUMI_CONFIG_PASSPHRASE": environment.REHEARSAL_PASSPHRASE,
            "BENCH_KUBECONFIG": str(kubeconfig),
            "BENCH_NAMESPACE": namespace,
            "BENCH_OBJECTS": str(objects),
            **(variables or {}),
        }
        self.pulumi("stack", "init", "bench", "--non-interactive")

    def pulumi(self, *arguments: str) -> float:
        start = time.perf_counter()
        done = subprocess.run(
            ["pulumi", *arguments], cwd=self.folder, env=self.variables, capture_output=True, text=True, check=False
        )
        seconds = time.perf_counter() - start
        if done.returncode:
            sys.exit(f"pulumi {' '.join(arguments)} failed:\n{done.stdout}\n{done.stderr}")
        return seconds

    def up(self) -> float:
        return self.pulumi("up", "-s", "bench", "--yes", "--skip-preview", "--non-interactive")

    def preview(self) -> float:
        return self.pulumi("preview", "-s", "bench", "--expect-no-changes", "--non-interactive")


def new_namespace(api: ApiServer) -> str:
    """Create a namespace, and return its name."""
    name = f"bench-{uuid.uuid4().hex[:8]}"
    api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}, field_manager="bench")
    return name


def one_round(api: ApiServer, kubeconfig: Path, objects: int) -> dict[str, float]:
    namespace = new_namespace(api)
    with tempfile.TemporaryDirectory(prefix="jacquard-bench-", ignore_cleanup_errors=True) as folder:
        project = Project(Path(folder), kubeconfig, namespace, objects)
        figures = {
            "floor": floor_seconds(api, namespace),
            "up": project.up(),
            "no-op preview": project.preview(),
            "destroy": project.pulumi("destroy", "-s", "bench", "--yes", "--skip-preview", "--non-interactive"),
        }
        figures["up over floor"] = figures["up"] / figures["floor"]
        return figures


def main() -> None:
    """Run the rounds, print medians and compare the ratio with its limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kubeconfig", type=Path, required=True, help="kubeconfig of a cluster that may be written to")
    parser.add_argument("--objects", type=int, default=100, help="ConfigMaps in the stack (default 100)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds (default 3)")
    parser.add_argument("--json", type=Path, help="also write the figures of all rounds here")
    chosen = parser.parse_args()
    api = ApiServer.from_kubeconfig(chosen.kubeconfig, connections=CONNECTIONS)
    rounds = [one_round(api, chosen.kubeconfig, chosen.objects) for _ in range(chosen.rounds)]
    vendor = VENDOR_UP_SECONDS / VENDOR_FLOOR_SECONDS
    for name in rounds[0]:
        values = sorted(figures[name] for figures in rounds)
        print(f"{name:<16} median {statistics.median(values):6.2f}   {values[0]:.2f} .. {values[-1]:.2f}")
    ratio = statistics.median(figures["up over floor"] for figures in rounds) / vendor
    print(f"up over floor, in relation to the vendor's {vendor:.2f}: {ratio:.2f} (at most 1.30)")
    if chosen.json:
        chosen.json.write_text(json.dumps({"rounds": rounds, "vendor": vendor, "ratio": ratio}, indent=2) + "\n")


if __name__ == "__main__":
    main()
