"""Intents: all that decides what a node, a DPU, or a chart in a cluster is. Lock files hold each in use; data wish.

An intent holds values, never names to look up elsewhere, so that nothing but a promotion changes what it makes. What it
leaves out stands for nothing being asked, in this library and in every later one: no other default may ever be added.
"""

from __future__ import annotations

import hashlib
import json
import re
from abc import abstractmethod
from functools import cached_property
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AwareDatetime, Field, JsonValue, StringConstraints

from components.specs.base import (
    OCI_DIGEST,
    OCI_URL,
    HttpsUrl,
    KubernetesVersion,
    Label,
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
"""Name of an intent, ``gpu-2026.11.1@8d2f0c6b1a4e9375``: the image it is about, and its fingerprint."""


class Intent(Spec):
    """What all intents share."""

    revision: int = Field(ge=1)
    """Revision of the renderer that turns the intent into objects; revisions stay as they are, byte by byte."""

    @property
    @abstractmethod
    def release(self) -> str:
        """Return what people call it: the version of an image or of a chart."""

    @property
    def stem(self) -> str:
        """Return what the name of the intent begins with."""
        return self.release

    @cached_property
    def fingerprint(self) -> str:
        """Return what two intents share exactly when they are the same: 16 hex digits of the SHA-256 of all of it."""
        said = self.model_dump(mode="json", exclude_defaults=True)
        canonical = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(canonical.encode()).hexdigest()[:FINGERPRINT_DIGITS]

    @property
    def name(self) -> str:
        """Return the name by which lock files refer to the intent."""
        return f"{self.stem}@{self.fingerprint}"

    def __copy__(self) -> Self:
        """Copy without what is remembered, since a copy may get other values."""
        copied = super().__copy__()
        copied.__dict__.pop("fingerprint", None)
        return copied


class ImageIntent(Intent):
    """What intents of nodes and of DPUs share."""

    IMAGE: ClassVar[str] = "image"
    """Field that names the image."""

    image: VersionName
    """Version of the image in ``catalog/images.yaml``."""
    url: HttpsUrl
    """Where the image is fetched from."""
    sha256: Sha256
    """SHA-256 of what is behind ``url``."""

    @property
    def release(self) -> str:
        """Return the version of the image."""
        return self.image


class NodeIntent(ImageIntent):
    """Everything for which upstream makes a Machine anew, reboots a node or joins it differently."""

    boot: BootMode
    """How a node gets the image."""
    kubelet: KubernetesVersion
    """Version of the kubelet in the image; Cluster API makes Machines anew when it changes."""
    control_planes: ControlPlaneBackend
    """Backend that decides what a node joins with."""
    bare_metal: BareMetalBackend
    """Backend that decides how a host is found and booted."""
    max_pods: int = Field(ge=1)
    """Pods that a node may run."""
    taints: tuple[TaintSpec, ...] = ()
    """Taints that a node registers with."""
    kubelet_configuration: dict[str, JsonValue] = Field(default_factory=dict)
    """Fields of ``KubeletConfiguration`` that the cluster sets, under Kubernetes' own names."""
    firmware: Firmware | None = None
    """Settings and versions below the image; the hosts of the node get them before its next boot."""
    mirror: Registry | None = None
    """Registry that the node pulls images of its pods through; None in intents of revisions that do not write it."""
    network: NodeNetwork | None = None
    """How the node has its address in its VPC; None where nobody gives it one, and in intents of revisions that do not
    write it."""
    gpu_sharing: GpuSharingSpec | None = None
    """How pods share the GPUs of the node; None where each GPU is one pod's, and in intents of revisions that do not
    write it."""
    dual_stack: Literal[True] | None = None
    """Says that pods of the node have addresses of IPv6, too; its cluster has or has not, for life."""
    after: AwareDatetime | None = None
    """Moment after which nodes that are older are made anew, a restart; Cluster API's ``rollout.after``."""


class DpuIntent(ImageIntent):
    """Everything for which DPF flashes a DPU anew and reboots its host."""

    bsp: Text
    """Board support package in the image."""
    doca: Text
    """Release of DOCA in the image."""
    uefi: Text
    """Boot firmware in the image."""
    atf: Text
    """Release of Arm Trusted Firmware in the image."""
    virtual_functions: int = Field(ge=1)
    """Virtual functions of each physical function, a setting in the DPU's firmware."""
    mtu_bytes: int = Field(ge=1280)
    """MTU of the host's ports on the DPU."""
    uplink_mtu_bytes: int | None = Field(default=None, ge=1280)
    """MTU of the DPU's ports to leaf switches; None in intents of revisions that do not write it."""
    mirror: Registry | None = None
    """Registry that the DPU's container runtime asks instead of the public ones."""


class ChartIntent(Intent):
    """What Flux fetches and installs of a chart in a cluster. Its values are not among it: the library has those."""

    chart: Label
    """Name of the chart in ``catalog/versions.yaml``."""
    version: Text
    """Version of the chart, which people read."""
    url: Annotated[str, StringConstraints(pattern=OCI_URL, max_length=253)]
    """Where the chart is fetched from, without a tag."""
    digest: Annotated[str, StringConstraints(pattern=OCI_DIGEST)]
    """Digest of the chart, which decides what is installed."""
    made_from: Text | None = None
    """What the platform makes the chart from; None for upstream's own."""

    @classmethod
    def of(cls, chart: Chart) -> ChartIntent:
        """Return the intent of a cluster that has the release ``chart``."""
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
        """Return the release of the chart, as the version vector would say it."""
        return Chart(name=self.chart, url=self.url, version=self.version, digest=self.digest, made_from=self.made_from)

    @property
    def release(self) -> str:
        """Return the version of the chart."""
        return self.version

    @property
    def stem(self) -> str:
        """Return chart and version, as far as a name of an intent can have them."""
        return _UNFIT_FOR_NAMES.sub("-", f"{self.chart}-{self.version}".lower())[:_LONGEST_STEM]
