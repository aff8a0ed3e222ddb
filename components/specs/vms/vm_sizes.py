"""Sizes of virtual machines: their resources, and the requirements on their nodes."""

from collections.abc import Iterator
from enum import StrEnum

from pydantic import Field

from components.specs.base import PCI_SELECTOR, CheckedSpec, ConstraintViolation, Label, Quantity, Spec, bytes_of
from components.specs.pools.huge_pages import PageSize
from components.specs.reading.problems import one_of

DEVICE = (
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?\.)+[a-z0-9]([-a-z0-9]*[a-z0-9])?/[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$"
)
"""Name of a node resource, with a domain. Other names are rejected by pods of KubeVirt and by quotas."""
MOST_ROOT: Quantity = "500Gi"
"""Maximum size of an ephemeral root disk. All VMs of a node share the kubelet's file system."""


LEAST_WINDOWS_CPUS = 2
"""Minimum number of CPUs for Windows, required by KubeVirt's preference and by Windows 11."""
LEAST_WINDOWS_MEMORY: Quantity = "4Gi"
"""Minimum memory for Windows in KubeVirt."""


class EvictionStrategy(StrEnum):
    """Handling of a VM when its node is drained (``evictionStrategy`` of KubeVirt)."""

    LIVE_MIGRATE = "LiveMigrate"
    """The VM is migrated live; the drain waits while this is not possible."""
    IF_POSSIBLE = "LiveMigrateIfPossible"
    """The VM is migrated live if possible, and stopped otherwise."""
    NONE = "None"
    """The VM is stopped."""


class VmGpuSpec(Spec):
    """GPUs passed through to a VM."""

    device: str = Field(pattern=DEVICE, max_length=253)
    """Resource name that is permitted in the KubeVirt object, such as ``nvidia.com/L40S``."""
    pci_selector: str = Field(pattern=PCI_SELECTOR)
    """Vendor and product of the PCI device, such as ``10DE:2330``, for KubeVirt's permittedHostDevices."""
    count: int = Field(ge=1, le=8)
    """Number of GPUs of one VM."""


class VmSizeSpec(CheckedSpec):
    """Size of VMs. Sizes are immutable: a changed size needs a new name."""

    name: Label
    """Name of the size, referenced by VMs and offerings."""
    cpus: int = Field(ge=1, le=512)
    """Number of CPUs of the VM, ``cpu.guest`` of KubeVirt's instance type."""
    memory: Quantity
    """Memory of the VM, such as ``64Gi``; ``memory.guest`` of KubeVirt's instance type."""
    root_disk: Quantity = MOST_ROOT
    """Size of the ephemeral root disk, at most 500Gi: an overlay on the kubelet's disk, lost when the VM stops."""
    gpu: VmGpuSpec | None = None
    """GPUs of the VM; none by default."""
    eviction: EvictionStrategy = EvictionStrategy.IF_POSSIBLE
    """Handling of a VM when its node is drained."""
    dedicated_cpus: bool = False
    """Whether each CPU of the VM is an exclusive thread of its node, ``cpu.dedicatedCPUPlacement`` of KubeVirt.
    Kubelets of its nodes need ``cpu_manager_policy: static``."""
    emulator_cpu: bool = False
    """Whether one additional thread of the node is reserved for QEMU, so that it does not interrupt the VM's CPUs;
    ``cpu.isolateEmulatorThread`` of KubeVirt."""
    huge_pages: PageSize | None = None
    """Size of the huge pages for the memory of the VM, reserved at boot by images of its nodes; ordinary pages by
    default."""
    numa: bool = False
    """Whether the guest sees the NUMA nodes of its CPUs and memory, ``cpu.numa.guestMappingPassthrough`` of KubeVirt.
    Kubelets of its nodes need ``topology_manager_policy``, ``restricted`` or ``single-numa-node``."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield an oversized ephemeral root disk, an impossible migration, and combinations that KubeVirt rejects."""
        if self.gpu is not None and self.eviction is EvictionStrategy.LIVE_MIGRATE:
            text = "would block drains forever, because VMs with GPUs cannot migrate"
            other = f"write {one_of((EvictionStrategy.IF_POSSIBLE, EvictionStrategy.NONE))}"
            yield ConstraintViolation(f"{text}; {other}", ("eviction",), self.eviction.value)
        if bytes_of(self.root_disk) > bytes_of(MOST_ROOT):
            text = (
                f"is above the maximum of an ephemeral root; write at most {MOST_ROOT}, and add volumes to VMs for more"
            )
            yield ConstraintViolation(text, ("root_disk",), self.root_disk)
        yield from self._placement_violations()

    def _placement_violations(self) -> Iterator[ConstraintViolation]:
        """Yield placements that KubeVirt rejects (KV:pkg/virt-api/webhooks, vmi-create-admitter.go)."""
        for name in ("emulator_cpu", "numa"):
            if getattr(self, name) and not self.dedicated_cpus:
                text = "requires exclusive CPUs; add dedicated_cpus: true, or remove it"
                yield ConstraintViolation(text, (name,), got=True)
        if self.numa and self.huge_pages is None:
            text = "requires memory in huge pages; add huge_pages: 1Gi, or remove it"
            yield ConstraintViolation(text, ("numa",), got=True)
        if self.huge_pages is not None and bytes_of(self.memory) % bytes_of(self.huge_pages.value):
            text = f"must be a multiple of the huge page size {self.huge_pages}; change memory or huge_pages"
            yield ConstraintViolation(text, ("memory",), self.memory)

    @property
    def threads(self) -> int:
        """Return the number of node threads that a VM of the size uses, including the one for QEMU."""
        return self.cpus + self.emulator_cpu
