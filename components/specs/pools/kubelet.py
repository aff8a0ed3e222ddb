"""Kubelet settings that tenants may change, and advice for forbidden settings.

A kubelet gets its settings when its node joins. Existing nodes keep their settings until they are replaced.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from pydantic import Field, StringConstraints
from pydantic.alias_generators import to_camel

from components.specs.base import CheckedSpec, ConstraintViolation, Quantity

CPU_AMOUNT = r"^([1-9][0-9]{0,3}|[1-9][0-9]{0,5}m)$"
SYSCTL = r"^[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*(\.\*)?$"
CpuAmount = Annotated[str, StringConstraints(pattern=CPU_AMOUNT)]
"""Number of CPUs, such as ``2`` or ``500m``."""
Sysctl = Annotated[str, StringConstraints(pattern=SYSCTL)]
_IMAGE = "belongs to the golden image, so that all nodes of a pool are identical; remove it, or request another image"
_JOIN = "is set when a node joins, and a wrong value prevents the join; remove it"
_DOOR = "controls access to nodes; remove it, the platform sets it"
REFUSED: Mapping[str, str] = {
    "max_pods": "is a setting of the cluster, because VPC and images depend on it; write max_pods next to kubelet",
    "cgroup_driver": _IMAGE,
    "container_runtime_endpoint": _IMAGE,
    "image_service_endpoint": _IMAGE,
    "feature_gates": _IMAGE,
    "fail_swap_on": _IMAGE,
    "memory_swap": _IMAGE,
    "resolv_conf": _IMAGE,
    "volume_plugin_dir": _IMAGE,
    "cluster_dns": "is derived from the VPC's services; remove it",
    "cluster_domain": "is derived from service_domain; set it there",
    "provider_id": _JOIN,
    "register_node": _JOIN,
    "rotate_certificates": _JOIN,
    "server_tls_bootstrap": _JOIN,
    "tls_cert_file": _JOIN,
    "tls_private_key_file": _JOIN,
    "node_labels": "belong to the pool; write labels there",
    "register_with_taints": "belong to the pool; write taints there",
    "static_pod_path": "starts pods without the API server; write a DaemonSet instead",
    "static_pod_url": "starts pods without the API server; write a DaemonSet instead",
    "authentication": _DOOR,
    "authorization": _DOOR,
    "enable_server": _DOOR,
    "enable_debugging_handlers": _DOOR,
    "read_only_port": "exposes data of pods without a login; scrape the kubelet's port 10250 instead",
    "memory_manager_policy": "needs reserved memory for each NUMA node of each instance type; remove it",
}
"""Forbidden settings, each with the reason and the alternative."""


class CpuManagerPolicy(StrEnum):
    """CPU assignment of containers that request whole CPUs (``cpuManagerPolicy`` of the kubelet)."""

    NONE = "none"
    """All containers share the CPUs of the node."""
    STATIC = "static"
    """A container of a guaranteed pod that requests whole CPUs gets exclusive CPUs."""


class TopologyManagerPolicy(StrEnum):
    """NUMA alignment of a pod's CPUs, GPUs and network cards (``topologyManagerPolicy`` of the kubelet)."""

    NONE = "none"
    """Resources are not aligned."""
    BEST_EFFORT = "best-effort"
    """Resources are aligned if possible. The pod is admitted in any case."""
    RESTRICTED = "restricted"
    """The node rejects a pod whose resources cannot be aligned."""
    SINGLE_NUMA_NODE = "single-numa-node"
    """The node rejects a pod whose resources do not fit on one NUMA node."""


class TopologyManagerScope(StrEnum):
    """Unit of NUMA alignment (``topologyManagerScope`` of the kubelet)."""

    CONTAINER = "container"
    """Each container is aligned individually."""
    POD = "pod"
    """All containers of a pod are aligned together."""


