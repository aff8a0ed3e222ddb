"""Images of the catalogue, shared by all environments: golden images of nodes, and images of DPUs."""

import datetime as dt
from collections.abc import Iterator
from enum import StrEnum
from itertools import pairwise
from typing import Annotated

from pydantic import Field, StringConstraints

from components.specs.base import (
    PCI_SELECTOR,
    CheckedSpec,
    ConstraintViolation,
    DataFile,
    DnsLabel,
    HttpsUrl,
    InterfaceName,
    KubernetesVersion,
    Label,
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
"""Kernel arguments for device passthrough to VMs, one of which is required (UG:docs/compute/host-devices.md)."""
_NETNS_MODE = "ib_core.netns_mode="
"""Prefix of kernel arguments that the operator's daemon removes unless a SriovNetworkPoolConfig requests them
(SRIOV:pkg/plugins/generic/generic_plugin.go)."""


class Channel(StrEnum):
    """Release channel of an environment, in order from the newest to the most proven images."""

    CANDIDATE = "candidate"
    """The channel offers the newest images, which are not proven yet."""
    LATEST = "latest"
    """The channel offers images that are more proven than candidates and newer than the images of ``stable``."""
    STABLE = "stable"
    """The channel offers the most proven images."""


class BootMode(StrEnum):
    """Boot method of an image. It determines the source of a node's join token."""

    DISK = "disk"
    """Metal3 writes the image to the disk, and the token is on the config drive."""
    LIVE_ISO = "live-iso"
    """Metal3 attaches an ISO and does not write to a disk. The node requests its token from the join service of the
    region, because Metal3 cannot deliver one."""
    NETBOOT = "netboot"
    """IronCore serves a kernel over HTTP at each boot, and the token is delivered with Ignition."""


class ImageContents(CheckedSpec):
    """Versions of software in a golden image. A change of any of them requires a new image."""

    kernel: Text
    """Release of the Linux kernel, such as ``6.8.0-85``; informational."""
    gpu_driver: Text | None = None
    """Version of NVIDIA's driver; omit it for images of nodes without GPUs."""
    fabric_manager: bool = False
    """Whether NVIDIA's fabric manager runs at boot, in the version of the driver (``nvidia-fabricmanager``; with
    ``nvlsm`` for B200 and later). NVIDIA's operator starts it in its driver container only, which is disabled."""
    gpudirect_rdma: bool = False
    """Whether RDMA adapters access the memory of GPUs directly: the image loads ``nvidia-peermem`` at boot, or has
    NVIDIA's open kernel modules, which support DMA-BUF."""
    doca: Text
    """Version of NVIDIA DOCA on the host. It must be compatible with the ``doca`` of the region's DPU image."""
    nic_firmware: Text | None = None
    """Firmware of network cards with which the drivers were tested, equal to ``nic`` of the image's firmware baseline.
    Any version is accepted by default."""
    nfs_client: Text
    """Name and version of the NFS client, such as ``vastnfs-4.0.35``. Storage drivers may require a specific client."""
    nfs_rdma: bool = False
    """Whether the NFS client supports mounts over RDMA. The client must be built for the drivers of the network
    cards."""
    rdma_exclusive: bool = False
    """Whether the kernel restricts each RDMA device to one network namespace, by ``options ib_core netns_mode=0`` in a
    file of ``/etc/modprobe.d``. Instance types in ``fits`` must have the same value (``rdma.exclusive``)."""
    encrypted_scratch: bool = False
    """Whether the volume groups on the disks of ``nvme_disks`` use dm-crypt devices. Each boot creates a new key in
    memory only, so that the content of a disk is unreadable after power-off."""
    volume_groups: tuple[DnsLabel, ...] | None = None
    """LVM volume groups that the image creates on the disks of ``nvme_disks`` at boot, by name. Storage classes on
    local disks require the group in ``device_class``. If omitted, the groups are unknown and are not compared."""
    roce: RoceSpec | None = None
    """RoCE settings that the image applies to adapters at each boot before the kubelet starts: MTU, trust in DSCPs,
    lossless priority, ECN. The settings must equal ``roce`` of the nodes' fabrics. By default no settings are
    applied."""
    dpu_interface: InterfaceName | None = None
    """Interface name that the image gives the first function of the DPU, such as ``enp1s0f0np0``. Load balancers are
    announced on this port. The default is ``dpus.host_interface`` of the region."""
    imex: bool = False
    """Whether the image contains NVIDIA's IMEX in the version of the driver (``nvidia-imex``, ``nvidia-imex-ctl``),
    with a masked service. The DRA driver starts a daemon for each compute domain (DRAD:docs/prerequisites.md)."""
    kubelet: KubernetesVersion
    """Version of the kubelet, not newer than the control plane and at most three minor versions older (Kubernetes'
    version skew policy)."""
    containerd: Text
    """Version of containerd, such as ``2.1.5``; informational."""
    registry_hosts: bool = False
    """Whether containerd reads registry hosts from ``/etc/containerd/certs.d`` (its ``config_path``). For images with
    k0s, node templates of revision 2 set this path."""
    vfio_devices: tuple[Annotated[str, StringConstraints(pattern=PCI_SELECTOR)], ...] = ()
    """PCI devices that the image binds to vfio-pci at boot, by vendor and product such as ``10DE:26B9``. These devices
    are available to VMs and not to containers."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield a GPU driver in an image that passes GPUs through to VMs."""
        if self.gpu_driver is not None and self.vfio_devices:
            text = (
                f"conflicts with the GPUs of vfio_devices, which are for VMs ({listed(self.vfio_devices)});"
                " remove one of the two"
            )
            yield ConstraintViolation(text, ("gpu_driver",), self.gpu_driver)


class KernelProfile(Spec):
    """Kernel arguments and sysctls of a golden image."""

    kernel_arguments: tuple[Text, ...] = ()
    """Kernel arguments in addition to those of the boot loader, such as ``iommu=pt``. Reserved huge pages, such as
    ``hugepagesz=1G`` and ``hugepages=512``, are for VM sizes with ``huge_pages``."""
    sysctls: dict[str, int | str] = Field(default_factory=dict)
    """Values of kernel parameters by name, such as ``vm.max_map_count``."""


class Lifecycle(StrEnum):
    """Lifecycle state of a golden image, in order. The dates of the image determine the state."""

    PREVIEW = "preview"
    """The image is released but not yet supported."""
    SUPPORTED = "supported"
    """The image is supported, and pools may run it."""
    DEPRECATED = "deprecated"
    """Pools should use another image."""
    EXPIRED = "expired"
    """Pools must not run the image."""


class SignatureKind(StrEnum):
    """Tool that created a signature."""

    COSIGN = "cosign"
    """Sigstore's ``cosign`` created the signature."""
    NOTATION = "notation"
    """Notary Project's ``notation`` created the signature."""


class SignatureSpec(Spec):
    """Detached signature of an image."""

    kind: SignatureKind
    """Tool that created the signature, which can also verify it."""
    url: HttpsUrl
    """URL of the file that contains the signature."""
    provenance: HttpsUrl | None = None
    """URL of the signed provenance of the image, an in-toto attestation with SLSA's predicate: builder and sources.
    Policy ``unsigned-image`` reports images without provenance in production."""


class GoldenImage(CheckedSpec):
    """Golden image. Nodes of pools boot golden images only."""

    version: VersionName
    """Unique name of the image, referenced by pools and pins."""
    channel: tuple[Channel, ...] = Field(min_length=1)
    """Channels that offer the image. A pool with ``image: channel`` uses images of its region's channel only."""
    released: dt.date
    """First day of the preview."""
    supported: dt.date | None = None
    """First day after the preview. By default the image is supported from its release."""
    deprecated: dt.date | None = None
    """First day on which pools should use another image. By default the image is supported until it expires."""
    expires: dt.date
    """First day on which pools must not run the image."""
    revoked: Text | None = None
    """Reason why nodes must not boot the image any longer, such as a vulnerability. None for an allowed image."""
    url: HttpsUrl
    """URL of the raw disk image, or of the ISO for ``live-iso``, reachable from the provisioning network."""
    sha256: Sha256
    """SHA-256 of the file at ``url``, as 64 hex digits."""
    signature: SignatureSpec | None = None
    """Detached signature of the file at ``url``. Policy ``unsigned-image`` requires signatures in production."""
    firmware: VersionName | None = None
    """Firmware baseline of ``catalog/firmware.yaml`` for hosts with the image. By default the firmware of hosts is not
    changed."""
    contents: ImageContents
    """Versions of the software in the image."""
    profile: KernelProfile = KernelProfile.defaults()
    """Kernel settings of the image."""
    architecture: Architecture = Architecture.AMD64
    """Instruction set of the image, the same as that of all instance types in ``fits``."""
    boot: BootMode = BootMode.DISK
    """Boot method of nodes with the image. The bare-metal backend of the region must support it."""
    fits: tuple[Label, ...] = Field(min_length=1)
    """Instance types with which the image was tested. Pools of other types cannot run it."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield dates in the wrong order, VM devices without an IOMMU, and kernel arguments without effect."""
        names = ("released", "supported", "deprecated", "expires")
        dates = [(name, date) for name in names if (date := getattr(self, name)) is not None]
        for (earlier, first), (later, date) in pairwise(dates):
            if date < first:
                text = f"must not be before {earlier}, {first}; write that date or a later one"
                yield ConstraintViolation(text, (later,), str(date))
        if self.contents.vfio_devices and not _IOMMU.intersection(self.profile.kernel_arguments):
            which = " or ".join(sorted(_IOMMU))
            text = f"lacks the IOMMU, which VMs need for vfio_devices; add {which}"
            yield ConstraintViolation(text, ("profile", "kernel_arguments"))
        for argument in self.profile.kernel_arguments:
            if argument.startswith(_NETNS_MODE):
                text = (
                    "is removed by the SR-IOV operator, which reboots nodes to remove it; write it to a file of"
                    " /etc/modprobe.d instead, and set contents.rdma_exclusive"
                )
                yield ConstraintViolation(text, ("profile", "kernel_arguments"), argument)
            if unreadable(argument):
                text = "must be a number of pages, or one number for each NUMA node; write it like hugepages=64"
                yield ConstraintViolation(text, ("profile", "kernel_arguments"), argument)

    def lifecycle(self, today: dt.date) -> Lifecycle:
        """Return the lifecycle state of the image on ``today``."""
        if today >= self.expires:
            return Lifecycle.EXPIRED
        if self.deprecated is not None and today >= self.deprecated:
            return Lifecycle.DEPRECATED
        return Lifecycle.SUPPORTED if today >= (self.supported or self.released) else Lifecycle.PREVIEW


class DpuImage(Spec):
    """BFB bundle for BlueField DPUs, with the four versions that DPF requires."""

    version: VersionName
    """Name of the bundle, referenced by ``dpus.image`` of ``region.yaml``."""
    url: HttpsUrl
    """URL of the bundle, ``url`` of DPF's BFB."""
    sha256: Sha256
    """SHA-256 of the bundle, as 64 hex digits. It is recorded on the BFB; DPF does not verify it."""
    bsp: Text
    """Version of the board support package, ``versions.bsp`` of DPF's BFB."""
    doca: Text
    """Version of DOCA on the DPU, ``versions.doca`` of DPF's BFB. Golden images must be compatible with it."""
    uefi: Text
    """Version of the boot firmware, ``versions.uefi`` of DPF's BFB."""
    atf: Text
    """Version of Arm Trusted Firmware, ``versions.atf`` of DPF's BFB."""


class ImageCatalog(DataFile):
    """``catalog/images.yaml``."""

    images: tuple[GoldenImage, ...] = Field(min_length=1)
    """Golden images for pools of all environments."""
    dpu_images: tuple[DpuImage, ...] = Field(min_length=1)
    """DPU images for ``dpus.image`` of regions."""
