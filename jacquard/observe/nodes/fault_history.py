"""Reads the faults of the last week from the metrics store: nodes, conditions and durations.

Each agent of a cluster scrapes kube-state-metrics, whose ``kube_node_status_condition`` has a series for each node,
condition and status (KSM:internal/store/node.go). Actions and hold times of checks are not part of the queries, so that
the same history answers for any change of them. Each condition has its own queries, because a week of all conditions
of a large region exceeds -search.maxSamplesPerQuery (VM:app/vmselect/netstorage/netstorage.go).
"""

import datetime as dt
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from components.lookups.health.node_checks import library_checks
from components.lookups.pools import clusters
from components.specs.environment import Environment
from jacquard.observe.facts import HISTORY_HOURS, Coverage, FaultHistory, PastFault, Place
from jacquard.observe.metrics_store import MetricsStore

_STEP_SECONDS = 60
_NODES_AT_ONCE = 100
"""Nodes of one query of durations; each has up to 10,080 values."""
_NODE = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")
"""Names of Nodes. Agents of tenants write the label, so other values are ignored instead of inserted into a query."""


def fault_history(environment: Environment, store: MetricsStore, at: dt.datetime) -> FaultHistory:
    """Return the faults of nodes in the clusters of ``environment`` within ``HISTORY_HOURS`` before ``at``.

    Raises:
        MetricsError: the store did not answer a query completely.
    """
    names = {placed.cluster.name for placed in clusters(environment)}
    end = at.replace(second=0, microsecond=0)
    conditions = sorted({check.condition for check in library_checks().values() if check.condition})
    return FaultHistory(
        coverage=tuple(entry for name in conditions for entry in _coverage(store, name, names, end)),
        faults=tuple(fault for name in conditions for fault in _faults(store, name, names, end)),
    )


def _series(condition: str, nodes: Iterable[str] = ()) -> str:
    names = "|".join(name.replace(".", "[.]") for name in nodes)
    of_nodes = f',node=~"{names}"' if names else ""
    return f'kube_node_status_condition{{condition="{condition}",status="true"{of_nodes}}}'


def _coverage(store: MetricsStore, condition: str, names: set[str], end: dt.datetime) -> Iterator[Coverage]:
    query = f"count_over_time(count by (cluster) ({_series(condition)})[{HISTORY_HOURS}h:1h])"
    hours = {labels.get("cluster", ""): int(value) for labels, value in store.values(query, end)}
    for cluster in sorted(names & hours.keys()):
        yield Coverage(cluster=cluster, condition=condition, hours=min(hours[cluster], HISTORY_HOURS))


def _faults(store: MetricsStore, condition: str, names: set[str], end: dt.datetime) -> Iterator[PastFault]:
    query = f"max by (cluster, node) (max_over_time({_series(condition)}[{HISTORY_HOURS}h])) == 1"
    places = sorted(
        (labels["cluster"], labels["node"])
        for labels, _ in store.values(query, end)
        if labels.get("cluster") in names and _NODE.fullmatch(labels.get("node", ""))
    )
    longest = _longest(store, condition, sorted({node for _, node in places}), end)
    for cluster, node in places:
        yield PastFault(
            cluster=cluster, node=node, condition=condition, longest_seconds=longest.get((cluster, node), 0)
        )


def _longest(store: MetricsStore, condition: str, nodes: Sequence[str], end: dt.datetime) -> dict[Place, int]:
    """Return the duration of the longest occurrence on each node in seconds; nodes with less than a minute are omitted.

    A node has a value in each step of its fault.
    """
    start, longest = end - dt.timedelta(hours=HISTORY_HOURS), dict[Place, int]()
    for first in range(0, len(nodes), _NODES_AT_ONCE):
        some = nodes[first : first + _NODES_AT_ONCE]
        query = f"max by (cluster, node) ({_series(condition, some)}) == 1"
        for labels, times in store.times(query, start, end, _STEP_SECONDS):
            longest[labels.get("cluster", ""), labels.get("node", "")] = _longest_run(times) * _STEP_SECONDS
    return longest


def _longest_run(times: Iterable[float]) -> int:
    """Return the largest number of subsequent steps in ``times``."""
    runs: dict[float, int] = defaultdict(int)
    for position, moment in enumerate(sorted(times)):
        runs[moment - position * _STEP_SECONDS] += 1  # equal for all steps without a gap between them
    return max(runs.values(), default=0)
