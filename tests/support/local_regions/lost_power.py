"""Loss of the power of all hosts of a local region."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from components.render.labels import RACK
from jacquard.providers.kube import ObjectRef
from tests.support.local_regions.broken_nodes import CHECK
from tests.support.local_regions.host_power import HOST
from tests.support.local_regions.local_region import LocalRegion, wait_until

_KEPT_OFF = "reboot.metal3.io/outage"
"""Annotation that keeps the power of a host off."""
_PATIENCE_SECONDS = 1200.0
_SETTLED_SECONDS = 10.0


def node_uids(region: LocalRegion, cluster: str) -> dict[str, str]:
    """Return the uids of the nodes of a cluster, by name."""
    return {node["metadata"]["name"]: node["metadata"]["uid"] for node in region.api(cluster).list("v1", "Node")}


def ready_nodes(region: LocalRegion, cluster: str) -> int:
    """Return the number of ready nodes of a cluster."""
    conditions = [node["status"].get("conditions") or () for node in region.api(cluster).list("v1", "Node")]
    return sum(("Ready", "True") in {(one["type"], one["status"]) for one in those} for those in conditions)


@contextmanager
def power_lost(region: LocalRegion, cluster: str) -> Iterator[None]:
    """Keep the power of all hosts off during a block, which starts when no node of the cluster is ready.

    Afterwards, one node of each rack boots later than the others: a health check that may repair would repair it.
    """
    hosts = region.api().list(*HOST)
    used = [host for host in hosts if host["spec"].get("consumerRef", {}).get("namespace") == cluster]
    last = {host["metadata"]["labels"][RACK]: host for host in used}
    _keep_off(region, hosts, "")
    try:
        wait_for_ready(region, cluster, 0)
        yield
        _keep_off(region, [host for host in hosts if host not in last.values()], None)
        wait_for_ready(region, cluster, len(node_uids(region, cluster)) - len(last))
        time.sleep(_SETTLED_SECONDS)
    finally:
        _keep_off(region, hosts, None)


def wait_for_ready(region: LocalRegion, cluster: str, nodes: int) -> None:
    """Wait until exactly ``nodes`` nodes of a cluster are ready."""
    what = f"{nodes} nodes are ready"
    wait_until(lambda: ready_nodes(region, cluster) == nodes, timeout_seconds=_PATIENCE_SECONDS, what=what)


@contextmanager
def hasty_health_checks(region: LocalRegion, cluster: str, seconds: int) -> Iterator[None]:
    """Shorten the time until a node that is not ready is unhealthy; restore the health checks after the block."""
    rendered = {check["metadata"]["name"]: _conditions(check) for check in region.api().list(*CHECK, namespace=cluster)}
    for name, conditions in rendered.items():
        _set(region, cluster, name, [{**one, "timeoutSeconds": seconds} for one in conditions])
    try:
        yield
    finally:
        for name, conditions in rendered.items():
            _set(region, cluster, name, conditions)


def _conditions(check: dict[str, Any]) -> list[dict[str, Any]]:
    return list(check["spec"]["checks"]["unhealthyNodeConditions"])


def _set(region: LocalRegion, cluster: str, name: str, conditions: list[dict[str, Any]]) -> None:
    patch = {"spec": {"checks": {"unhealthyNodeConditions": conditions}}}
    region.api().patch(ObjectRef(*CHECK, name, cluster), patch, field_manager="test")


def _keep_off(region: LocalRegion, hosts: Iterable[dict[str, Any]], value: str | None) -> None:
    patch = {"metadata": {"annotations": {_KEPT_OFF: value}}}
    for host in hosts:
        ref = ObjectRef(*HOST, host["metadata"]["name"], host["metadata"]["namespace"])
        region.api().patch(ref, patch, field_manager="test")
