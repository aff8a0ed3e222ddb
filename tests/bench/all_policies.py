"""Benchmark: all policies over all objects of a region, without an engine: processor time and memory.

A child process loads and renders the region, then evaluates all objects. It reports the processor time of each step and
its peak resident memory before and after the evaluation. Exits with 1 if a limit is exceeded.

python tests/bench/all_policies.py [--environment us-east-04a] [--rounds 3] [--json FILE]
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

from support import ENVIRONMENTS

from components.inputs.manifests import manifests
from components.lookups.monitor_targets import MONITORS, targets
from components.lookups.observed_components import RELEASES, selected
from components.lookups.slices import slices
from components.render.manifest import created
from components.specs.cycle_collector import without_cycle_collector
from components.specs.reading.loader import load_environment
from components.specs.struct import replace
from policies import extensions
from policies.facts import Context, object_fact
from policies.judging import Judge

LIMITS = {"policies": 1.0, "memory": 500.0}
"""Seconds of processor time for facts and policies, and MB of the whole process."""
_MB = 1024


def measure(name: str) -> dict[str, float]:
    """Evaluate all objects of an environment once in this process; return seconds of processor time and MB."""
    now, steps = dt.datetime.now(dt.UTC), {}

    def step(label: str, started: float) -> float:
        steps[label] = time.process_time() - started
        return time.process_time()

    started = time.process_time()
    environment = load_environment(name, ENVIRONMENTS)
    bodies = [item for piece in slices(environment) for item in created(manifests(environment, piece))]
    started = step("load and render", started)
    before = _peak()
    facts = [object_fact(item.body, item.cluster, source="slice") for item in bodies]
    started = step("facts", started)
    found = targets(tuple(bodies))
    monitored = selected([item for item in bodies if item.kind in MONITORS], found)
    context = replace(Context.of(environment, now), targets=tuple(found), monitored=monitored)
    judge = Judge(extensions.rules(), context)
    count = sum(1 for fact in facts for _ in judge.violations(fact))
    started = step("policies about objects", started)
    count += sum(1 for _ in judge.stack_violations(facts))
    step("stack-wide policies", started)
    policies = sum(seconds for label, seconds in steps.items() if label != "load and render")
    kinds = {fact.kind for fact in facts}
    assert kinds >= RELEASES | MONITORS, "the region has no releases or monitors, so not all policies judge it"
    return {
        **steps,
        "policies": policies,
        "objects": len(facts),
        "violations": count,
        "memory before": before,
        "memory": _peak(),
    }


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _MB


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--environment", default="us-east-04a")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        with without_cycle_collector():
            print(json.dumps(measure(arguments.environment)))
        return 0
    command = [sys.executable, __file__, "--child", "--environment", arguments.environment]
    loads, rounds = [], []
    for _ in range(arguments.rounds):
        loads.append(os.getloadavg()[0])
        rounds.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    answer = {label: statistics.median(item[label] for item in rounds) for label in rounds[0]}
    print(f"{arguments.environment}, {arguments.rounds} rounds, load {min(loads):.0f} to {max(loads):.0f}:")
    for label, value in answer.items():
        print(f"  {label}: {value:.2f}{f' (limit {LIMITS[label]:g})' if label in LIMITS else ''}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"load": loads, **answer}, indent=2) + "\n")
    return int(any(answer[label] > limit for label, limit in LIMITS.items()))


if __name__ == "__main__":
    sys.exit(main())
