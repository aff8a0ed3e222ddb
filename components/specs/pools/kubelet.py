"""What a tenant may set on the kubelets of a cluster: a list of what is allowed, with advice for what is not.

A kubelet gets its settings when its node joins: a node that is there keeps what it has until it is replaced.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from pydantic import Field, StringConstraints
from pydantic.alias_generators import to_camel

from components.specs.base import CheckedSpec, Misfit, Quantity

CPU_AMOUNT = r"^([1-9][0-9]{0,3}|[1-9][0-9]{0,5}m)$"
SYSCTL = r"^[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*(\.\*)?$"
CpuAmount = Annotated[str, StringConstraints(pattern=CPU_AMOUNT)]
"""CPUs, such as ``2`` or ``500m``."""
Sysctl = Annotated[str, StringConstraints(pattern=SYSCTL)]
_IMAGE = "belongs to the golden image, so that all nodes of a pool are the same; leave it out, or order another image"
_JOIN = "follows from how nodes join, and a wrong one keeps them away; leave it out"
_DOOR = "decides who may command a node; leave it as the platform sets it"
REFUSED: Mapping[str, str] = {
    "max_pods": "is a setting of the cluster, since VPC and images must fit it; write max_pods beside kubelet",
    "cgroup_driver": _IMAGE,
    "container_runtime_endpoint": _IMAGE,
    "image_service_endpoint": _IMAGE,
    "feature_gates": _IMAGE,
    "fail_swap_on": _IMAGE,
    "memory_swap": _IMAGE,
    "resolv_conf": _IMAGE,
    "volume_plugin_dir": _IMAGE,
    "cluster_dns": "follows from the VPC's services; leave it out",
    "cluster_domain": "follows from service_domain; write it there",
    "provider_id": _JOIN,
    "register_node": _JOIN,
    "rotate_certificates": _JOIN,
    "server_tls_bootstrap": _JOIN,
    "tls_cert_file": _JOIN,
    "tls_private_key_file": _JOIN,
    "node_labels": "are the pool's; write labels there",
    "register_with_taints": "are the pool's; write taints there",
    "static_pod_path": "starts pods that no API server knows of; write a DaemonSet instead",
    "static_pod_url": "starts pods that no API server knows of; write a DaemonSet instead",
    "authentication": _DOOR,
    "authorization": _DOOR,
    "enable_server": _DOOR,
    "enable_debugging_handlers": _DOOR,
    "read_only_port": "tells anybody about pods without a login; scrape the kubelet's port 10250 instead",
    "memory_manager_policy": "needs memory reserved for each NUMA node of each instance type; leave it out",
}
"""Settings that nobody may write, each with the reason and what to do instead."""


class CpuManagerPolicy(StrEnum):
    """Whether containers that ask for whole CPUs get them for themselves (``cpuManagerPolicy`` of the kubelet)."""

    NONE = "none"
    """All containers share the CPUs of the node."""
    STATIC = "static"
    """A container of a guaranteed pod that asks for whole CPUs gets them for itself."""


class TopologyManagerPolicy(StrEnum):
    """How CPUs, GPUs and network cards of a pod are put on one NUMA node (``topologyManagerPolicy`` of the kubelet)."""

    NONE = "none"
    """Nothing is aligned."""
    BEST_EFFORT = "best-effort"
    """Resources are aligned if possible, and the pod is admitted anyway."""
    RESTRICTED = "restricted"
    """A pod whose resources cannot be aligned is refused by the node."""
    SINGLE_NUMA_NODE = "single-numa-node"
    """A pod whose resources do not fit one NUMA node is refused by the node."""


class TopologyManagerScope(StrEnum):
    """What is put on one NUMA node together (``topologyManagerScope`` of the kubelet)."""

    CONTAINER = "container"
    """Each container is aligned alone."""
    POD = "pod"
    """All containers of a pod are aligned together."""


class KubeletSpec(CheckedSpec):
    """Settings of the kubelets, named after ``kubelet.config.k8s.io/v1beta1``. The golden image has the rest."""

    REFUSED_KEYS: ClassVar[Mapping[str, str]] = REFUSED
    """Settings that nobody may write; a name in Kubernetes' own spelling is meant all the same."""

    pod_pids_limit: int | None = Field(default=None, ge=1024, le=4_194_304)
    """Most processes and threads that one pod may have, ``podPidsLimit`` of the kubelet."""
    container_log_max_size: Quantity | None = None
    """Size at which a container's log file is rotated, such as ``50Mi``; ``containerLogMaxSize`` of the kubelet."""
    container_log_max_files: int | None = Field(default=None, ge=2, le=100)
    """Number of log files kept for each container, ``containerLogMaxFiles`` of the kubelet."""
    image_gc_high_threshold_percent: int | None = Field(default=None, ge=1, le=100)
    """Disk usage in percent above which images that nobody uses are removed, ``imageGCHighThresholdPercent`` of the
    kubelet."""
    image_gc_low_threshold_percent: int | None = Field(default=None, ge=0, le=99)
    """Disk usage in percent at which the removal of images stops, ``imageGCLowThresholdPercent`` of the kubelet."""
    serialize_image_pulls: bool | None = None
    """Whether a node pulls images one by one, ``serializeImagePulls`` of the kubelet."""
    max_parallel_image_pulls: int | None = Field(default=None, ge=1, le=64)
    """Most images that a node pulls at the same time, ``maxParallelImagePulls`` of the kubelet. It needs
    ``serialize_image_pulls: false``."""
    registry_pull_qps: int | None = Field(default=None, ge=0, le=1000)
    """Image pulls per second that a node may begin on average, ``registryPullQPS`` of the kubelet; 0 is no limit."""
    registry_burst: int | None = Field(default=None, ge=1, le=2000)
    """Most image pulls that a node may begin in one burst, ``registryBurst`` of the kubelet."""
    cpu_manager_policy: CpuManagerPolicy | None = None
    """Whether containers that ask for whole CPUs get them for themselves; ``static`` needs ``reserved_cpu``."""
    topology_manager_policy: TopologyManagerPolicy | None = None
    """How strictly CPUs, GPUs and network cards of a pod are put on one NUMA node."""
    topology_manager_scope: TopologyManagerScope | None = None
    """Whether containers or whole pods are put on one NUMA node."""
    reserved_cpu: CpuAmount | None = None
    """CPUs that pods never get, ``systemReserved.cpu`` of the kubelet; needed for ``cpu_manager_policy: static``."""
    reserved_memory: Quantity | None = None
    """Memory that pods never get, ``systemReserved.memory`` of the kubelet."""
    allowed_unsafe_sysctls: tuple[Sysctl, ...] = ()
    """Kernel parameters that pods may set beyond the safe ones, such as ``net.core.somaxconn``; a pod must still ask
    for them."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield settings that a kubelet would not start with, or that would do nothing."""
        high, low = self.image_gc_high_threshold_percent, self.image_gc_low_threshold_percent
        if high is not None and low is not None and low >= high:
            text = f"must be below image_gc_high_threshold_percent, {high}; write {high - 1} or less"
            yield Misfit(text, ("image_gc_low_threshold_percent",), low)
        if self.max_parallel_image_pulls is not None and self.serialize_image_pulls is not False:
            text = "has no meaning while images are pulled one by one; add serialize_image_pulls: false"
            yield Misfit(text, ("max_parallel_image_pulls",), self.max_parallel_image_pulls)
        if self.cpu_manager_policy is CpuManagerPolicy.STATIC and self.reserved_cpu is None:
            text = 'starts only with CPUs reserved for the node itself; add reserved_cpu, such as "4"'
            yield Misfit(text, ("cpu_manager_policy",), self.cpu_manager_policy.value)

    def configuration(self) -> dict[str, Any]:
        """Return the settings under the names and in the form of ``KubeletConfiguration``, in order."""
        written = self.model_dump(mode="json", exclude_defaults=True)
        reserved = {what: written.pop(f"reserved_{what}", None) for what in ("cpu", "memory")}
        settings = {_SPELT_OTHERWISE.get(key, to_camel(key)): value for key, value in written.items()}
        given = {what: amount for what, amount in reserved.items() if amount is not None}
        return settings | ({"systemReserved": given} if given else {})


_SPELT_OTHERWISE = {
    "image_gc_high_threshold_percent": "imageGCHighThresholdPercent",
    "image_gc_low_threshold_percent": "imageGCLowThresholdPercent",
    "registry_pull_qps": "registryPullQPS",
}
"""Abbreviations keep their capitals in ``KubeletConfiguration``."""
