"""Virtual machines that tenants can order, and VMs of the platform."""

from collections.abc import Iterator
from enum import StrEnum
from typing import TypeAlias

from pydantic import Field

from components.specs.base import (
    CheckedSpec,
    ClusterName,
    ConstraintViolation,
    DataFile,
    DnsLabel,
    HttpsUrl,
    Label,
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
"""Name of a VM's root disk."""


class RunStrategy(StrEnum):
    """Run strategy of a VM, including its restart (``runStrategy`` of KubeVirt)."""

    ALWAYS = "Always"
    """The VM runs and is always restarted."""
    RERUN_ON_FAILURE = "RerunOnFailure"
    """The VM is restarted after a failure, and stays off after a shutdown by its guest."""
    ONCE = "Once"
    """The VM is started once and never restarted."""
    MANUAL = "Manual"
    """The VM is started and stopped by users only."""
    HALTED = "Halted"
    """The VM is off."""


class VmImageSpec(Spec):
    """Operating system image that can be ordered, pinned by checksum."""

    name: Label
    """Name of the image, referenced by VMs and offerings; also the name of CDI's DataSource."""
    version: VersionName
    """Unique version of this build, which is part of the names of its golden volumes."""
    url: HttpsUrl
    """URL of the disk image, which CDI imports."""
    sha256: Sha256
    """SHA-256 of the file at ``url``, as 64 hex digits, which CDI verifies."""
    size: Quantity
    """Size of the unpacked disk in the file, such as ``10Gi``."""
    os: GuestSystem = GuestSystem.LINUX
    """Family of the operating system in the image, which determines the virtual hardware and first-boot setup of
    VMs."""


VmImage: TypeAlias = VmImageSpec | OwnImageSpec
"""Boot image of VMs: an operating system of the catalogue, or an image of the tenant."""


class VmCatalog(DataFile):
    """``catalog/vm_offerings.yaml``: sizes and images of VMs."""

    sizes: tuple[VmSizeSpec, ...] = Field(min_length=1)
    """Sizes that can be offered to tenants."""
    images: tuple[VmImageSpec, ...] = Field(min_length=1)
    """Operating systems that can be offered to tenants."""

    def sizes_by_name(self) -> dict[str, VmSizeSpec]:
        """Return the sizes by their names."""
        return {size.name: size for size in self.sizes}


class VolumeSpec(Spec):
    """Additional volume of a VM. Unless it is scratch, the volume is kept when the VM is deleted."""

    name: ShortName
    """Name of the volume, unique in its VM."""
    size: Quantity
    """Size of the volume, such as ``500Gi``."""
    storage_class: DnsLabel
    """Storage class of ``region.yaml``. On local disks the volume must be scratch."""
    scratch: bool = False
    """Whether the content may be lost. A scratch volume is deleted with its VM. On local disks the volume is lost with
    the node, and recreated empty."""


class RootSpec(Spec):
    """Persistent root disk, cloned from the golden volume of its image and kept until its VM is deleted."""

    size: Quantity
    """Size of the root disk, at least ``root_disk`` of the VM's size."""
    storage_class: DnsLabel
    """Storage class of ``region.yaml`` for the root disk, not on local disks."""


class VmUserSpec(Spec):
    """User of a VM, with login by SSH key only. Users have no passwords."""

    name: ShortName
    """Login name, unique in its VM."""
    ssh_keys: tuple[SshKey, ...] = Field(min_length=1, max_length=16)
    """Public SSH keys of the user, each one line of ``authorized_keys``."""
    sudo: bool = False
    """Whether the user has root permissions through sudo."""


class VirtualMachineSpec(CheckedSpec):
    """VM, or a fleet of identical VMs."""

    name: ShortName
    """Name of the VM and its host name. VMs of a fleet have a numeric suffix: ``NAME-0`` and so on."""
    count: int | None = Field(default=None, ge=1, le=1000)
    """Number of VMs of a fleet; a single VM by default. When a fleet shrinks, the VMs with the highest numbers are
    deleted."""
    size: Label
    """Size of the VM, an entry of ``sizes`` in ``catalog/vm_offerings.yaml``."""
    image: Label
    """Operating system of the VM, an entry of ``images`` in ``catalog/vm_offerings.yaml`` or of ``own_images``."""
    root: RootSpec | None = None
    """Persistent root disk. By default the root disk is ephemeral and has the size ``root_disk`` of the VM's size."""
    pool: ShortName | None = None
    """Pool whose nodes run the VM; any pool for VMs by default."""
    public_ip: bool = False
    """Whether the VM has a public address of the region, allocated in ``allocations.lock.yaml``. All VMs of a fleet
    share one address."""
    ports: tuple[Port, ...] = Field(default=(22,), max_length=10)
    """TCP ports that are open at the public address."""
    udp_ports: tuple[Port, ...] = Field(default=(), max_length=10)
    """UDP ports that are open at the public address."""
    run_strategy: RunStrategy = RunStrategy.ALWAYS
    """Run strategy of the VM, including its restart."""
    volumes: tuple[VolumeSpec, ...] = Field(default=(), max_length=16)
    """Additional volumes of the VM, not including the root disk."""
    users: tuple[VmUserSpec, ...] = Field(default=(), max_length=16)
    """Users of the VM, created at its first boot. By default the VM has only the users of its image."""
    snapshots: bool = False
    """Whether snapshots of the VM, its root disk and volumes together, are taken by the schedule of
    ``vms.snapshots``."""
    user_data_secret: DnsLabel | None = None
    """Secret in namespace ``virtual-machines`` of the cluster whose key ``userdata`` contains the complete cloud-init
    user data of the VM, including mounts of its volumes. By default user data are generated from ``users`` and
    ``volumes``."""
    sysprep_secret: DnsLabel | None = None
    """Secret in namespace ``virtual-machines`` of the cluster with the answer file of Windows Setup, under the key
    ``unattend.xml``. Only for images with ``os: windows``, whose setup requires an answer file."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield fields that contradict other fields of the VM."""
        for index, volume in enumerate(self.volumes):
            if self.count is not None and not volume.scratch:
                text = "belongs to a fleet, whose volumes are deleted with their VMs; add scratch: true"
                yield ConstraintViolation(text, ("volumes", index, "name"), volume.name)
            if self.root is not None and volume.name == ROOT:
                yield ConstraintViolation(
                    "is the name of the root disk; rename it", ("volumes", index, "name"), volume.name
                )
        if self.snapshots and self.root is None and all(volume.scratch for volume in self.volumes):
            text = "is for persistent disks, but this VM has no persistent root or volume; remove it"
            yield ConstraintViolation(text, ("snapshots",), self.snapshots)
        elif self.snapshots and self.count is not None:
            yield ConstraintViolation(
                "is for single VMs, but this is a fleet; remove it", ("snapshots",), self.snapshots
            )
        if self.public_ip and not self.ports and not self.udp_ports:
            yield ConstraintViolation(
                "needs an open port at the address; add ports: [22]", ("public_ip",), self.public_ip
            )
        if self.users and self.user_data_secret is not None:
            text = "replaces users; add the users to the Secret and remove users, or remove this"
            yield ConstraintViolation(text, ("user_data_secret",), self.user_data_secret)


class VmsSpec(CheckedSpec):
    """VMs that a tenant can order, and the nodes that run them."""

    cluster: ClusterName
    """Name of the tenant's cluster whose nodes run VMs."""
    pools: tuple[ShortName, ...] = ()
    """Pools of the cluster whose nodes run only VMs; by default the pools without GPUs."""
    offerings: tuple[Label, ...] = Field(min_length=1)
    """Sizes of ``catalog/vm_offerings.yaml`` that the tenant can order."""
    images: tuple[Label, ...] = Field(min_length=1)
    """Operating systems of ``catalog/vm_offerings.yaml`` that the tenant can order."""
    own_images: tuple[OwnImageSpec, ...] = Field(default=(), max_length=64)
    """Images of the tenant, which can be ordered like images of the catalogue."""
    image_storage_class: DnsLabel
    """Storage class of the golden volumes of VM images."""
    migrations_per_node: int = Field(default=2, ge=1, le=16)
    """Maximum number of VMs that migrate simultaneously from a drained node. VMs that are still on the node after
    ``rollout.drain_timeout_seconds`` of its pool are killed."""
    public_ips: int = Field(default=0, ge=0, le=256)
    """Maximum number of public addresses of the tenant's VMs."""
    public_ips_for: tuple[ShortName, ...] = Field(default=(), max_length=256)
    """Names of VMs that the tenant orders with a public address through the API of its cluster. The addresses are
    allocated in ``allocations.lock.yaml``."""
    snapshots: VmSnapshotsSpec | None = None
    """Schedule of snapshots for VMs with ``snapshots: true``."""
    platform: tuple[VirtualMachineSpec, ...] = ()
    """VMs of the platform, not ordered by tenants."""
    instances: tuple[VirtualMachineSpec, ...] = Field(default=(), max_length=1000)
    """VMs ordered by the tenant and managed by the region. The tenant may order other VMs through the API of its
    cluster."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield snapshots without a schedule or without VMs, and duplicate public addresses."""
        public = [vm.name for vm in self.machines]
        for index, name in enumerate(self.public_ips_for):
            if name in public:
                text = "is for VMs ordered through the API, but this one is declared here or listed twice; remove it"
                yield ConstraintViolation(text, ("public_ips_for", index), name)
            public.append(name)
        listings = (("platform", self.platform), ("instances", self.instances))
        asking = [(key, at, "snapshots") for key, vms in listings for at, vm in enumerate(vms) if vm.snapshots]
        for path in asking if self.snapshots is None else ():
            yield ConstraintViolation(
                "requires the schedule vms.snapshots; remove it, or add vms.snapshots", path, got=True
            )
        if self.snapshots is not None and not asking:
            yield ConstraintViolation("is for VMs with snapshots: true, but there are none; remove it", ("snapshots",))

    @property
    def machines(self) -> tuple[VirtualMachineSpec, ...]:
        """Return all VMs in the data, starting with the VMs of the platform."""
        return (*self.platform, *self.instances)

    @property
    def public_names(self) -> tuple[ShortName, ...]:
        """Return the names of all VMs with a public address, starting with the VMs declared in the data."""
        return (*(vm.name for vm in self.machines if vm.public_ip), *self.public_ips_for)
