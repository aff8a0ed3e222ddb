"""What can be ordered as a virtual machine, and the platform's own machines."""

from __future__ import annotations

from pydantic import Field

from components.specs.base import (
    PCI_SELECTOR,
    ClusterName,
    DataFile,
    DnsLabel,
    HttpsUrl,
    Label,
    Port,
    Quantity,
    Sha256,
    ShortName,
    Spec,
    Text,
    VersionName,
)


class VmGpuSpec(Spec):
    """GPUs passed through to a VM."""

    device: Text
    """Resource name permitted in the KubeVirt object, such as ``nvidia.com/L40S``."""
    pci_selector: str = Field(pattern=PCI_SELECTOR)
    """``vendor:product``, as KubeVirt's permittedHostDevices wants it."""
    count: int = Field(ge=1, le=8)


class VmSizeSpec(Spec):
    """A size of VM. A size is never edited: a changed one is a new name."""

    name: Label
    cpus: int = Field(ge=1, le=512)
    memory: Quantity
    root_disk: Quantity = "500Gi"
    """Ephemeral root: an overlay on the node's NVMe, lost when the VM ends."""
    gpu: VmGpuSpec | None = None


class VmImageSpec(Spec):
    """An operating system that can be ordered, pinned by checksum."""

    name: Label
    version: VersionName
    url: HttpsUrl
    sha256: Sha256
    size: Quantity
    """Of the disk in the file, unpacked."""


class VmCatalog(DataFile):
    """``catalog/vm_offerings.yaml``."""

    sizes: tuple[VmSizeSpec, ...] = Field(min_length=1)
    images: tuple[VmImageSpec, ...] = Field(min_length=1)


class VolumeSpec(Spec):
    """An extra volume of a VM; it outlives the VM."""

    name: ShortName
    size: Quantity
    storage_class: DnsLabel


class VirtualMachineSpec(Spec):
    """A VM of the platform's own. Tenants order theirs through the API of their cluster."""

    name: ShortName
    size: Label
    image: Label
    public_ip: bool = False
    """One public address of the region, allocated in ``allocations.lock.yaml``."""
    ports: tuple[Port, ...] = Field(default=(22,), min_length=1, max_length=10)
    """TCP ports reachable at the public address."""
    volumes: tuple[VolumeSpec, ...] = Field(default=(), max_length=16)


class VmsSpec(Spec):
    """What a tenant can order as VMs, and where they run."""

    cluster: ClusterName
    """Cluster of the tenant whose nodes run VMs."""
    offerings: tuple[Label, ...] = Field(min_length=1)
    """Sizes of the catalogue."""
    images: tuple[Label, ...] = Field(min_length=1)
    """Operating systems of the catalogue."""
    image_storage_class: DnsLabel
    """Class that holds the golden volumes of VM images."""
    public_ips: int = Field(default=0, ge=0, le=256)
    """Public addresses that VMs of the tenant may have."""
    platform: tuple[VirtualMachineSpec, ...] = ()
    """Machines of the platform's own."""
