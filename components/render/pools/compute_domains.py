"""What lets pods on several nodes share memory of their GPUs over NVLink: NVIDIA's DRA driver (DRAD).

A tenant makes a ComputeDomain; the driver's controller answers with a template of claims, and its agents start an IMEX
daemon on each node to which a pod with such a claim comes. GPUs themselves come by the device plugin, as everywhere.
"""

from __future__ import annotations

from typing import Any

from components.render import labels as keys
from components.render.add_ons.cluster_facts import EVERY_NODE, ClusterFacts
from components.render.add_ons.pod_priorities import SERVICE

CHART = "dra-driver-nvidia-gpu"
AGENTS = f"{CHART}-kubelet-plugin"
"""Name of the DaemonSet whose pods prepare claims (DRAD:deployments/helm/dra-driver-nvidia-gpu/templates)."""
CLIQUE = "nvidia.com/gpu.clique"
"""Label of a node with its NVLink domain, by GPU Feature Discovery (DRAD:docs/prerequisites.md)."""
_USUAL_NODES = 18
"""Most nodes of an NVLink domain that the controller counts on by itself (DRAD:cmd/compute-domain-controller)."""


def values(facts: ClusterFacts) -> dict[str, Any]:
    """Return the values of the driver's chart: compute domains, and no GPUs."""
    large = max(facts.nvlink.values(), default=0)
    most = [{"name": "MAX_NODES_PER_IMEX_DOMAIN", "value": str(large)}] if large > _USUAL_NODES else []
    return {
        # The chart refuses GPUs beside the device plugin, unless somebody swears that there is none.
        "resources": {"gpus": {"enabled": False}, "computeDomains": {"enabled": True}},
        # The driver is the golden image's.
        "nvidiaDriverRoot": "/",
        "controller": {
            **facts.placement,
            "priorityClassName": SERVICE,
            **({"containers": {"computeDomain": {"env": most}}} if most else {}),
        },
        "kubeletPlugin": {
            "tolerations": EVERY_NODE,
            "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": _nodes(facts)}},
            "updateStrategy": {"rollingUpdate": {"maxUnavailable": "10%"}},
        },
    }


def _nodes(facts: ClusterFacts) -> dict[str, Any]:
    """Return the nodes that agents run on: elsewhere an image has no IMEX, and they would start again and again."""
    kinds = {"key": keys.NODE_INSTANCE_TYPE, "operator": "In", "values": sorted(facts.nvlink)}
    return {"nodeSelectorTerms": [{"matchExpressions": [kinds]}]}
