"""The images of the catalogue that all environments share: golden images of nodes, and images of DPUs."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from enum import StrEnum
from itertools import pairwise
from typing import Annotated

from pydantic import Field, StringConstraints

from components.specs.base import (
    PCI_SELECTOR,
    CheckedSpec,
    DataFile,
    HttpsUrl,
    KubernetesVersion,
    Label,
    Misfit,
    Sha256,
    Spec,
    Text,
    VersionName,
)
from components.specs.hosts.instance_types import Architecture
from components.specs.network.fabrics import RoceSpec
from components.specs.pools.huge_pages import unreadable
from components.specs.reading.problems import listed

_IOMMU = frozenset({"amd_iommu=on", "intel_iommu=on"})
"""Kernel arguments of which devices for VMs need one (UG:docs/compute/host-devices.md)."""
_NETNS_MODE = "ib_core.netns_mode="
"""Begin of kernel arguments that its daemon removes unless a SriovNetworkPoolConfig asks for them
(SRIOV:pkg/plugins/generic/generic_plugin.go)."""


class Channel(StrEnum):
    """Train of releases an environment follows, from newest to most proven."""

    CANDIDATE = "candidate"
    """The channel offers the newest images, which have to prove themselves first."""
    LATEST = "latest"
    """The channel offers images that are more proven than candidates and newer than those of ``stable``."""
    STABLE = "stable"
    """The channel offers the images that are proven most."""


class BootMode(StrEnum):
    """How a node gets its image, and by that how it gets the token to join with."""

    DISK = "disk"
    """Metal3 writes the image to the disk, and the token comes by config drive."""
    LIVE_ISO = "live-iso"
    """Metal3 attaches an ISO and touches no disk. The node asks the join service of the region, since Metal3 delivers
    nothing to it."""
    NETBOOT = "netboot"
    """IronCore serves a kernel over HTTP at each boot, and the token comes with Ignition."""


class ImageContents(CheckedSpec):
    """Versions baked into a golden image. Any change of one of them is a new image."""

    kernel: Text
    """Release of the Linux kernel, such as ``6.8.0-85``. It is shown and not checked."""
    gpu_driver: Text | None = None
    """Version of NVIDIA's driver; left out for images of nodes without GPUs."""
    doca: Text
    """Version of NVIDIA DOCA on the host, which must work with the ``doca`` of the region's DPU image."""
    nic_firmware: Text | None = None
    """Firmware of network cards that the drivers were tested with, equal to ``nic`` of the image's firmware baseline.
    Any version will do when it is left out."""
    nfs_client: Text
    """Name and version of the NFS client, such as ``vastnfs-4.0.35``; storage drivers ask for one."""
    nfs_rdma: bool = False
    """Whether that client mounts over RDMA: it and the drivers of network cards must be built for each other."""
    rdma_exclusive: bool = False
    """Whether the kernel keeps each RDMA device to the network namespace it is in, by ``options ib_core netns_mode=0``
    in a file of ``/etc/modprobe.d``. Instance types that the image fits must say the same (``rdma.exclusive``)."""
    encrypted_scratch: bool = False
    """Whether the disks of ``nvme_disks`` are dm-crypt devices below their volume groups, with a key that each boot
    draws anew and keeps in memory alone, so that a disk holds nothing readable once its node is off."""
    roce: RoceSpec | None = None
    """What the image sets on adapters before the kubelet starts, at each boot: MTU, trust in DSCPs, the lossless
    priority, ECN. It must be the ``roce`` of the fabrics that nodes of the image are on; none is set when it is left
    out."""
    imex: bool = False
    """Whether NVIDIA's IMEX is in the image in the driver's version (``nvidia-imex``, ``nvidia-imex-ctl``), and its
    service is masked: the DRA driver starts one daemon for each compute domain (DRAD:docs/prerequisites.md)."""
    kubelet: KubernetesVersion
    """Version of the kubelet, never newer than the control plane and at most three minor versions older (Kubernetes'
    version skew policy)."""
    containerd: Text
    """Version of containerd, such as ``2.1.5``. It is shown and not checked."""
    registry_hosts: bool = False
    """Whether containerd looks for the hosts of registries in ``/etc/containerd/certs.d`` (its ``config_path``)."""
    vfio_devices: tuple[Annotated[str, StringConstraints(pattern=PCI_SELECTOR)], ...] = ()
    """PCI devices that the image binds to vfio-pci at boot, by vendor and product such as ``10DE:26B9``: VMs get them,
    and no container does."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield a driver for GPUs that VMs are given whole."""
        if self.gpu_driver is not None and self.vfio_devices:
            text = (
                f"would take the GPUs that vfio_devices gives to VMs ({listed(self.vfio_devices)}); remove the one or"
                " the other"
            )
            yield Misfit(text, ("gpu_driver",), self.gpu_driver)


class KernelProfile(Spec):
    """Kernel arguments and sysctls baked into a golden image."""

    kernel_arguments: tuple[Text, ...] = ()
    """Arguments added to those that the boot loader passes anyway, such as ``iommu=pt``. Huge pages that they reserve,
    such as ``hugepagesz=1G`` and ``hugepages=512``, are what VMs of sizes with ``huge_pages`` live in."""
    sysctls: dict[str, int | str] = Field(default_factory=dict)
    """Values of kernel parameters by name, such as ``vm.max_map_count``."""