class KubeletSpec(CheckedSpec):
    """Kubelet settings, named after ``kubelet.config.k8s.io/v1beta1``. The golden image defines all others."""

    REFUSED_KEYS: ClassVar[Mapping[str, str]] = REFUSED
    """Forbidden settings. Names in the spelling of Kubernetes are also rejected."""

    pod_pids_limit: int | None = Field(default=None, ge=1024, le=4_194_304)
    """Maximum number of processes and threads in one pod, ``podPidsLimit`` of the kubelet."""
    container_log_max_size: Quantity | None = None
    """Size at which a container's log file is rotated, such as ``50Mi``; ``containerLogMaxSize`` of the kubelet."""
    container_log_max_files: int | None = Field(default=None, ge=2, le=100)
    """Number of log files kept for each container, ``containerLogMaxFiles`` of the kubelet."""
    image_gc_high_threshold_percent: int | None = Field(default=None, ge=1, le=100)
    """Disk usage in percent above which unused images are removed, ``imageGCHighThresholdPercent`` of the kubelet."""
    image_gc_low_threshold_percent: int | None = Field(default=None, ge=0, le=99)
    """Disk usage in percent at which the removal of images stops, ``imageGCLowThresholdPercent`` of the kubelet."""
    serialize_image_pulls: bool | None = None
    """Whether a node pulls images one by one, ``serializeImagePulls`` of the kubelet."""
    max_parallel_image_pulls: int | None = Field(default=None, ge=1, le=64)
    """Maximum number of parallel image pulls on a node, ``maxParallelImagePulls`` of the kubelet. It requires
    ``serialize_image_pulls: false``."""
    registry_pull_qps: int | None = Field(default=None, ge=0, le=1000)
    """Average number of image pulls per second that a node may start, ``registryPullQPS`` of the kubelet; 0 means no
    limit."""
    registry_burst: int | None = Field(default=None, ge=1, le=2000)
    """Maximum number of image pulls that a node may start in one burst, ``registryBurst`` of the kubelet."""
    cpu_manager_policy: CpuManagerPolicy | None = None
    """CPU assignment of containers that request whole CPUs; ``static`` requires ``reserved_cpu``."""
    topology_manager_policy: TopologyManagerPolicy | None = None
    """NUMA alignment of a pod's CPUs, GPUs and network cards."""
    topology_manager_scope: TopologyManagerScope | None = None
    """Unit of NUMA alignment: containers or whole pods."""
    reserved_cpu: CpuAmount | None = None
    """CPUs that are not available to pods, ``systemReserved.cpu`` of the kubelet; required for ``cpu_manager_policy:
    static``."""
    reserved_memory: Quantity | None = None
    """Memory that is not available to pods, ``systemReserved.memory`` of the kubelet."""
    allowed_unsafe_sysctls: tuple[Sysctl, ...] = ()
    """Kernel parameters that pods may set in addition to the safe ones, such as ``net.core.somaxconn``. Pods must
    request them."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield settings that prevent the start of a kubelet, and settings without effect."""
        high, low = self.image_gc_high_threshold_percent, self.image_gc_low_threshold_percent
        if high is not None and low is not None and low >= high:
            text = f"must be below image_gc_high_threshold_percent, {high}; write {high - 1} or less"
            yield ConstraintViolation(text, ("image_gc_low_threshold_percent",), low)
        if self.max_parallel_image_pulls is not None and self.serialize_image_pulls is not False:
            text = "has no effect while images are pulled serially; add serialize_image_pulls: false"
            yield ConstraintViolation(text, ("max_parallel_image_pulls",), self.max_parallel_image_pulls)
        if self.cpu_manager_policy is CpuManagerPolicy.STATIC and self.reserved_cpu is None:
            text = 'requires CPUs reserved for the node itself; add reserved_cpu, such as "4"'
            yield ConstraintViolation(text, ("cpu_manager_policy",), self.cpu_manager_policy.value)

    def configuration(self) -> dict[str, Any]:
        """Return the settings in the form of ``KubeletConfiguration``, in the order of the fields."""
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
"""Field names of ``KubeletConfiguration`` that contain capitalised abbreviations."""
