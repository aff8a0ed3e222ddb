"""The catalogue that all environments share: golden images, DPU images, instance types, versions."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from typing import Self

from pydantic import Field

from components.specs.base import (
    OCI_DIGEST,
    OCI_URL,
    CheckedSpec,
    DataFile,
    HttpsUrl,
    KubernetesVersion,
    Label,
    Misfit,
    Quantity,
    Registry,
    Sha256,
    Spec,
    Text,
    VersionName,
)
from components.specs.cluster_api import ClusterApiSpec


class Channel(StrEnum):
    """Train of releases an environment follows, from newest to most proven."""

    CANDIDATE = "candidate"
    LATEST = "latest"
    STABLE = "stable"


class BootMode(StrEnum):
    """How a node gets its image (Metal3: only ``disk`` delivers the join token by config drive)."""

    DISK = "disk"
    LIVE_ISO = "live-iso"
    NETBOOT = "netboot"


class ImageContents(Spec):
    """Versions baked into a golden image. Any change of one of them is a new image."""

    kernel: Text
    gpu_driver: Text | None = None
    """None for CPU images."""
    doca: Text
    nic_firmware: Text | None = None
    """Version the drivers of the image were tested with; None: any."""
    nfs_client: Text
    """Name and version, such as ``vastnfs-4.0.35``; storage drivers ask for one."""
    kubelet: KubernetesVersion
    """Never newer than the control plane, at most three minor versions older."""
    containerd: Text


class KernelProfile(Spec):
    """Kernel arguments and sysctls baked into a golden image."""

    kernel_arguments: tuple[Text, ...] = ()
    """Added to the boot loader's own."""
    sysctls: dict[str, int | str] = Field(default_factory=dict)
    """By name, such as ``vm.max_map_count``."""


class Lifecycle(StrEnum):
    """How far a golden image is on its way, in order."""

    PREVIEW = "preview"
    SUPPORTED = "supported"
    DEPRECATED = "deprecated"
    EXPIRED = "expired"


class SignatureKind(StrEnum):
    """Tool that made a signature."""

    COSIGN = "cosign"
    NOTATION = "notation"


class SignatureSpec(Spec):
    """Detached signature of an image."""

    kind: SignatureKind
    url: HttpsUrl


class GoldenImage(CheckedSpec):
    """One golden image: the only thing a node of a pool may boot."""

    version: VersionName
    channel: tuple[Channel, ...] = Field(min_length=1)
    """Trains that offer it."""
    released: dt.date
    """First day of the preview."""
    supported: dt.date | None = None
    """First day after the preview; none given: there is no preview."""
    deprecated: dt.date | None = None
    """First day on which pools should leave it; none given: when it expires."""
    expires: dt.date
    """First day on which no pool may run it."""
    url: HttpsUrl
    """Raw disk image, or ISO for ``live-iso``, as the provisioning network reaches it."""
    sha256: Sha256
    """Of the file at ``url``."""
    signature: SignatureSpec | None = None
    firmware: VersionName | None = None
    """Baseline of ``catalog/firmware.yaml`` that its hosts must have."""
    contents: ImageContents
    profile: KernelProfile = KernelProfile()
    boot: BootMode = BootMode.DISK
    fits: tuple[Label, ...] = Field(min_length=1)
    """Instance types the image was tested on."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield dates that are out of order."""
        names = ("released", "supported", "deprecated", "expires")
        dates = [(name, date) for name in names if (date := getattr(self, name)) is not None]
        for (earlier, first), (later, date) in pairwise(dates):
            if date < first:
                text = f"must not be before {earlier}, {first}; write that date or a later one"
                yield Misfit(text, (later,), str(date))

    def lifecycle(self, today: dt.date) -> Lifecycle:
        """Return where the image is on ``today``."""
        if today >= self.expires:
            return Lifecycle.EXPIRED
        if self.deprecated is not None and today >= self.deprecated:
            return Lifecycle.DEPRECATED
        return Lifecycle.SUPPORTED if today >= (self.supported or self.released) else Lifecycle.PREVIEW


class DpuImage(Spec):
    """One BFB bundle for BlueField DPUs, with the four versions DPF asks for."""

    version: VersionName
    """Name of the bundle."""
    url: HttpsUrl
    sha256: Sha256
    bsp: Text
    """Board support package."""
    doca: Text
    uefi: Text
    """Boot firmware."""
    atf: Text
    """Arm Trusted Firmware."""


