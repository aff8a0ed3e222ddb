"""Benchmark: all nodes of a cluster return at once to one API server, with and without the rendered priority level.

The API server and etcd are real and have the flags of a control plane for this number of nodes. One process sends the
requests of all kubelets and of two agents on each node, over one connection each. At the same time, other nodes,
controllers and an administrator continue, and a tenant's job lists all pods without a pause. The processors are shared
by all of them: a server with the rendered CPU has more.

python tests/bench/returning_nodes.py [--nodes 100 --nodes 1000] [--rendered-only] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from support import PROBES, PROTECTED, Herd, HostedApiServer, Return, users

_CONNECTIONS = 4
"""Open files of a node's clients in this process, with a margin."""
_PROBE_SECONDS = 1.0
"""Timeout of probes by Kamaji's default."""
_OTHER_FILES = 1000


def main() -> None:
    """Measure each size and print its figures; exit with 1 if the rendered control plane rejects protected requests."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, action="append", help="size, repeatable (default 100 and 300)")
    parser.add_argument("--rendered-only", action="store_true", help="only with the rendered priority level")
    parser.add_argument("--request-seconds", type=int, default=60, help="timeout of requests (default 60, as rendered)")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    chosen = parser.parse_args()
    rows = [row for nodes in chosen.nodes or (100, 300) for row in size(nodes, chosen)]
    if chosen.json:
        chosen.json.write_text(json.dumps(rows, indent=2) + "\n")
    if any(row["rendered"] and (row["protected_rejected"] or row["complete"] != row["nodes"]) for row in rows):
        sys.exit(1)


def size(nodes: int, chosen: argparse.Namespace) -> list[dict[str, Any]]:
    """Return and print the figures of a cluster with ``nodes`` nodes."""
    files = _OTHER_FILES + _CONNECTIONS * nodes
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, max(files, most)))
    with tempfile.TemporaryDirectory(prefix="returning-nodes-") as folder:
        seconds = chosen.request_seconds
        server = HostedApiServer(Path(folder) / "cluster", nodes, users(nodes), request_seconds=seconds)
        try:
            herd = Herd(server, nodes)
            herd.prepare()
            server.prioritise()
            rows = [figures(server, herd, nodes, rendered=True)]
            if not chosen.rendered_only:
                server.forget_priority()
                rows.append(figures(server, herd, nodes, rendered=False))
        finally:
            server.stop()
    return rows


def figures(server: HostedApiServer, herd: Herd, nodes: int, *, rendered: bool) -> dict[str, Any]:
    """Return and print the figures of one return."""
    load_before = os.getloadavg()[0]
    result = herd.returns()
    row = {
        "nodes": nodes,
        "rendered": rendered,
        "load_before": load_before,
        "complete": result.complete,
        "restarted": result.restarted,
        "seconds": result.seconds,
        "server_processor_seconds": result.load.processor_seconds,
        "peak_memory_mebibytes": result.peak_memory >> 20,
        "memory_limit_mebibytes": server.memory_limit >> 20,
        "seats": server.seats(server.metrics()),
        "protected_rejected": sum(result.tallies[name].rejected for name in PROTECTED),
        "slow_probes": _slow_probes(result),
        "rejected": {f"{level}: {reason}": count for (level, reason), count in sorted(result.load.rejected.items())},
        "dispatched": dict(sorted(result.load.dispatched.items())),
        "waited_seconds": _waits(result),
        "populations": {name: _population(result, name) for name in result.tallies},
    }
    print(json.dumps(row, indent=2), flush=True)
    return row


def _slow_probes(result: Return) -> str:
    durations = result.tallies[PROBES].seconds
    return f"{sum(seconds > _PROBE_SECONDS for seconds in durations)} of {len(durations)}"


def _waits(result: Return) -> dict[str, float]:
    """Return the mean time in a queue of the executed requests of each level."""
    executed: Counter[str] = result.load.dispatched
    waits = {level: seconds / (executed[level] or 1) for level, seconds in result.load.waited.items()}
    return {level: round(seconds, 2) for level, seconds in sorted(waits.items()) if executed[level]}


def _population(result: Return, name: str) -> dict[str, Any]:
    tally = result.tallies[name]
    durations = sorted(tally.seconds) or [0.0]
    return {
        "statuses": {str(status): count for status, count in sorted(tally.statuses.items())},
        "median_seconds": round(durations[len(durations) // 2], 2),
        "slowest_seconds": round(durations[-1], 2),
        "redirected": tally.redirected,
        "lost": tally.lost,
    }


if __name__ == "__main__":
    main()
