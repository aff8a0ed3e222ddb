"""Cluster properties that add-on values depend on."""

from collections.abc import Mapping
from typing import Any

from components.render.add_ons.metrics_writer import MetricsWriter
from components.render.pod_placement import CRITICAL, EVERY_NODE, ON_SYSTEM_POOL, SYSTEM_POOL, required, services
from components.render.pools.node_paths import KUBEADM, NodePaths
from components.render.region.logs.collector import LogsWriter
from components.render.workloads.kueue import QueueSettings
from components.specs.base import Address, Network
from components.specs.health.node_checks import Detector, HealthAction, NodeCheck
from components.specs.hosts.instance_types import InstanceType
from components.specs.ipv6 import Network6
from components.specs.pools.gpu_sharing import GpuSharingSpec
from components.specs.region.thresholds import Thresholds
from components.specs.struct import Struct, field


class ClusterFacts(Struct):
    """Properties of one cluster that determine the values of its add-ons."""

    name: str
    tenant: str
    region: str
    nodes: int
    """Maximum number of nodes of the cluster's pools."""
    api: Address
    """Address of the cluster's API server."""
    pods: tuple[Network, ...]
    """Pod prefixes in order of allocation. Each node gets a part of a prefix."""
    system_pool: bool
    """Whether the cluster has a pool with role system."""
    gpus: bool
    """Whether nodes have GPUs."""
    vm_gpus: bool
    """Whether nodes have images that reserve GPUs for VMs."""
    attachments: bool
    """Whether Multus attaches pods to additional networks. Multus then owns the directory of CNI configurations."""
    node_paths: NodePaths = KUBEADM
    """Paths on nodes that depend on the Kubernetes distribution."""
    pods_ipv6: Network6 | None = None
    """IPv6 pod prefix, of which each node gets a part; None for IPv4-only pods."""
    nvlink: Mapping[str, int] = field(default_factory=dict)
    """Number of nodes per NVLink domain, for each instance type of the cluster with domains of several nodes."""
    gpu_sharing: tuple[GpuSharingSpec, ...] = ()
    """GPU sharing settings of the cluster's pools, without duplicates."""
    hardware: tuple[InstanceType, ...] = ()
    """Instance types of the cluster's pools, without duplicates."""
    thresholds: Thresholds = Thresholds()
    """Thresholds of alerts of the region."""
    autoscaling: bool = False
    """Whether the cluster autoscaler scales a pool of the cluster."""
    checks: Mapping[str, tuple[NodeCheck, ...]] = field(default_factory=dict)
    """Checks of nodes, by instance type of the cluster."""
    queues: QueueSettings | None = None
    """Settings of the cluster's queues; None without queues."""
    kueue: str = ""
    """Release of Kueue's chart that the cluster installs; empty if the catalogue has none."""
    endpoints: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Names of the endpoints of models, by namespace."""
    writer: MetricsWriter | None = None
    """Writer of metrics to the store of the region; None without a store."""
    logs: LogsWriter | None = None
    """Writer of logs to the store of the region; None without a store."""

    @property
    def every_check(self) -> tuple[NodeCheck, ...]:
        """Return the checks of all instance types, each once, with the hardest action of all types."""
        hardness = list(HealthAction)
        every = [check for checks in self.checks.values() for check in checks]
        every.sort(key=lambda check: hardness.index(check.action))
        return tuple({check.name: check for check in every}.values())

    @property
    def unlike_types(self) -> HealthAction | None:
        """Return the action on nodes whose devices are not those of their instance type; None without such a check."""
        return next((check.action for check in self.every_check if check.detector is Detector.DEVICES), None)

    @property
    def selector(self) -> dict[str, str]:
        """Return the node selector of services: the system pool if the cluster has one, otherwise empty."""
        return dict(SYSTEM_POOL) if self.system_pool else {}

    @property
    def placement(self) -> dict[str, Any]:
        """Return the placement of services that can wait for a ready node."""
        return services(system_pool=self.system_pool)

    @property
    def affine_placement(self) -> dict[str, Any]:
        """Return `placement` for charts with a value for the affinity and none for the node selector."""
        affinity = {"affinity": {"nodeAffinity": required(ON_SYSTEM_POOL)}} if self.system_pool else {}
        return {**affinity, "tolerations": [CRITICAL]}

    @property
    def early_placement(self) -> dict[str, Any]:
        """Return the placement of services that nodes require to become ready."""
        return {**self.selected, "tolerations": EVERY_NODE}

    @property
    def selected(self) -> dict[str, Any]:
        """Return the node selector of services as chart values; empty if services may run on any node."""
        return {"nodeSelector": self.selector} if self.selector else {}