class Lifecycle(StrEnum):
    """How far a golden image is on its way, in order. The dates of the image decide."""

    PREVIEW = "preview"
    """The image is released and not yet supported."""
    SUPPORTED = "supported"
    """The image is past its preview, and pools may run it."""
    DEPRECATED = "deprecated"
    """Pools that run the image should leave it."""
    EXPIRED = "expired"
    """No pool may run the image any more."""


class SignatureKind(StrEnum):
    """Tool that made a signature."""

    COSIGN = "cosign"
    """Sigstore's ``cosign`` made the signature."""
    NOTATION = "notation"
    """Notary Project's ``notation`` made the signature."""


class SignatureSpec(Spec):
    """Detached signature of an image."""

    kind: SignatureKind
    """Tool that made the signature, and that can verify it."""
    url: HttpsUrl
    """URL of the file that holds the signature."""


class GoldenImage(CheckedSpec):
    """One golden image: the only thing a node of a pool may boot."""

    version: VersionName
    """Unique name of the image, which pools and pins refer to."""
    channel: tuple[Channel, ...] = Field(min_length=1)
    """Channels that offer the image; a pool with ``image: channel`` takes images of its region's channel only."""
    released: dt.date
    """First day of the preview."""
    supported: dt.date | None = None
    """First day after the preview; the image is supported from its release when it is left out."""
    deprecated: dt.date | None = None
    """First day on which pools should leave the image; it is supported until it expires when this is left out."""
    expires: dt.date
    """First day on which no pool may run the image."""
    url: HttpsUrl
    """URL of the raw disk image, or of the ISO for ``live-iso``, as the provisioning network reaches it."""
    sha256: Sha256
    """SHA-256 of the file at ``url``, as 64 hex digits."""
    signature: SignatureSpec | None = None
    """Detached signature of the file at ``url``; policy rule ``unsigned-image`` wants one in production."""
    firmware: VersionName | None = None
    """Baseline of ``catalog/firmware.yaml`` that hosts of the image must have; their firmware is left alone without
    one."""
    contents: ImageContents
    """Versions that are baked into the image."""
    profile: KernelProfile = KernelProfile()
    """Kernel settings that are baked into the image."""
    architecture: Architecture = Architecture.AMD64
    """Instruction set that the image is built for, that of all instance types it fits."""
    boot: BootMode = BootMode.DISK
    """How nodes get the image; the bare-metal backend of the region must be able to."""
    fits: tuple[Label, ...] = Field(min_length=1)
    """Instance types that the image was tested on. Pools of other types cannot run it."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield dates out of order, devices for VMs that nothing keeps from memory, and kernel arguments in vain."""
        names = ("released", "supported", "deprecated", "expires")
        dates = [(name, date) for name in names if (date := getattr(self, name)) is not None]
        for (earlier, first), (later, date) in pairwise(dates):
            if date < first:
                text = f"must not be before {earlier}, {first}; write that date or a later one"
                yield Misfit(text, (later,), str(date))
        if self.contents.vfio_devices and not _IOMMU.intersection(self.profile.kernel_arguments):
            which = " or ".join(sorted(_IOMMU))
            text = f"lacks the IOMMU, without which VMs cannot be given vfio_devices; add {which}"
            yield Misfit(text, ("profile", "kernel_arguments"))
        for argument in self.profile.kernel_arguments:
            if argument.startswith(_NETNS_MODE):
                text = (
                    "is taken out again by the SR-IOV operator, which reboots nodes for it; write it to a file of"
                    " /etc/modprobe.d instead, and say so as contents.rdma_exclusive"
                )
                yield Misfit(text, ("profile", "kernel_arguments"), argument)
            if unreadable(argument):
                text = "is no number of pages, or one for each NUMA node; write it like hugepages=64"
                yield Misfit(text, ("profile", "kernel_arguments"), argument)

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
    """Name of the bundle, which ``dpus.image`` of ``region.yaml`` refers to."""
    url: HttpsUrl
    """URL of the bundle, ``url`` of DPF's BFB."""
    sha256: Sha256
    """SHA-256 of the bundle, as 64 hex digits. DPF does not verify it, so it is only written down on the BFB."""
    bsp: Text
    """Version of the board support package, ``versions.bsp`` of DPF's BFB."""
    doca: Text
    """Version of DOCA on the DPU, ``versions.doca`` of DPF's BFB; golden images must work with it."""
    uefi: Text
    """Version of the boot firmware, ``versions.uefi`` of DPF's BFB."""
    atf: Text
    """Version of Arm Trusted Firmware, ``versions.atf`` of DPF's BFB."""


class ImageCatalog(DataFile):
    """``catalog/images.yaml``."""

    images: tuple[GoldenImage, ...] = Field(min_length=1)
    """Golden images that pools of any environment may be pinned to."""
    dpu_images: tuple[DpuImage, ...] = Field(min_length=1)
    """DPU images that ``dpus.image`` of a region may name."""
