"""Nodes in burn-in: Machines that are unavailable only because the tests of their node have not ended.

Cluster API includes the readiness gates of a Machine in its condition ``Ready``
(CAPI:internal/controllers/machine/machine_controller_status.go, v1.13.5). A Machine in burn-in therefore differs from
a broken one only by the conditions that ``Ready`` summarizes.
"""

import datetime as dt
from collections.abc import Mapping

from components.lookups.health.node_tests import burn_in_minutes
from components.lookups.pools import clusters
from components.specs.environment import Environment
from components.specs.pools.node_pool import BurnIn
from components.specs.struct import Struct
from jacquard.observe.objects import Object, condition, holds


class NodesInBurnIn(Struct):
    """Nodes of a rollout group that are in burn-in."""

    nodes: int
    until: str
    """Expected end of the last burn-in."""


def burn_in_durations(environment: Environment) -> Mapping[tuple[str, str], dt.timedelta]:
    """Return the expected duration of the burn-in of each gated pool, by cluster and pool.

    The duration of a burn-in by another controller is the estimate of ``join_minutes``, and is unknown without it.
    """
    nodes = environment.region.nodes
    found: dict[tuple[str, str], dt.timedelta] = {}
    for placed in clusters(environment) if nodes.gate else ():
        for pool in placed.cluster.pools:
            if nodes.burn_in and nodes.durations and pool.health.burn_in is BurnIn.GATED:
                found[placed.cluster.name, pool.name] = dt.timedelta(minutes=nodes.durations.join_minutes)
            elif minutes := burn_in_minutes(environment, pool):
                found[placed.cluster.name, pool.name] = dt.timedelta(minutes=minutes)
    return found


def nodes_in_burn_in(
    machines: list[Object], gate: str, expected: dt.timedelta, now: dt.datetime
) -> NodesInBurnIn | None:
    """Return the nodes of ``machines`` that are in burn-in.

    None without such nodes, or if a burn-in has taken more than twice the expected duration, after which its Job ends
    without a result.
    """
    starts = [
        dt.datetime.fromisoformat(condition(body, "NodeReady")["lastTransitionTime"])
        for body in machines
        if _waits_for(body, gate)
    ]
    if not starts or now - min(starts) > 2 * expected:
        return None
    return NodesInBurnIn(nodes=len(starts), until=(max(starts) + expected).isoformat())


def _waits_for(machine: Object, gate: str) -> bool:
    """Return whether a Machine has a healthy node, and no result for the condition ``gate`` yet."""
    healthy = holds(machine, "NodeReady") and holds(machine, "NodeHealthy")
    unresolved = condition(machine, gate).get("status") not in {"True", "False"}
    return (
        healthy and unresolved and not holds(machine, "Ready") and not holds(machine, "HealthCheckSucceeded", "False")
    )
