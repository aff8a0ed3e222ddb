"""Node settings required by some VM sizes: dedicated CPUs, NUMA alignment, huge pages.

The settings are read from pinned intents, because a kubelet reads its settings only when the node joins, and a kernel
reads its arguments only at boot.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from components.intents.images import find_image
from components.intents.nodes import intents_of
from components.specs.base import bytes_of
from components.specs.environment import Environment
from components.specs.hosts.instance_types import InstanceType
from components.specs.keys import pool_key
from components.specs.pools.huge_pages import PageSize, reserved
from components.specs.pools.intents import NodeIntent
from components.specs.pools.kubelet import CpuManagerPolicy, TopologyManagerPolicy
from components.specs.struct import Struct
from components.specs.vms.vm_sizes import VmSizeSpec

_ALIGNED = (TopologyManagerPolicy.RESTRICTED.value, TopologyManagerPolicy.SINGLE_NUMA_NODE.value)


class Setup(Struct):
    """VM-related settings of the nodes of a rollout group."""

    image: str
    """Version of the golden image."""
    gives_cpus: bool
    """Whether kubelets assign exclusive CPUs to a container (static CPU manager policy)."""
    kept_cpus: int
    """Number of CPU threads per node that the kubelet reserves."""
    aligns: bool
    """Whether kubelets reject pods that cannot be aligned to NUMA nodes."""
    pages: tuple[tuple[PageSize, int], ...]
    """Bytes of huge pages per node, by page size."""

    @property
    def huge_pages(self) -> Counter[PageSize]:
        """Return the bytes of huge pages per node, by page size."""
        return Counter(dict(self.pages))

    def lacks(self, kind: InstanceType, size: VmSizeSpec) -> Iterator[str]:
        """Yield the settings that nodes of ``kind`` lack for VMs of ``size``, in the notation of the data."""
        if size.dedicated_cpus and not self.gives_cpus:
            yield f"cpu_manager_policy: {CpuManagerPolicy.STATIC}"
        elif size.dedicated_cpus and kind.cpus - self.kept_cpus < size.threads:
            yield f"{size.threads} CPUs in addition to {self.kept_cpus} of reserved_cpu"
        if size.numa and not self.aligns:
            yield f"topology_manager_policy: {TopologyManagerPolicy.RESTRICTED}"
        pages = f"in huge pages of {size.huge_pages}" if size.huge_pages else "outside huge pages"
        if self.memory(kind, size) < bytes_of(size.memory):
            yield f"{size.memory} of memory {pages}"

    def memory(self, kind: InstanceType, size: VmSizeSpec) -> int:
        """Return the bytes of memory that a node of ``kind`` has for VMs of ``size``: huge pages, or the rest."""
        if size.huge_pages is not None:
            return self.huge_pages[size.huge_pages]
        return bytes_of(kind.memory) - self.huge_pages.total()


def setups(environment: Environment, cluster: str, pool: str) -> dict[str, Setup]:
    """Return the VM-related settings of the nodes of ``pool``, by rollout group; empty for a pool without groups."""
    intents = intents_of(environment, pool_key(cluster, pool))
    return {key: _setup(environment, intent) for key, intent in intents.items()}


def _setup(environment: Environment, intent: NodeIntent) -> Setup:
    image, kubelet = find_image(environment, intent.image), intent.kubelet_configuration
    return Setup(
        image=intent.image,
        gives_cpus=kubelet.get("cpuManagerPolicy") == CpuManagerPolicy.STATIC.value,
        kept_cpus=_reserved_cpus(kubelet.get("systemReserved")),
        aligns=kubelet.get("topologyManagerPolicy") in _ALIGNED,
        pages=tuple(reserved(image.profile.kernel_arguments).items()) if image else (),
    )


def _reserved_cpus(reservation: Any) -> int:
    """Return the whole CPUs of a kubelet reservation, rounded up as by the static policy."""
    cpus = str(reservation.get("cpu", "0")) if isinstance(reservation, dict) else "0"
    return -(-int(cpus.removesuffix("m")) // 1000) if cpus.endswith("m") else int(cpus)
