"""The catalogue that all environments share: golden images, DPU images, instance types, versions."""

from __future__ import annotations

import datetime as dt
from enum import StrEnum

from pydantic import Field

from components.specs.base import (
    OCI_DIGEST,
    OCI_URL,
    DataFile,
    HttpsUrl,
    KubernetesVersion,
    Label,
    Quantity,
    Sha256,
    Spec,
    Text,
    VersionName,
)


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
    nfs_client: Text
    kubelet: KubernetesVersion
    containerd: Text


class KernelProfile(Spec):
    """Kernel arguments and sysctls baked into a golden image."""

    kernel_arguments: tuple[Text, ...] = ()
    sysctls: dict[str, int | str] = Field(default_factory=dict)


class GoldenImage(Spec):
    """One golden image: the only thing a node of a pool may boot."""

    version: VersionName
    channel: tuple[Channel, ...] = Field(min_length=1)
    released: dt.date
    expires: dt.date
    url: HttpsUrl
    sha256: Sha256
    contents: ImageContents
    profile: KernelProfile = KernelProfile()
    boot: BootMode = BootMode.DISK
    fits: tuple[Label, ...] = Field(min_length=1)
    """Instance types the image was tested on."""


class DpuImage(Spec):
    """One BFB bundle for BlueField DPUs, with the four versions DPF asks for."""

    version: VersionName
    url: HttpsUrl
    sha256: Sha256
    bsp: Text
    doca: Text
    uefi: Text
    atf: Text


class GpuSpec(Spec):
    """GPUs of a node."""

    model: Label
    count: int = Field(ge=1, le=72)


class DpuSpec(Spec):
    """The DPU of a node."""

    model: Label
    host_functions: int = Field(ge=1, le=2)
    """Physical functions the host sees."""
    virtual_functions: int = Field(default=16, ge=1, le=126)


class InstanceType(Spec):
    """A hardware class. Hosts that differ in anything but identity are another instance type."""

    name: Label
    cpu_model: Text
    cpus: int = Field(ge=1, le=1024)
    memory: Quantity
    gpu: GpuSpec | None = None
    infiniband_ports: int = Field(default=0, ge=0, le=16)
    ethernet_ports: int = Field(default=2, ge=1, le=8)
    dpu: DpuSpec
    nvme_disks: int = Field(ge=0, le=32)
    nodes_per_rack: int = Field(ge=1, le=48)


class ImageCatalog(DataFile):
    """``catalog/images.yaml``."""

    images: tuple[GoldenImage, ...] = Field(min_length=1)
    dpu_images: tuple[DpuImage, ...] = Field(min_length=1)


class InstanceTypeCatalog(DataFile):
    """``catalog/instance_types.yaml``."""

    instance_types: tuple[InstanceType, ...] = Field(min_length=1)


class Chart(Spec):
    """A Helm chart in an OCI registry, pinned by version and digest."""

    name: Label
    url: str = Field(pattern=OCI_URL, max_length=253)
    version: Text
    digest: str = Field(pattern=OCI_DIGEST)


class VersionVector(DataFile):
    """``catalog/versions.yaml``: the versions that belong together (one vector a region)."""

    release: VersionName
    kubernetes: tuple[KubernetesVersion, ...] = Field(min_length=1)
    """Control-plane versions that may be ordered."""
    charts: tuple[Chart, ...]
    """Operators and drivers, installed by Flux."""

    def chart(self, name: str) -> Chart:
        """Return the chart called ``name``.

        Raises:
            KeyError: no such chart in the vector.
        """
        for chart in self.charts:
            if chart.name == name:
                return chart
        raise KeyError(name)
