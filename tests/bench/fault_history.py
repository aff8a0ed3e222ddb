"""Benchmark: reading a week of faults from a store with all nodes of a large region.

One process of VictoriaMetrics replaces the cluster version. It has one condition of each node, at one-minute intervals,
and a fault of ten minutes on one node of a hundred. The baseline is the cheapest query that reads the same samples. A
region has one condition for each check, and ``jacquard facts --metrics`` reads them in sequence.

python tests/bench/fault_history.py [--nodes 1500 --nodes 6000] [--rounds 3] [--json FILE]
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from support import Programs, is_healthy, reference, request, wait_until

from components.lookups.health.node_checks import library_checks
from jacquard.lab.rehearsal import ports
from jacquard.lab.toolchain import binaries
from jacquard.observe.facts import HISTORY_HOURS, FaultHistory
from jacquard.observe.metrics_store import MetricsStore
from jacquard.observe.nodes.fault_history import fault_history

CLUSTER, CONDITION, MINUTES = "acme-train", "GpuLost", HISTORY_HOURS * 60
FAULTY = 100
"""One node in this many has a fault."""
FAULT_MINUTES = 10
LIMIT = 6.0
"""Maximum ratio of the slowest size to its baseline."""
_AT_ONCE = 50
"""Number of nodes in one import."""
_END = dt.datetime(2026, 1, 15, tzinfo=dt.UTC)


def main() -> None:
    """Measure each size and print its figures; exit with 1 if a ratio exceeds the limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, action="append", help="size, repeatable (default 1500, 3000 and 6000)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each size (default 3)")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    chosen = parser.parse_args()
    found = [size(nodes, chosen.rounds) for nodes in chosen.nodes or (1500, 3000, 6000)]
    conditions = len({check.condition for check in library_checks().values() if check.condition})
    for row in found:
        print(
            f"{row['nodes']:>5} nodes   {row['samples'] / 1e6:.1f} million samples   {row['seconds']:.2f} s"
            f"   {row['ratio']:.1f} x floor   {row['megabytes']:.0f} MB of the store   limit {LIMIT:g} x"
        )
    print(f"one of {conditions} conditions")
    if chosen.json:
        chosen.json.write_text(json.dumps(found, indent=2) + "\n")
    if any(row["ratio"] > LIMIT for row in found):
        sys.exit(1)


def size(nodes: int, rounds: int) -> dict[str, float]:
    """Return the figures of a store with ``nodes`` nodes: medians of seconds, and the peak of the store's memory."""
    with store(nodes) as (url, peak):
        reader, region = MetricsStore(url, None), reference("laptop")

        def floor() -> int:
            query = f'sum(count_over_time(kube_node_status_condition{{condition="{CONDITION}"}}[{HISTORY_HOURS}h]))'
            [(_, samples)] = reader.values(query, _END)
            return int(samples)

        def read() -> FaultHistory:
            return fault_history(region, reader, _END)

        samples, history = floor(), read()
        assert len(history.faults) == nodes // FAULTY, len(history.faults)
        times = [(seconds(floor), seconds(read)) for _ in range(rounds)]
        floors, reads = (statistics.median(column) for column in zip(*times, strict=True))
        return {
            "nodes": nodes,
            "samples": samples,
            "seconds": reads,
            "floor_seconds": floors,
            "ratio": reads / floors,
            "megabytes": peak(),
        }


def seconds(work: Callable[[], object]) -> float:
    """Return the duration of a call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


@contextmanager
def store(nodes: int) -> Iterator[tuple[str, Callable[[], float]]]:
    """Start a store with a week of ``nodes`` nodes; yield its URL and a function that returns its peak memory in MB."""
    with tempfile.TemporaryDirectory() as name:
        folder, [port] = Path(name), ports.free(1)
        address, programs = f"{ports.LOOPBACK}:{port}", Programs(folder)
        options = ("-retentionPeriod=100y", f"-storageDataPath={folder / 'data'}", "-search.disableCache")
        try:
            programs.start("store", str(binaries.path("victoria-metrics")), f"-httpListenAddr={address}", *options)
            wait_until(lambda: is_healthy(address), timeout_seconds=60, what="the store is healthy")
            for body in bodies(nodes):
                answer = request(f"http://{address}/api/v1/import", body)
                assert answer.status == 204, answer
            request(f"http://{address}/internal/force_flush")
            yield f"http://{address}", lambda: metric(address, "process_resident_memory_peak_bytes") / 1e6
        finally:
            programs.stop()


def bodies(nodes: int) -> Iterator[bytes]:
    """Yield the lines of all nodes in the format of ``/api/v1/import``."""
    end = int(_END.timestamp())
    times = ",".join(str((end - minute * 60) * 1000) for minute in range(MINUTES, -1, -1))
    working = ["0"] * (MINUTES + 1)
    faulty = [*working[:-FAULT_MINUTES], *["1"] * FAULT_MINUTES]
    values = {False: ",".join(working), True: ",".join(faulty)}
    for first in range(0, nodes, _AT_ONCE):
        lines = []
        for node in range(first, min(first + _AT_ONCE, nodes)):
            labels = {
                "__name__": "kube_node_status_condition",
                "cluster": CLUSTER,
                "node": f"node-{node}",
                "condition": CONDITION,
                "status": "true",
            }
            text = values[node % FAULTY == 0]
            lines.append(f'{{"metric":{json.dumps(labels)},"values":[{text}],"timestamps":[{times}]}}')
        yield "\n".join(lines).encode()


def metric(address: str, name: str) -> float:
    """Return a metric of the store itself."""
    lines = request(f"http://{address}/metrics").text.splitlines()
    [value] = [line.rpartition(" ")[2] for line in lines if line.startswith(f"{name} ")]
    return float(value)


if __name__ == "__main__":
    main()
