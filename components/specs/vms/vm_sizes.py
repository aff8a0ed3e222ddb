"""Sizes of virtual machines: what a machine has, and what its node must have to give it."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from pydantic import Field

from components.specs.base import PCI_SELECTOR, CheckedSpec, Label, Misfit, Quantity, Spec, bytes_of
from components.specs.pools.huge_pages import PageSize
from components.specs.reading.problems import one_of

DEVICE = (
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?\.)+[a-z0-9]([-a-z0-9]*[a-z0-9])?/[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$"
)
"""Name of a resource of nodes in a domain: with any other KubeVirt's pods and quotas of the device are refused."""
MOST_ROOT: Quantity = "500Gi"
"""Size of the largest ephemeral root: it is on disks of the node that all its VMs share."""


LEAST_WINDOWS_CPUS = 2
"""Number of CPUs below which KubeVirt starts no Windows, by its preference; Windows 11 asks for them."""
LEAST_WINDOWS_MEMORY: Quantity = "4Gi"
"""Memory below which KubeVirt starts no Windows."""


class EvictionStrategy(StrEnum):
    """What becomes of a VM whose node is drained (``evictionStrategy`` of KubeVirt)."""

    LIVE_MIGRATE = "LiveMigrate"
    """The VM runs on elsewhere; while it cannot, the drain waits."""
    IF_POSSIBLE = "LiveMigrateIfPossible"
    """The VM runs on elsewhere if it can migrate, and is stopped otherwise."""
    NONE = "None"
    """The VM is stopped."""


class VmGpuSpec(Spec):
    """GPUs passed through to a VM."""

    device: str = Field(pattern=DEVICE, max_length=253)
    """Resource name permitted in the KubeVirt object, such as ``nvidia.com/L40S``."""
    pci_selector: str = Field(pattern=PCI_SELECTOR)
    """Vendor and product of the PCI device, such as ``10DE:2330``, as KubeVirt's permittedHostDevices wants it."""
    count: int = Field(ge=1, le=8)
    """Number of GPUs that one VM gets."""


class VmSizeSpec(CheckedSpec):
    """A size of VM. A size is never edited: a changed one is a new name."""

    name: Label
    """Name of the size, which VMs and offerings refer to."""
    cpus: int = Field(ge=1, le=512)
    """Number of CPUs of the VM, ``cpu.guest`` of KubeVirt's instance type."""
    memory: Quantity
    """Memory of the VM, such as ``64Gi``; ``memory.guest`` of KubeVirt's instance type."""
    root_disk: Quantity = MOST_ROOT
    """Size of the ephemeral root, at most 500Gi, an overlay on the node's NVMe that is lost when the VM ends."""
    gpu: VmGpuSpec | None = None
    """GPUs that the VM gets; it gets none when it is left out."""
    eviction: EvictionStrategy = EvictionStrategy.IF_POSSIBLE
    """What becomes of a VM whose node is drained."""
    dedicated_cpus: bool = False
    """Whether each CPU of the VM is a thread of its node that nothing else runs on, ``cpu.dedicatedCPUPlacement`` of
    KubeVirt. Kubelets of its nodes need ``cpu_manager_policy: static``."""
    emulator_cpu: bool = False
    """Whether one thread of the node more is for QEMU's own work, so that none of the VM's CPUs is interrupted by it;
    ``cpu.isolateEmulatorThread`` of KubeVirt."""
    huge_pages: PageSize | None = None
    """Size of the huge pages that hold all memory of the VM, which images of its nodes reserve at boot; ordinary pages
    when it is left out."""
    numa: bool = False
    """Whether the guest sees the NUMA nodes that its CPUs and memory are on, ``cpu.numa.guestMappingPassthrough`` of
    KubeVirt. Kubelets of its nodes need ``topology_manager_policy``, ``restricted`` or ``single-numa-node``."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield a root larger than ephemeral ones may be, a migration that can never be, and what KubeVirt refuses."""
        if self.gpu is not None and self.eviction is EvictionStrategy.LIVE_MIGRATE:
            text = "would hold up drains for ever, since no VM with a GPU migrates"
            other = f"write {one_of((EvictionStrategy.IF_POSSIBLE, EvictionStrategy.NONE))}"
            yield Misfit(f"{text}; {other}", ("eviction",), self.eviction.value)
        if bytes_of(self.root_disk) > bytes_of(MOST_ROOT):
            text = f"is more than an ephemeral root may have; write at most {MOST_ROOT}, and give VMs volumes for more"
            yield Misfit(text, ("root_disk",), self.root_disk)
        yield from self._placement_misfits()

    def _placement_misfits(self) -> Iterator[Misfit]:
        """Yield placements that KubeVirt refuses (KV:pkg/virt-api/webhooks, vmi-create-admitter.go)."""
        for name in ("emulator_cpu", "numa"):
            if getattr(self, name) and not self.dedicated_cpus:
                text = "is for CPUs that nothing else runs on; add dedicated_cpus: true, or remove it"
                yield Misfit(text, (name,), got=True)
        if self.numa and self.huge_pages is None:
            text = "binds memory by huge pages alone; add huge_pages: 1Gi, or remove it"
            yield Misfit(text, ("numa",), got=True)
        if self.huge_pages is not None and bytes_of(self.memory) % bytes_of(self.huge_pages.value):
            text = f"must be whole huge pages of {self.huge_pages}; write a multiple of that"
            yield Misfit(text, ("memory",), self.memory)

    @property
    def threads(self) -> int:
        """Return the threads of its node that a VM of the size fills, that of QEMU too."""
        return self.cpus + self.emulator_cpu
