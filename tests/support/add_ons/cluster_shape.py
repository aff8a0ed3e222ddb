"""Facts about a cluster that add-on values depend on."""

from __future__ import annotations

from typing import Any

from components.render.add_ons.cluster_facts import ClusterFacts
from components.specs.base import Address, Network

_CLUSTER: dict[str, Any] = {
    "name": "c1",
    "tenant": "t1",
    "region": "r1",
    "nodes": 10,
    "api": Address("10.3.0.1"),
    "pods": (Network("10.64.0.0/16"),),
    "system_pool": False,
    "gpus": True,
    "vm_gpus": False,
    "attachments": False,
}


def facts(**others: Any) -> ClusterFacts:
    """Return a cluster of ten nodes with GPUs, with ``others`` overridden."""
    return ClusterFacts(**_CLUSTER | others)
