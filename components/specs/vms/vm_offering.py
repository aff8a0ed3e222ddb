"""What can be ordered as a virtual machine, and the platform's own machines."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import TypeAlias

from pydantic import Field

from components.specs.base import (
    CheckedSpec,
    ClusterName,
    DataFile,
    DnsLabel,
    HttpsUrl,
    Label,
    Misfit,
    Port,
    Quantity,
    Sha256,
    ShortName,
    Spec,
    VersionName,
)
from components.specs.ssh_text import SshKey
from components.specs.storage.snapshots import VmSnapshotsSpec
from components.specs.vms.guests import GuestSystem
from components.specs.vms.tenant_images import OwnImageSpec
from components.specs.vms.vm_sizes import VmSizeSpec

ROOT = "root"
"""Name of a VM's first disk."""


class RunStrategy(StrEnum):
    """Whether a VM runs, and what follows when it ends (``runStrategy`` of KubeVirt)."""

    ALWAYS = "Always"
    """The VM runs, and is started again however it ended."""
    RERUN_ON_FAILURE = "RerunOnFailure"
    """The VM is started again when it failed, and stays off when its guest shut it down."""
    ONCE = "Once"
    """The VM is started one time, and never again."""
    MANUAL = "Manual"
    """People start and stop the VM, and nobody else does."""
    HALTED = "Halted"
    """The VM is off."""


class VmImageSpec(Spec):
    """An operating system that can be ordered, pinned by checksum."""

    name: Label
    """Name that VMs and offerings refer to, and that CDI's DataSource has."""
    version: VersionName
    """Unique name of this build, which its golden volumes are called after."""
    url: HttpsUrl
    """URL of the disk image, which CDI imports."""
    sha256: Sha256
    """SHA-256 of the file at ``url``, as 64 hex digits, which CDI verifies."""
    size: Quantity
    """Size of the disk in the file, unpacked, such as ``10Gi``."""
    os: GuestSystem = GuestSystem.LINUX
    """Family of the operating system in the image, which decides the hardware of VMs and who sets them up."""


VmImage: TypeAlias = VmImageSpec | OwnImageSpec
"""What VMs boot: an operating system of the catalogue, or an image of their tenant's own."""


class VmCatalog(DataFile):
    """``catalog/vm_offerings.yaml``, what VMs can be made of."""

    sizes: tuple[VmSizeSpec, ...] = Field(min_length=1)
    """Sizes that tenants may be offered."""
    images: tuple[VmImageSpec, ...] = Field(min_length=1)
    """Operating systems that tenants may be offered."""

    def sizes_by_name(self) -> dict[str, VmSizeSpec]:
        """Return the sizes by their names."""
        return {size.name: size for size in self.sizes}


class VolumeSpec(Spec):
    """An extra volume of a VM, which outlives the VM unless it is scratch."""

    name: ShortName
    """Name of the volume, unique in its VM."""
    size: Quantity
    """Size of the volume, such as ``500Gi``."""
    storage_class: DnsLabel
    """Storage class of ``region.yaml`` that the volume is of. Of one on local disks it must be scratch."""
    scratch: bool = False
    """Whether the content may be lost: such a volume goes with its VM, and on local disks with the node, after which
    it comes back empty."""


class RootSpec(Spec):
    """A root that is kept until its VM is deleted, cloned from the golden volume of its image."""

    size: Quantity
    """Size of the root, at least ``root_disk`` of the VM's size."""
    storage_class: DnsLabel
    """Storage class of ``region.yaml`` that the root is of, not one on local disks."""


class VmUserSpec(Spec):
    """Somebody who can log in to a VM, by SSH key only: no user has a password."""

    name: ShortName
    """Login name, unique in its VM."""
    ssh_keys: tuple[SshKey, ...] = Field(min_length=1, max_length=16)
    """Public SSH keys of the user, each a line as ``authorized_keys`` has them."""
    sudo: bool = False
    """Whether the user may do all that root may."""


