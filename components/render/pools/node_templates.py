"""Input and output of template revisions: the intent of a rollout group, and the specs of its node templates.

The functions return names and settings that templates share with other objects. Like revisions, these functions are
frozen.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from components.render.manifest import Json
from components.render.objects import LABEL_LIMIT, digest, fit
from components.specs.base import KubernetesVersion, Registry
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.network.node_addresses import NodeNetwork
from components.specs.pools.gpu_sharing import GpuSharingSpec
from components.specs.pools.intents import NodeIntent
from components.specs.region.catalog import BootMode
from components.specs.region.region import ControlPlaneBackend
from components.specs.struct import Struct, field

NODE_IP = "node_ip"
"""Key of the node's address in its metadata."""
_DIGITS = 10


class TemplateIntent(Struct):
    """All inputs of the node templates of one rollout group: intent and identity of the group."""

    control_plane: ControlPlaneBackend
    """Control-plane backend, which determines the join method of a node."""
    bare_metal: BareMetalBackend
    """Bare-metal backend, which determines the selection and boot of hosts."""
    cluster: str
    pool: str
    failure_domain: str
    image_version: str
    image_url: str
    image_sha256: str
    taints: tuple[tuple[str, str, str], ...]
    """Key, value and effect of each taint."""
    boot: BootMode
    max_pods: int
    kubelet: KubernetesVersion
    """Version of the kubelet in the image, and of k0s."""
    kubelet_configuration: Mapping[str, Any] = field(default_factory=dict)
    """Fields of ``KubeletConfiguration`` set by the cluster."""
    mirror: Registry | None = None
    """Registry mirror for all image pulls of the node, without a scheme."""
    upstreams: tuple[Registry, ...] = ()
    """Registries that the mirror serves below their names; empty if it serves any registry."""
    network: NodeNetwork | None = None
    """Configuration of the node's address in its VPC."""
    gpu_sharing: GpuSharingSpec | None = None
    """GPU sharing between pods of the node."""
    dual_stack: bool = False
    """Whether pods of the node also have IPv6 addresses."""

    @classmethod
    def of(cls, intent: NodeIntent, cluster: str, pool: str, failure_domain: str) -> TemplateIntent:
        """Return the template inputs of a rollout group with ``intent``."""
        return cls(
            control_plane=intent.control_planes,
            bare_metal=intent.bare_metal,
            cluster=cluster,
            pool=pool,
            failure_domain=failure_domain,
            image_version=intent.image,
            image_url=intent.url,
            image_sha256=intent.sha256,
            taints=tuple((taint.key, taint.value, taint.effect.value) for taint in intent.taints),
            boot=intent.boot,
            max_pods=intent.max_pods,
            kubelet_configuration=intent.kubelet_configuration,
            mirror=intent.mirror,
            upstreams=intent.upstreams,
            kubelet=intent.kubelet,
            network=intent.network,
            gpu_sharing=intent.gpu_sharing,
            dual_stack=intent.dual_stack is True,
        )


class NodeTemplates(Struct):
    """Specs of the templates of one rollout group."""

    machine: Json
    """Spec of the bare-metal backend's machine template."""
    bootstrap: Json
    """``KubeadmConfigTemplate.spec``, or ``K0sWorkerConfigTemplate.spec`` with k0smotron."""
    data: Json | None = None
    """Spec of Metal3's data template with per-node data; None if nodes have no such data."""


def address_pool_name(cluster: str, pool: str) -> str:
    """Return the name of the address pool for hosts of a pool."""
    return fit(f"{cluster}-{pool}", LABEL_LIMIT)


def data_template_name(cluster: str, pool: str, data: Json) -> str:
    """Return the name of the data template with the spec ``data``. Groups of a pool share the data template."""
    return f"{fit(f'{cluster}-{pool}', LABEL_LIMIT)}-{digest(data, _DIGITS)}"


def kubelet_settings(configuration: Mapping[str, Any], max_pods: int) -> dict[str, Any]:
    """Return the fields of ``KubeletConfiguration`` for nodes with at most ``max_pods`` pods."""
    return {**configuration, "maxPods": max_pods}


def worker_profile(settings: Json) -> str:
    """Return the name of the k0s worker profile with these fields of ``KubeletConfiguration``."""
    return f"node-{digest(settings, _DIGITS)}"


def time_slicing(slices: int) -> str:
    """Return the name of the device plugin configuration with ``slices`` time slices per GPU."""
    return f"time-slices-{slices}"