class GpuSpec(Spec):
    """GPUs of a node."""

    model: Label
    count: int = Field(ge=1, le=72)
    """GPUs of one node."""


class DpuSpec(Spec):
    """The DPU of a node."""

    model: Label
    host_functions: int = Field(ge=1, le=2)
    """Physical functions the host sees."""
    virtual_functions: int = Field(default=16, ge=1, le=126)
    """Of one physical function; VMs and InfiniBand GUIDs are counted by them."""


class NicsSpec(Spec):
    """Network adapters of a node beside its DPU."""

    model: Text
    gbits: int = Field(ge=1, le=3200)
    """Rate of one port in Gbit/s."""


class Scale(StrEnum):
    """What an instance type is bought and fails in."""

    NODE = "node"
    RACK = "rack"
    """A rack is one NVLink domain of ``nodes_per_rack`` nodes, such as NVL72 with 18 nodes of 4 GPUs."""


class InstanceType(Spec):
    """A hardware class. Hosts that differ in anything but identity are another instance type."""

    name: Label
    scale: Scale = Scale.NODE
    cpu_model: Text
    cpus: int = Field(ge=1, le=1024)
    """Hardware threads of one node."""
    memory: Quantity
    gpu: GpuSpec | None = None
    nics: NicsSpec | None = None
    infiniband_ports: int = Field(default=0, ge=0, le=16)
    """Ports on the InfiniBand fabric of the host's hall."""
    ethernet_ports: int = Field(default=2, ge=1, le=8)
    """Ports to leaf switches."""
    dpu: DpuSpec
    nvme_disks: int = Field(ge=0, le=32)
    """Local disks for scratch volumes, beside the one the node boots from."""
    nvme_disk_size: Quantity | None = None
    """Of one disk; none given: nothing that lies on them is checked against it."""
    nodes_per_rack: int = Field(ge=1, le=48)
    """Nodes a rack has room, power and ports for; of a rack-scale type: exactly the nodes of its NVLink domain."""
    max_pods: int = Field(default=110, ge=16, le=1024)
    """Pods a node may run; a cluster may say otherwise."""


class ImageCatalog(DataFile):
    """``catalog/images.yaml``."""

    images: tuple[GoldenImage, ...] = Field(min_length=1)
    dpu_images: tuple[DpuImage, ...] = Field(min_length=1)


class InstanceTypeCatalog(DataFile):
    """``catalog/instance_types.yaml``."""

    instance_types: tuple[InstanceType, ...] = Field(min_length=1)

    @cached_property
    def by_name(self) -> dict[str, InstanceType]:
        """Return the instance types by their names."""
        return {kind.name: kind for kind in self.instance_types}

    def __copy__(self) -> Self:
        """Copy without what is remembered, since a copy may get other instance types."""
        copied = super().__copy__()
        copied.__dict__.pop("by_name", None)
        return copied


class Chart(Spec):
    """A Helm chart in an OCI registry, pinned by version and digest."""

    name: Label
    url: str = Field(pattern=OCI_URL, max_length=253)
    version: Text
    digest: str = Field(pattern=OCI_DIGEST)


class Tool(Spec):
    """A container image that a job of the platform runs, pinned by digest."""

    name: Label
    image: Registry
    """Repository without tag."""
    digest: str = Field(pattern=OCI_DIGEST)

    def __str__(self) -> str:
        """Return what a container's ``image`` says."""
        return f"{self.image}@{self.digest}"


class VersionVector(DataFile):
    """``catalog/versions.yaml``: the versions that belong together (one vector a region)."""

    release: VersionName
    """Name of the vector; a region runs one."""
    kubernetes: tuple[KubernetesVersion, ...] = Field(min_length=1)
    """Control-plane versions that may be ordered."""
    charts: tuple[Chart, ...]
    """Operators and drivers, installed by Flux."""
    cluster_api: ClusterApiSpec
    """Cluster API and its providers, installed by its operator."""
    tools: tuple[Tool, ...] = ()
    """Images of the platform's own jobs."""

    def chart(self, name: str) -> Chart:
        """Return the chart called ``name``.

        Raises:
            KeyError: no such chart in the vector.
        """
        for chart in self.charts:
            if chart.name == name:
                return chart
        raise KeyError(name)

    def tool(self, name: str) -> Tool:
        """Return the image called ``name``.

        Raises:
            KeyError: no such image in the vector.
        """
        return {tool.name: tool for tool in self.tools}[name]
