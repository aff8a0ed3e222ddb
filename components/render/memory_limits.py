"""Memory limits of controllers that keep all objects of a kind in memory.

Upstream's limits suit small clusters. A controller that needs more is killed, starts again and is killed again, so that
it no longer acts at all. Its need grows with the number of objects, not with their changes:

- 130 to 156 MiB of maintenance-operator for 141 nodes, with a limit of 128 MiB (Mellanox/maintenance-operator#225);
- 328 MiB of the Network Operator's heap for 9,895 pods, and as much again until the next collection of garbage
  (Mellanox/network-operator#3173).

Only limits are raised. Requests are upstream's, because most clusters need no more.
"""

import math
from typing import Any

PER_NODE = 2
"""MiB for a node and its pods: about 0.7 for the node, and 0.03 for each of up to 40 pods, by the measurements above.
metrics-server reserves the same."""
_STEP = 100
"""The number of nodes is rounded up to a multiple, at least one, so that few changes of it restart the controllers."""
OF_MANAGEMENT = 2048
"""MiB for controllers of the management cluster, which keep the Secrets or the Machines of all clusters: at least four
objects with up to 20 KiB for each host, with managed fields, and twice that between collections of garbage."""


def by_nodes(base: int, nodes: int) -> dict[str, Any]:
    """Return the chart value ``resources`` of a controller that keeps the nodes or the pods of its cluster.

    Args:
        base: limit of the chart in MiB, which is added.
        nodes: maximum number of nodes of the cluster.
    """
    return {"limits": {"memory": f"{base + PER_NODE * _STEP * max(1, math.ceil(nodes / _STEP))}Mi"}}


def of_management() -> dict[str, Any]:
    """Return the resources of a container from a manifest that limits it to 128 MiB and half a CPU."""
    return {"requests": {"cpu": "10m", "memory": "64Mi"}, "limits": {"memory": f"{OF_MANAGEMENT}Mi"}}