class VirtualMachineSpec(CheckedSpec):
    """A VM, or a fleet of VMs that are alike."""

    name: ShortName
    """Name of the VM and its host name; those of a fleet have a number behind it, ``NAME-0`` and so on."""
    count: int | None = Field(default=None, ge=1, le=1000)
    """Number of VMs of a fleet; one VM of this name when it is left out. A fleet that shrinks loses those with the
    highest numbers."""
    size: Label
    """Size of the VM, an entry of ``sizes`` in ``catalog/vm_offerings.yaml``."""
    image: Label
    """Operating system of the VM, an entry of ``images`` in ``catalog/vm_offerings.yaml`` or of ``own_images``."""
    root: RootSpec | None = None
    """Root that outlives restarts; an ephemeral one of the size's ``root_disk`` when it is left out."""
    pool: ShortName | None = None
    """Pool for VMs whose nodes run the VM; any of them when it is left out."""
    public_ip: bool = False
    """Whether the VM has a public address of the region, allocated in ``allocations.lock.yaml``; a fleet has one."""
    ports: tuple[Port, ...] = Field(default=(22,), max_length=10)
    """Numbers of TCP ports that are reachable at the public address."""
    udp_ports: tuple[Port, ...] = Field(default=(), max_length=10)
    """Numbers of UDP ports that are reachable at the public address."""
    run_strategy: RunStrategy = RunStrategy.ALWAYS
    """Whether the VM runs, and what follows when it ends."""
    volumes: tuple[VolumeSpec, ...] = Field(default=(), max_length=16)
    """Extra volumes of the VM, beside its root."""
    users: tuple[VmUserSpec, ...] = Field(default=(), max_length=16)
    """Who can log in, made at the VM's first boot; nobody but users of the image when it is left out."""
    snapshots: bool = False
    """Whether snapshots of the VM are taken, of its root and volumes together, when ``vms.snapshots`` says."""
    user_data_secret: DnsLabel | None = None
    """Secret in namespace ``virtual-machines`` of the cluster whose key ``userdata`` is the whole cloud-init user data
    of the VM, mounts of its volumes too; made of ``users`` and ``volumes`` when it is left out."""
    sysprep_secret: DnsLabel | None = None
    """Secret in namespace ``virtual-machines`` of the cluster with the answer file of Windows' setup, under the key
    ``unattend.xml``; only for images with ``os: windows``, which nobody sets up when it is left out."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield what contradicts another value of the VM."""
        for index, volume in enumerate(self.volumes):
            if self.count is not None and not volume.scratch:
                text = "is of a fleet, whose VMs have each their own, which goes with its VM; add scratch: true"
                yield Misfit(text, ("volumes", index, "name"), volume.name)
            if self.root is not None and volume.name == ROOT:
                yield Misfit("is what the root is called; rename it", ("volumes", index, "name"), volume.name)
        if self.snapshots and self.root is None and all(volume.scratch for volume in self.volumes):
            text = "is for what is kept, and this VM keeps neither a root nor a volume; remove it"
            yield Misfit(text, ("snapshots",), self.snapshots)
        elif self.snapshots and self.count is not None:
            yield Misfit("is for single VMs, and this is a fleet; remove it", ("snapshots",), self.snapshots)
        if self.public_ip and not self.ports and not self.udp_ports:
            yield Misfit("needs a port that is reachable there; add ports: [22]", ("public_ip",), self.public_ip)
        if self.users and self.user_data_secret is not None:
            text = "is all user data that the VM gets; write users into the Secret and remove users, or remove this"
            yield Misfit(text, ("user_data_secret",), self.user_data_secret)


class VmsSpec(CheckedSpec):
    """What a tenant can order as VMs, and where they run."""

    cluster: ClusterName
    """Name of the tenant's cluster whose nodes run VMs."""
    pools: tuple[ShortName, ...] = ()
    """Pools of the cluster whose nodes run VMs, and no other nodes do; those without GPUs when it is left out."""
    offerings: tuple[Label, ...] = Field(min_length=1)
    """Sizes of ``catalog/vm_offerings.yaml`` that the tenant can order."""
    images: tuple[Label, ...] = Field(min_length=1)
    """Operating systems of ``catalog/vm_offerings.yaml`` that the tenant can order."""
    own_images: tuple[OwnImageSpec, ...] = Field(default=(), max_length=64)
    """Images of the tenant's own, which it can order like those of the catalogue."""
    image_storage_class: DnsLabel
    """Storage class that holds the golden volumes of VM images."""
    public_ips: int = Field(default=0, ge=0, le=256)
    """Most public addresses that VMs of the tenant may have."""
    public_ips_for: tuple[ShortName, ...] = Field(default=(), max_length=256)
    """Names of VMs that the tenant orders through the API of its cluster and that have a public address each, allocated
    in ``allocations.lock.yaml``."""
    snapshots: VmSnapshotsSpec | None = None
    """When snapshots are taken of VMs that say so."""
    platform: tuple[VirtualMachineSpec, ...] = ()
    """VMs of the platform's own, which tenants do not order."""
    instances: tuple[VirtualMachineSpec, ...] = Field(default=(), max_length=1000)
    """VMs that the tenant ordered and the region looks after. It may order others through the API of its cluster."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield snapshots that nobody takes, or of no VM, and names that have a public address already."""
        public = [vm.name for vm in self.machines]
        for index, name in enumerate(self.public_ips_for):
            if name in public:
                text = "is for VMs ordered through the API, and this one is written here or stands twice; remove it"
                yield Misfit(text, ("public_ips_for", index), name)
            public.append(name)
        listings = (("platform", self.platform), ("instances", self.instances))
        asking = [(key, at, "snapshots") for key, vms in listings for at, vm in enumerate(vms) if vm.snapshots]
        for path in asking if self.snapshots is None else ():
            yield Misfit("is true, and vms.snapshots does not say when; remove it, or say so there", path, got=True)
        if self.snapshots is not None and not asking:
            yield Misfit("is for VMs with snapshots: true, and there is none; remove it", ("snapshots",))

    @property
    def machines(self) -> tuple[VirtualMachineSpec, ...]:
        """Return all VMs that are written here, the platform's own first."""
        return (*self.platform, *self.instances)

    @property
    def public_names(self) -> tuple[ShortName, ...]:
        """Return the names of all VMs with a public address, those that are written here first."""
        return (*(vm.name for vm in self.machines if vm.public_ip), *self.public_ips_for)
