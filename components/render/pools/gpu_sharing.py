"""What makes several pods share a GPU, and what they then ask for.

NVIDIA's operator (GPUOP) brings a MIG manager, which cuts GPUs as a node's label says, and gives its device plugin
(NVDP) configurations, of which a node's label names one. Both labels are of the node's template
(`template_revision_6`); here is what has to be in the cluster for them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from components.render.manifest import Manifest
from components.render.objects import manifest
from components.render.pools.template_revision_6 import time_slicing
from components.specs.hosts.instance_types import GpuSpec
from components.specs.pools.gpu_sharing import GpuSharingSpec

GPU = "nvidia.com/gpu"
"""What a pod asks for that gets a whole GPU."""
_CONFIG_MAP = "device-plugin-config"
_STRATEGY = "mixed"
"""Each profile is a resource of its own. It is one for the cluster: what the operator puts into the plugin's
environment counts more than a configuration (NVDP:api/config/v1/config.go)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeSlicing:
    """A configuration of the device plugin that offers each GPU several times (NVDP:api/config/v1/replicas.go)."""

    replicas: int
    resource: str = GPU

    @property
    def name(self) -> str:
        """Return the key by which nodes name it; no other content ever has it."""
        return time_slicing(self.replicas)

    @property
    def text(self) -> str:
        """Return the configuration as the plugin reads it."""
        shared = {
            # A turn is not called like a GPU, and two turns on one GPU are no faster than one.
            "renameByDefault": True,
            "failRequestsGreaterThanOne": True,
            "resources": [{"name": self.resource, "replicas": self.replicas}],
        }
        return json.dumps({"version": "v1", "sharing": {"timeSlicing": shared}}, indent=1)


def offered(gpu: GpuSpec, sharing: GpuSharingSpec | None) -> tuple[str, int]:
    """Return what pods ask for on a node with ``gpu``, and how often the node has it."""
    if sharing is None:
        return GPU, gpu.count
    if sharing.mig is not None:
        return f"nvidia.com/mig-{sharing.mig}", gpu.count * gpu.mig[sharing.mig]
    return f"{GPU}.shared", gpu.count * (sharing.time_slices or 1)


def values(sharing: tuple[GpuSharingSpec, ...]) -> dict[str, Any]:
    """Return the values of the operator's chart in a cluster whose nodes share GPUs in the ways of ``sharing``."""
    cut = any(one.mig for one in sharing)
    return {
        "migManager": {"enabled": cut},
        **({"mig": {"strategy": _STRATEGY}} if cut else {}),
        # Nodes that name none have the plugin's own defaults.
        **({"devicePlugin": {"config": {"name": _CONFIG_MAP, "default": ""}}} if slicings(sharing) else {}),
    }


def configurations(cluster: str, namespace: str, sharing: tuple[GpuSharingSpec, ...]) -> Iterator[Manifest]:
    """Yield what the device plugin is given to choose from, in the operator's namespace; nothing if it has no choice.

    A node whose label names a configuration that is not there offers no GPU at all (NVDP:cmd/config-manager/main.go).
    """
    found = slicings(sharing)
    if found:
        data = {one.name: one.text for one in found}
        yield manifest("v1", "ConfigMap", _CONFIG_MAP, namespace=namespace, cluster=cluster, data=data)


def slicings(sharing: tuple[GpuSharingSpec, ...]) -> list[TimeSlicing]:
    """Return the configurations that nodes name, each once."""
    return [TimeSlicing(replicas=count) for count in sorted({one.time_slices for one in sharing if one.time_slices})]
