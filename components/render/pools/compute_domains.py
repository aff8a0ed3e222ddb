"""Sharing of GPU memory over NVLink between pods on several nodes, by NVIDIA's DRA driver (DRAD).

A tenant creates a ComputeDomain. The driver's controller creates a ResourceClaimTemplate, and the driver's agents start
an IMEX daemon on each node that runs a pod with such a claim. The device plugin still allocates GPUs.
"""

from typing import Any

from components.render import labels as keys
from components.render.add_ons.cluster_facts import ClusterFacts
from components.render.add_ons.pod_priorities import SERVICE
from components.render.pod_placement import EVERY_NODE

CHART = "dra-driver-nvidia-gpu"
AGENTS = f"{CHART}-kubelet-plugin"
"""Name of the DaemonSet whose pods prepare claims (DRAD:deployments/helm/dra-driver-nvidia-gpu/templates)."""
CLIQUE = "nvidia.com/gpu.clique"
"""Label of a node with its NVLink domain, set by GPU Feature Discovery (DRAD:docs/prerequisites.md)."""
_DEFAULT_MAX_NODES = 18
"""Default of the controller for the maximum number of nodes per NVLink domain (DRAD:cmd/compute-domain-controller)."""


def values(facts: ClusterFacts) -> dict[str, Any]:
    """Return the values of the driver's chart: compute domains enabled, GPUs disabled."""
    largest = max(facts.nvlink.values(), default=0)
    most = [{"name": "MAX_NODES_PER_IMEX_DOMAIN", "value": str(largest)}] if largest > _DEFAULT_MAX_NODES else []
    return {
        # The chart rejects GPUs in addition to the device plugin, unless a value confirms that no device plugin exists.
        "resources": {"gpus": {"enabled": False}, "computeDomains": {"enabled": True}},
        # The GPU driver is part of the golden image.
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
    """Return the node selector of agents. On other nodes, images have no IMEX and agents would restart repeatedly."""
    kinds = {"key": keys.NODE_INSTANCE_TYPE, "operator": "In", "values": sorted(facts.nvlink)}
    return {"nodeSelectorTerms": [{"matchExpressions": [kinds]}]}
