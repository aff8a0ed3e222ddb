"""Intents: complete definitions of nodes, DPUs, and charts in clusters. Lock files contain all intents in use.

An intent contains values and no references, so that only a promotion changes the objects rendered from it. An omitted
field means that the option is not used, in this version of the library and in all later versions: fields must not get
other defaults.
"""

from __future__ import annotations

import hashlib
import json
import re
from abc import abstractmethod
from functools import cached_property
from typing import Annotated, ClassVar, Literal

from pydantic import AwareDatetime, Field, JsonValue, StringConstraints

from components.specs.base import (
    OCI_DIGEST,
    OCI_URL,
    KubernetesVersion,
    Label,
    PinnedUrl,
    Registry,
    Sha256,
    Spec,
    Text,
    VersionName,
)
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.hosts.firmware import Firmware
from components.specs.network.node_addresses import NodeNetwork
from components.specs.pools.gpu_sharing import GpuSharingSpec
from components.specs.pools.node_pool import TaintSpec
from components.specs.region.catalog import BootMode
from components.specs.region.region import ControlPlaneBackend
from components.specs.region.versions import Chart

FINGERPRINT_DIGITS = 16
_LONGEST_STEM = 79
_UNFIT_FOR_NAMES = re.compile(r"[^-a-z0-9.]")
INTENT_NAME = r"^[a-z0-9][-a-z0-9.]*@[0-9a-f]{16}$"
IntentName = Annotated[str, StringConstraints(pattern=INTENT_NAME, max_length=96)]
"""Name of an intent, such as ``gpu-2026.11.1@8d2f0c6b1a4e9375``: the image and the fingerprint."""


class Intent(Spec):
    """Base of all intents."""

    revision: int = Field(ge=1)
    """Revision of the renderer that creates the objects of the intent. The output of a revision never changes."""

    @property
    @abstractmethod
    def release(self) -> str:
        """Return the release for display: the version of an image or a chart."""

    @property
    def stem(self) -> str:
        """Return the first part of the name of the intent."""
        return self.release

    @cached_property
    def fingerprint(self) -> str:
        """Return the first 16 hex digits of the SHA-256 of the intent; equal intents have equal fingerprints."""
        values = self.model_dump(mode="json", exclude_defaults=True)
        canonical = json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(canonical.encode()).hexdigest()[:FINGERPRINT_DIGITS]

    @property
    def name(self) -> str:
        """Return the name of the intent in lock files."""
        return f"{self.stem}@{self.fingerprint}"


class ImageIntent(Intent):
    """Base of intents of nodes and DPUs."""

    IMAGE: ClassVar[str] = "image"
    """Name of the field with the version of the image."""

    image: VersionName
    """Version of the image in ``catalog/images.yaml``."""
    url: PinnedUrl
    """URL of the image."""
    sha256: Sha256
    """SHA-256 of the file at ``url``."""

    @property
    def release(self) -> str:
        """Return the version of the image."""
        return self.image


class NodeIntent(ImageIntent):
    """Intent of nodes. A change of any field replaces Machines, reboots nodes or changes how they join."""

    boot: BootMode
    """Boot method of nodes."""
    kubelet: KubernetesVersion
    """Version of the kubelet in the image. Cluster API replaces Machines when the version changes."""
    control_planes: ControlPlaneBackend
    """Control plane backend, which determines the join data of nodes."""
    bare_metal: BareMetalBackend
    """Bare-metal backend, which determines the selection and boot of hosts."""
    max_pods: int = Field(ge=1)
    """Maximum number of pods on a node."""
    taints: tuple[TaintSpec, ...] = ()
    """Taints with which a node registers."""
    kubelet_configuration: dict[str, JsonValue] = Field(default_factory=dict)
    """Fields of ``KubeletConfiguration`` set by the cluster, by Kubernetes' names."""
    firmware: Firmware | None = None
    """BIOS settings and firmware versions, applied to hosts before the next boot of the node."""
    mirror: Registry | None = None
    """Registry through which the node pulls images of its pods; None without a mirror."""
    upstreams: tuple[Registry, ...] = ()
    """Registries that the mirror serves below their names. Empty without a mirror, or if the mirror serves any registry
    by the ``ns`` parameter of containerd."""
    network: NodeNetwork | None = None
    """Address configuration of the node in its VPC; None if no address is allocated."""
    gpu_sharing: GpuSharingSpec | None = None
    """GPU sharing of the node; None if each GPU is used by one pod."""
    dual_stack: Literal[True] | None = None
    """Whether pods of the node also have IPv6 addresses; fixed for the lifetime of the cluster."""
    after: AwareDatetime | None = None
    """Time of a restart: nodes that are older are replaced after it; Cluster API's ``rollout.after``."""


class DpuIntent(ImageIntent):
    """Intent of DPUs. A change of any field makes DPF reflash the DPUs and reboot their hosts."""

    bsp: Text
    """Version of the board support package in the image."""
    doca: Text
    """Version of DOCA in the image."""
    uefi: Text
    """Version of the boot firmware in the image."""
    atf: Text
    """Version of Arm Trusted Firmware in the image."""
    virtual_functions: int = Field(ge=1)
    """Number of virtual functions of each physical function, a setting of the DPU's firmware."""
    mtu_bytes: int = Field(ge=1280)
    """MTU of the host's ports on the DPU."""
    uplink_mtu_bytes: int = Field(ge=1280)
    """MTU of the DPU's ports to leaf switches."""
    mirror: Registry | None = None
    """Registry mirror of the DPU's container runtime."""


class ChartIntent(Intent):
    """Intent of a chart in a cluster: the release that Flux installs. The library defines the values of the chart."""

    chart: Label
    """Name of the chart in ``catalog/versions.yaml``."""
    version: Text
    """Version of the chart; informational."""
    url: Annotated[str, StringConstraints(pattern=OCI_URL, max_length=253)]
    """URL of the chart, without a tag."""
    digest: Annotated[str, StringConstraints(pattern=OCI_DIGEST)]
    """Digest of the chart. Flux installs the chart by this digest."""
    made_from: Text | None = None
    """Source from which the platform builds the chart; None for a chart of upstream."""

    @classmethod
    def of(cls, chart: Chart) -> ChartIntent:
        """Return the intent for the chart release ``chart``."""
        return cls(
            revision=1,
            chart=chart.name,
            version=chart.version,
            url=chart.url,
            digest=chart.digest,
            made_from=chart.made_from,
        )

    @property
    def made(self) -> Chart:
        """Return the chart release as an entry of the version vector."""
        return Chart(name=self.chart, url=self.url, version=self.version, digest=self.digest, made_from=self.made_from)

    @property
    def release(self) -> str:
        """Return the version of the chart."""
        return self.version

    @property
    def stem(self) -> str:
        """Return chart and version, with only those characters that names of intents may contain."""
        return _UNFIT_FOR_NAMES.sub("-", f"{self.chart}-{self.version}".lower())[:_LONGEST_STEM]
