"""GPU sharing: cluster objects and chart values for MIG and time-slicing, and the resources that pods request.

NVIDIA's operator (GPUOP) installs a MIG manager, which partitions GPUs according to a label of the node. The operator
also passes configurations to its device plugin (NVDP), and another label of the node selects a configuration. The
template of the node sets both labels (`template_revision_1`). This module renders their prerequisites in the cluster.
"""

import json
from collections.abc import Iterator
from typing import Any

from components.render.manifest import Manifest
from components.render.objects import manifest
from components.render.pools.node_templates import time_slicing
from components.specs.hosts.instance_types import GpuSpec
from components.specs.pools.gpu_sharing import GpuSharingSpec
from components.specs.struct import Struct

GPU = "nvidia.com/gpu"
"""Resource name of a whole GPU."""
_CONFIG_MAP = "device-plugin-config"
_STRATEGY = "mixed"
"""MIG strategy: each profile is a separate resource. The strategy is cluster-wide, because the operator sets it in the
plugin's environment, which overrides configurations (NVDP:api/config/v1/config.go)."""


class TimeSlicing(Struct):
    """Device plugin configuration for time-slicing of each GPU (NVDP:api/config/v1/replicas.go)."""

    replicas: int
    resource: str = GPU

    @property
    def name(self) -> str:
        """Return the key of the configuration in node labels. The content for a key never changes."""
        return time_slicing(self.replicas)

    @property
    def text(self) -> str:
        """Return the configuration in the format of the plugin."""
        shared = {
            # Time slices have a separate resource name; two slices of a GPU are no faster than one, so at most one
            # can be requested.
            "renameByDefault": True,
            "failRequestsGreaterThanOne": True,
            "resources": [{"name": self.resource, "replicas": self.replicas}],
        }
        return json.dumps({"version": "v1", "sharing": {"timeSlicing": shared}}, indent=1)


def offered(gpu: GpuSpec, sharing: GpuSharingSpec | None) -> tuple[str, int]:
    """Return the name and quantity of the GPU resource on a node with ``gpu``."""
    if sharing is None:
        return GPU, gpu.count
    if sharing.mig is not None:
        return f"nvidia.com/mig-{sharing.mig}", gpu.count * gpu.mig[sharing.mig]
    return f"{GPU}.shared", gpu.count * (sharing.time_slices or 1)


def values(sharing: tuple[GpuSharingSpec, ...]) -> dict[str, Any]:
    """Return the values of the operator's chart in a cluster whose pools have the GPU sharing settings ``sharing``."""
    mig = any(setting.mig for setting in sharing)
    return {
        "migManager": {"enabled": mig},
        **({"mig": {"strategy": _STRATEGY}} if mig else {}),
        # Nodes without the label use the plugin's built-in defaults.
        **({"devicePlugin": {"config": {"name": _CONFIG_MAP, "default": ""}}} if slicings(sharing) else {}),
    }


def configurations(cluster: str, namespace: str, sharing: tuple[GpuSharingSpec, ...]) -> Iterator[Manifest]:
    """Yield the ConfigMap of device plugin configurations, in the operator's namespace; nothing without configurations.

    A node whose label refers to a missing configuration advertises no GPUs (NVDP:cmd/config-manager/main.go).
    """
    if configured := slicings(sharing):
        data = {slicing.name: slicing.text for slicing in configured}
        yield manifest("v1", "ConfigMap", _CONFIG_MAP, namespace=namespace, cluster=cluster, data=data)


def slicings(sharing: tuple[GpuSharingSpec, ...]) -> list[TimeSlicing]:
    """Return the distinct configurations that node labels can select."""
    counts = {setting.time_slices for setting in sharing if setting.time_slices}
    return [TimeSlicing(replicas=count) for count in sorted(counts)]
