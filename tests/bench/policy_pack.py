"""Benchmark: start of the policy pack, and a preview of 300 resources with and without the pack.

The baseline of the start is a pack of the SDK pulumi-policy with one policy. The baseline of the preview is the same
preview without a pack; it creates copies of objects of laptop in an API server. Ratios compare processor time. Exits
with 1 if a ratio exceeds its limit.

python tests/bench/policy_pack.py [--rounds 5] [--json FILE]
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import analyzer_pb2_grpc
from support import ENVIRONMENTS, LocalApiServer

from components.inputs.manifests import everything
from components.render.manifest import MANAGEMENT
from components.specs.reading.loader import load_environment
from jacquard.lab.toolchain import environment
from jacquard.machine import paths

STACK = "laptop"
RESOURCES = 300
LIMITS = {"pack start": 4.0, "preview with the pack": 1.3}
"""Maximum ratios to the baselines. A start of 4 baselines is 1.0 s if the baseline is 0.25 s."""
PACK = paths.ROOT / "policies"
SDK_PACK = """
from pulumi_policy import EnforcementLevel, PolicyPack, ResourceValidationPolicy

policy = ResourceValidationPolicy(name="none", description="accepts everything", validate=lambda *_: None)
PolicyPack(name="floor", policies=[policy])
"""
PROGRAM = """
import json
import os
from pathlib import Path

import pulumi


class Provider(pulumi.ProviderResource):
    def __init__(self, name):
        inputs = {"kubeconfig": os.environ["KUBECONFIG"], "clusterIdentifier": "bench"}
        super().__init__("kubernetes", name, inputs, pulumi.ResourceOptions(version="4.34.2"))


options = pulumi.ResourceOptions(provider=Provider("management"))
for name, token, inputs in json.loads(Path("resources.json").read_text()):
    pulumi.CustomResource(token, name, inputs, options)
