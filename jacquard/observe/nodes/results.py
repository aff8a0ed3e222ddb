"""Reads the last results of node tests from the conditions of Nodes, by pool."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from components.lookups.add_ons import node_tests
from components.lookups.pools import clusters
from components.programs.node_test_decision import FAULT
from components.programs.objects import conditions, time_of
from components.render import labels as keys
from components.reports.health import PoolResults
from components.specs.environment import Environment
from jacquard.observe.objects import Object
from jacquard.observe.observation import Observation
from jacquard.providers.kube.objects import dig


def pool_results(environment: Environment, seen: Observation) -> Iterator[PoolResults]:
    """Yield the pools with tests of their nodes, ordered by cluster and pool."""
    for placed in sorted(clusters(environment), key=lambda placed: placed.cluster.name):
        tests, cluster = node_tests(environment, placed), placed.cluster.name
        if tests is None:
            continue
        results_of = defaultdict(list)
        for node in seen.of("Node", cluster):
            pool = (dig(node, "metadata", "labels") or {}).get(keys.NODE_POOL)
            results_of[pool].append(last_result(node, tests.gate))
        for pool in sorted(name for name, tested in tests.pools.items() if tested.by_phase):
            results = results_of[pool]
            passed, times = [one[0] for one in results], [one[1] for one in results if one[1]]
            yield PoolResults(
                cluster=cluster,
                pool=pool,
                passed=passed.count(True),
                failed=passed.count(False),
                untested=passed.count(None),
                oldest=min(times, default=None),
            )


def last_result(node: Object, gate: str) -> tuple[bool | None, dt.datetime | None]:
    """Return whether a node passed its last tests, None before the first result, and the time of the last result."""
    known: dict[str, dict[str, Any]] = conditions(node)
    burn_in, fault = known.get(gate, {}), known.get(FAULT, {})
    texts = [str(one["lastHeartbeatTime"]) for one in (burn_in, fault) if one.get("lastHeartbeatTime")]
    if burn_in.get("status") == "False" or fault.get("status") == "True":
        return False, max(map(time_of, texts), default=None)
    return (True, max(map(time_of, texts))) if texts else (None, None)
