"""Reads the faults of a region's nodes: conditions of Nodes that checks set, and remediations in progress."""

import datetime as dt
from collections.abc import Iterator, Mapping

from components.lookups.node_checks import checks_by_type
from components.lookups.pools import PlacedCluster, clusters
from components.programs.failed_repairs import GAVE_UP
from components.render import labels as keys
from components.render.pools import metal3
from components.reports.health import NodeFault
from components.specs.environment import Environment
from components.specs.health.node_checks import HealthAction, NodeCheck
from jacquard.observe.live_nodes import place_of
from jacquard.observe.objects import Object, key
from jacquard.observe.observation import Observation
from jacquard.providers.kube.objects import dig

MACHINE = ("cluster.x-k8s.io/v1beta2", "Machine")
REMEDIATION = (metal3.API, "Metal3Remediation")
MANAGEMENT_KINDS = (MACHINE, REMEDIATION)
_UPSTREAM = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable")
"""Conditions that a kubelet or a pod network sets. All others that are True report a fault."""


def node_faults(environment: Environment, seen: Observation) -> Iterator[NodeFault]:
    """Yield the faults of all nodes of pools, ordered by cluster, node and condition."""
    phases = {key(body): str(dig(body, "status", "phase") or "Pending") for body in seen.of(REMEDIATION[1])}
    machines = {
        (cluster, str(node)): name
        for body in seen.of(MACHINE[1])
        for cluster, name in [key(body)]
        if (node := dig(body, "status", "nodeRef", "name"))
    }
    for placed in sorted(clusters(environment), key=lambda placed: placed.cluster.name):
        cluster = placed.cluster.name
        by_pool = _checks(environment, placed)
        for node in sorted(seen.of("Node", cluster), key=key):
            phase = phases.get((cluster, machines.get((cluster, key(node)[1]), "")))
            yield from _of_node(environment, cluster, node, by_pool, phase)


def _checks(environment: Environment, placed: PlacedCluster) -> dict[str, dict[str, NodeCheck]]:
    """Return the checks of each pool by the condition that they set."""
    by_type = checks_by_type(environment, (pool.instance_type for pool in placed.cluster.pools))
    return {
        pool.name: {check.condition: check for check in by_type[pool.instance_type] if check.condition}
        for pool in placed.cluster.pools
    }


def _of_node(
    environment: Environment,
    cluster: str,
    node: Object,
    by_pool: Mapping[str, Mapping[str, NodeCheck]],
    phase: str | None,
) -> Iterator[NodeFault]:
    pool = str((dig(node, "metadata", "labels") or {}).get(keys.NODE_POOL, ""))
    if pool not in by_pool:
        return
    host = place_of(environment, node)
    for item in sorted(dig(node, "status", "conditions") or [], key=lambda item: str(item.get("type"))):
        ready = item.get("type") == "Ready"
        if ready == (item.get("status") == "True") or (not ready and item.get("type") in _UPSTREAM):
            continue
        check = by_pool[pool].get(str(item["type"]))
        action = HealthAction.REPAIR if ready else check.action if check else None
        yield NodeFault(
            cluster=cluster,
            node=key(node)[1],
            pool=pool,
            host=host,
            condition="NotReady" if ready else str(item["type"]),
            since=_time(item.get("lastTransitionTime")),
            message=str(item.get("message", "")),
            action=action,
            remediation=phase,
            next_action=_next(environment.name, host, action, phase),
        )


def _time(text: object) -> dt.datetime | None:
    return dt.datetime.fromisoformat(str(text)) if text else None


def _next(environment: str, host: str | None, action: HealthAction | None, phase: str | None) -> str:
    if phase == GAVE_UP:
        return "none; a spare replaces the node, because reboots did not help"
    if phase is not None:
        return f"none; a remediation is in progress ({phase})"
    match action:
        case HealthAction.REPAIR:
            return "none; the host is rebooted, then the node is replaced, within the limit of its rollout group"
        case HealthAction.QUARANTINE:
            out = f"jacquard host {environment} {host or 'HOST'} --to triage --reason TEXT"
            return f"when its jobs have ended: {out}"
        case _:
            return "none; look at the alert"
