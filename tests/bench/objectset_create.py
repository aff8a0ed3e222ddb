"""Create of the ObjectSet provider, compared with a bare concurrent apply loop on one API server in one run.

Both apply the same number of new BareMetalHosts by server-side apply with strict validation, with the same client and
number of connections. The loop is the baseline: the provider adds decoding, the search for existing objects, the set's
parent and labels, and the response. Rounds alternate which of the two is first; every round has its own names.

The cluster needs the BareMetalHost CRD, and no controllers: objects are deleted after each round.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc

from jacquard.providers.kube import ApiServer, ObjectRef
from jacquard.providers.objectset.config import CONNECTIONS
from jacquard.providers.rpc.server import MESSAGE_BYTES
from jacquard.providers.rpc.stubs import ResourceProviderStub, provider_pb2
from jacquard.providers.rpc.values import encode

TARGET = 0.60
"""Minimum speed of the provider as a share of the loop's."""
PROVIDER = Path(sys.executable).with_name("pulumi-resource-jacquard")


def hosts(count: int, namespace: str, prefix: str) -> dict[str, dict[str, Any]]:
    """Return ``count`` BareMetalHosts as in an inventory, by name."""
    return {name: _host(name, namespace, number) for number, name in ((i, f"{prefix}-{i:05}") for i in range(count))}


def _host(name: str, namespace: str, number: int) -> dict[str, Any]:
    low, high = number % 256, number // 256 % 256
    return {
        "apiVersion": "metal3.io/v1alpha1",
        "kind": "BareMetalHost",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {"jacquard.dev/rack": f"a{number // 40:02}", "jacquard.dev/instance-type": "gpu-h100"},
        },
        "spec": {
            "online": True,
            "architecture": "x86_64",
            "automatedCleaningMode": "metadata",
            "bootMode": "UEFI",
            "bootMACAddress": f"02:00:00:00:{high:02x}:{low:02x}",
            "bmc": {
                "address": f"redfish-virtualmedia://10.0.{high}.{low}/redfish/v1/Systems/1",
                "credentialsName": "bmc",
            },
            "rootDeviceHints": {"deviceName": "/dev/nvme0n1"},
        },
    }


@contextmanager
def provider(kubeconfig: Path) -> Iterator[ResourceProviderStub]:
    """Start the provider as the engine does and configure it."""
    process = subprocess.Popen([PROVIDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        sizes = [("grpc.max_receive_message_length", MESSAGE_BYTES), ("grpc.max_send_message_length", MESSAGE_BYTES)]
        with grpc.insecure_channel(f"127.0.0.1:{int(process.stdout.readline())}", options=sizes) as channel:
            stub = ResourceProviderStub(channel)
            settings = encode({"kubeconfig": str(kubeconfig.resolve()), "clusterIdentifier": "bench"})
            stub.Configure(provider_pb2.ConfigureRequest(args=settings))
            yield stub
    finally:
        process.terminate()
        process.wait()


def timed(work: Callable[[], object]) -> float:
    """Return the duration of ``work`` in seconds."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def apply_loop(api: ApiServer, bodies: dict[str, dict[str, Any]]) -> float:
    """Apply all objects in parallel and return the duration in seconds."""
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        return timed(lambda: list(pool.map(lambda body: api.apply(body, field_manager="bench"), bodies.values())))


def create_call(stub: ResourceProviderStub, name: str, namespace: str, bodies: dict[str, dict[str, Any]]) -> float:
    """Call Create for a set of all objects and return the duration of the call in seconds."""
    properties = encode({"setName": name, "namespace": namespace, "members": bodies})
    request = provider_pb2.CreateRequest(urn="urn:pulumi:bench::bench::jacquard:index:ObjectSet::bench")
    request.properties.CopyFrom(properties)
    return timed(lambda: stub.Create(request))


def clean(api: ApiServer, namespace: str) -> None:
    """Delete all hosts and parents of a round and wait for the deletion."""
    path = f"/apis/metal3.io/v1alpha1/namespaces/{namespace}/baremetalhosts"
    api.request("DELETE", path)
    api.request(
        "DELETE", f"/api/v1/namespaces/{namespace}/configmaps", query={"labelSelector": "applyset.kubernetes.io/id"}
    )
    while api.request("GET", path, query={"limit": 1})["items"]:
        time.sleep(0.2)


def run(kubeconfig: Path, count: int, rounds: int, namespace: str) -> list[dict[str, float]]:
    """Return the seconds of both for each round; the first one is a warm-up and left out."""
    api = ApiServer.from_kubeconfig(kubeconfig, connections=CONNECTIONS)
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
    api.apply(body, field_manager="bench")
    measured = []
    stamp = f"{time.time_ns() // 1_000_000:x}"
    with provider(kubeconfig) as stub:
        for number in range(rounds + 1):
            ways: dict[str, Callable[[str], float]] = {
                "loop_seconds": lambda name: apply_loop(api, hosts(count, namespace, name)),
                "create_seconds": lambda name: create_call(stub, name, namespace, hosts(count, namespace, name)),
            }
            order = list(ways) if number % 2 else list(reversed(ways))
            seconds = {}
            for way in order:
                seconds[way] = ways[way](f"{way[0]}{number}-{stamp}")
                clean(api, namespace)
            measured.append({way: round(seconds[way], 4) for way in ways})
    api.delete(ObjectRef("v1", "Namespace", namespace))
    return measured[1:]


def main() -> int:
    """Measure, print a table, optionally write JSON, and fail if the provider is too slow."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kubeconfig", type=Path, required=True, help="kubeconfig of the cluster to measure on")
    parser.add_argument("--objects", type=int, default=1000, help="BareMetalHosts a round (default: 1000)")
    parser.add_argument("--rounds", type=int, default=5, help="measured rounds after one to warm up (default: 5)")
    parser.add_argument("--namespace", default="jacquard-bench", help="made and removed (default: jacquard-bench)")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    measured = run(options.kubeconfig, options.objects, options.rounds, options.namespace)
    ratios = [item["loop_seconds"] / item["create_seconds"] for item in measured]
    ratio = round(statistics.median(ratios), 3)
    sys.stdout.write("round  loop (s)  Create (s)  ratio\n")
    for number, (item, one) in enumerate(zip(measured, ratios, strict=True), start=1):
        sys.stdout.write(f"{number:>5}  {item['loop_seconds']:>8.2f}  {item['create_seconds']:>10.2f}  {one:>5.2f}\n")
    sys.stdout.write(f"median ratio {ratio:.2f}, wanted at least {TARGET:.2f}\n")
    if options.json:
        figures = {"objects": options.objects, "connections": CONNECTIONS, "rounds": measured, "ratio": ratio}
        options.json.write_text(json.dumps({**figures, "target": TARGET}, indent=2) + "\n")
    return 0 if ratio >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
