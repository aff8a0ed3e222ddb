"""Number of series of a cluster's nodes, and of the agents that write them to the store of the region.

The numbers are upper estimates from the metrics of each exporter, for the pods of one node as the platform and a job
run them. They are compared with the capacity of the store before hosts are bought; the store itself counts its series
(``vm_cache_entries{type="storage/hour_metric_ids"}``).
"""

from components.lookups.pools import most_nodes
from components.render.add_ons.gpu_metrics import SERIES
from components.specs.control_planes.hosted_control_plane import ClusterSpec
from components.specs.environment import Environment
from components.specs.hosts.instance_types import InstanceType

SERIES_PER_AGENT = 1_000_000
"""Series that one agent writes: 4 GiB of memory at 4 KiB for a series; estimated."""
_NODE = 1000
"""Series of node-exporter without those of each CPU and port (VM:docs/guides/understand-your-setup-size/README.md)."""
_KUBELET = 1000
"""Series of a kubelet about itself, most of them buckets of histograms; estimated."""
_CPU = 26
"""Series of a hardware thread: modes, guests, frequency, schedstat and softnet (node_exporter 1.12,
collector/fixtures/e2e-output.txt)."""
_PORT = 27
"""Series of an InfiniBand port (same file)."""
_POD = 100
"""Series of a pod: 60 of kube-state-metrics (2.20, docs/metrics/workload/pod-metrics.md) and 40 of the kubelet's
cAdvisor that the chart does not drop; the latter are estimated."""
_PODS = 30
"""Pods of a node: agents of the platform, and jobs that use whole nodes; estimated."""


def nodes_series(environment: Environment, cluster: ClusterSpec, *, gpus: bool) -> int:
    """Return the number of series of the nodes and pods of ``cluster``, with the maximum number of nodes of its pools.

    Pools of an undeclared instance type are not counted; a rule reports them.
    """
    kinds = environment.instance_types.by_name
    return sum(
        most_nodes(environment, pool) * node_series(kinds[pool.instance_type], gpus=gpus)
        for pool in cluster.pools
        if pool.instance_type in kinds
    )


def node_series(kind: InstanceType, *, gpus: bool) -> int:
    """Return the number of series of a node of an instance type; ``gpus``: whether an add-on exports those of GPUs."""
    exported = kind.gpu.count * SERIES if kind.gpu and gpus else 0
    return _NODE + _KUBELET + kind.cpus * _CPU + kind.infiniband_ports * _PORT + exported + _PODS * _POD


def agents(series: int) -> int:
    """Return the number of agents that write ``series``."""
    return max(1, -(-series // SERIES_PER_AGENT))