"""
BUILT_IN = ("v1", "rbac.authorization.k8s.io/v1", "networking.k8s.io/v1", "batch/v1", "apps/v1")
"""Kinds that an API server without CRDs has."""


@contextmanager
def timed() -> Iterator[Callable[[], tuple[float, float]]]:
    """Yield a function that returns the seconds and the processor seconds of commands that ended in the block."""
    begin, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)

    def spent() -> tuple[float, float]:
        now = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.perf_counter() - begin, now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime

    yield spent


def start(pack: Path, variables: Mapping[str, str]) -> tuple[float, float]:
    """Return the seconds until a pack has returned the description of its policies."""
    command = [sys.executable, "-u", "-m", "pulumi.policy", "127.0.0.1:1", str(pack)]
    with (
        timed() as spent,
        subprocess.Popen(command, cwd=pack, stdout=subprocess.PIPE, text=True, env=variables) as process,
    ):
        assert process.stdout is not None
        with grpc.insecure_channel(f"127.0.0.1:{int(process.stdout.readline())}") as channel:
            analyzer_pb2_grpc.AnalyzerStub(channel).GetAnalyzerInfo(empty_pb2.Empty())
        seconds, _ = spent()
        process.terminate()
        process.wait()
        return seconds, spent()[1]


def declared() -> list[tuple[str, str, Any]]:
    """Return objects of the stack as resources: name, type and inputs."""
    everywhere = everything(load_environment(STACK, ENVIRONMENTS))
    ours = (item for item in everywhere if item.cluster == MANAGEMENT and item.kind != "Namespace")
    manifests = [item for item in ours if item.api_version in BUILT_IN]
    copies = itertools.islice(itertools.cycle(manifests), RESOURCES)
    return [
        (f"copy-{number}", f"kubernetes:{item.api_version}:{item.kind}", _copy(item.body, number))
        for number, item in enumerate(copies)
    ]


def _copy(body: Mapping[str, Any], number: int) -> dict[str, Any]:
    name = f"{body['metadata']['name']}-{number}"
    place = {"namespace": "default"} if body["metadata"].get("namespace") else {}
    return {**body, "metadata": {**body["metadata"], "name": name, **place}}


def project(folder: Path, kubeconfig: Path) -> dict[str, str]:
    """Create the project in ``folder``; returns the variables of its commands."""
    runtime = {"name": "python", "options": {"virtualenv": str(paths.VENV)}}
    (folder / "Pulumi.yaml").write_text(json.dumps({"name": "declared", "runtime": runtime}))
    (folder / "__main__.py").write_text(PROGRAM)
    (folder / "resources.json").write_text(json.dumps(declared()))
    (folder / "state").mkdir()
    variables = {
        **environment.process(STACK, backend_url=f"file://{folder / 'state'}?metadata=skip"),
        "PULUMI_CONFIG_PASSPHRASE": environment.REHEARSAL_PASSPHRASE,
        "KUBECONFIG": str(kubeconfig),
    }
    pulumi(folder, variables, "stack", "init", STACK)
    return variables


def pulumi(folder: Path, variables: Mapping[str, str], *arguments: str) -> tuple[float, float]:
    """Run a command of Pulumi and return its seconds."""
    command = ["pulumi", *arguments, "--non-interactive"]
    with timed() as spent:
        subprocess.run(command, cwd=folder, env=variables, check=True, stdout=subprocess.DEVNULL)
        return spent()


def measure(folder: Path, kubeconfig: Path, rounds: int) -> list[dict[str, tuple[float, float]]]:
    """Return the figures of each round, by name."""
    work, sdk = folder / "work", folder / "sdk"
    work.mkdir()
    sdk.mkdir()
    (sdk / "__main__.py").write_text(SDK_PACK)
    runtime = {"name": "python", "options": {"virtualenv": str(paths.VENV)}}
    (sdk / "PulumiPolicy.yaml").write_text(json.dumps({"version": "1.0.0", "runtime": runtime}))
    variables = project(work, kubeconfig)
    preview = ("preview", "-s", STACK)
    figures: dict[str, Callable[[], tuple[float, float]]] = {
        "SDK pack start": lambda: start(sdk, variables),
        "pack start": lambda: start(PACK, variables),
        "preview": lambda: pulumi(work, variables, *preview),
        "preview with SDK pack": lambda: pulumi(work, variables, *preview, "--policy-pack", str(sdk)),
        "preview with the pack": lambda: pulumi(work, variables, *preview, "--policy-pack", str(PACK)),
    }
    for figure in figures.values():
        figure()  # The first read fills the page cache.
    return [{name: figure() for name, figure in figures.items()} for _ in range(rounds)]


def main() -> None:
    """Run the rounds, print medians and ratios, and compare these with their limits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="rounds (default 5)")
    parser.add_argument("--json", type=Path, help="also write the figures of all rounds here")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = LocalApiServer(Path(folder) / "server", kubeconfig=Path(folder) / "kubeconfig.yaml")
        try:
            rounds = measure(Path(folder), server.kubeconfig, chosen.rounds)
        finally:
            server.stop()
    floors = {"pack start": "SDK pack start", "preview with SDK pack": "preview", "preview with the pack": "preview"}
    ratios = {
        name: statistics.median(figures[name][1] / figures[floor][1] for figures in rounds)
        for name, floor in floors.items()
    }
    for name in rounds[0]:
        seconds, used = zip(*(figures[name] for figures in rounds), strict=True)
        limit = f", limit {LIMITS[name]}" if name in LIMITS else ""
        ratio = f"   {ratios[name]:.2f} x floor{limit}" if name in ratios else ""
        spent = f"median {statistics.median(seconds):.2f} s   {min(seconds):.2f} .. {max(seconds):.2f}"
        print(f"{name:<22} {spent}   {statistics.median(used):.2f} s of processor time{ratio}")
    if chosen.json:
        chosen.json.write_text(json.dumps({"rounds": rounds, "load": os.getloadavg()[0]}, indent=2) + "\n")
    sys.exit(any(ratios[name] > limit for name, limit in LIMITS.items()))


if __name__ == "__main__":
    main()
