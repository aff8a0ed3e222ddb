"""What a node is made from: what the two templates of a rollout group are built of, and what a revision returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from components.render.manifest import Json
from components.specs.base import Registry
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.network.node_addresses import NodeNetwork
from components.specs.pools.gpu_sharing import GpuSharingSpec
from components.specs.pools.intents import NodeIntent
from components.specs.region.catalog import BootMode
from components.specs.region.region import ControlPlaneBackend


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateIntent:
    """All that may decide what a node of one rollout group is: its intent, and which group it is.

    Revisions are frozen, and so are these names: older fingerprints are made of them.
    """

    control_plane: ControlPlaneBackend
    """Backend that decides what a node joins with."""
    bare_metal: BareMetalBackend
    """Backend that decides how a node is found and booted."""
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
    kubelet_configuration: Mapping[str, Any] = field(default_factory=dict)
    """Fields of ``KubeletConfiguration`` that the cluster sets."""
    mirror: Registry | None = None
    """Registry that the node pulls all images through, without a scheme."""
    network: NodeNetwork | None = None
    """How the node has its address in its VPC."""
    gpu_sharing: GpuSharingSpec | None = None
    """How pods share the GPUs of the node."""
    dual_stack: bool = False
    """Whether pods of the node have addresses of IPv6, too."""

    @classmethod
    def of(cls, intent: NodeIntent, cluster: str, pool: str, failure_domain: str) -> TemplateIntent:
        """Return what the templates of a rollout group with ``intent`` are built of."""
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
            network=intent.network,
            gpu_sharing=intent.gpu_sharing,
            dual_stack=intent.dual_stack is True,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeTemplates:
    """Specs of the templates of one rollout group."""

    machine: Json
    """Spec of the bare-metal backend's machine template."""
    bootstrap: Json
    """``KubeadmConfigTemplate.spec``, or ``K0sWorkerConfigTemplate.spec`` where k0smotron hosts control planes."""
    data: Json | None = None
    """Spec of Metal3's data template, which tells a node what is its own; None where nothing is."""
