"""What nodes were set up with that some sizes of VMs ask for: CPUs of their own, NUMA nodes, huge pages.

It is what their intents say: a kubelet takes settings when its node joins, a kernel its arguments when it boots.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
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
from components.specs.vms.vm_sizes import VmSizeSpec

_ALIGNED = (TopologyManagerPolicy.RESTRICTED.value, TopologyManagerPolicy.SINGLE_NUMA_NODE.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """How the nodes of a rollout group were set up, as far as VMs are concerned."""

    image: str
    """Version of their golden image."""
    gives_cpus: bool
    """Whether their kubelets keep CPUs for one container alone."""
    kept_cpus: int
    """Threads of a node that its kubelet gives to nobody."""
    aligns: bool
    """Whether their kubelets refuse what cannot be on few NUMA nodes."""
    pages: tuple[tuple[PageSize, int], ...]
    """Bytes of huge pages of a node, by size of page."""

    @property
    def huge_pages(self) -> Counter[PageSize]:
        """Return the bytes of huge pages of a node, by size of page."""
        return Counter(dict(self.pages))

    def lacks(self, kind: InstanceType, size: VmSizeSpec) -> Iterator[str]:
        """Yield what VMs of ``size`` ask of nodes of ``kind`` and these have not, in the words of the data."""
        if size.dedicated_cpus and not self.gives_cpus:
            yield f"cpu_manager_policy: {CpuManagerPolicy.STATIC}"
        elif size.dedicated_cpus and kind.cpus - self.kept_cpus < size.threads:
            yield f"{size.threads} CPUs beside {self.kept_cpus} of reserved_cpu"
        if size.numa and not self.aligns:
            yield f"topology_manager_policy: {TopologyManagerPolicy.RESTRICTED}"
        pages = f"in huge pages of {size.huge_pages}" if size.huge_pages else "beside huge pages"
        if self.memory(kind, size) < bytes_of(size.memory):
            yield f"{size.memory} of memory {pages}"

    def memory(self, kind: InstanceType, size: VmSizeSpec) -> int:
        """Return the bytes of memory of a node of ``kind`` that VMs of ``size`` live in: huge pages, or the rest."""
        if size.huge_pages is not None:
            return self.huge_pages[size.huge_pages]
        return bytes_of(kind.memory) - self.huge_pages.total()


def setups(environment: Environment, cluster: str, pool: str) -> dict[str, Setup]:
    """Return how the nodes of ``pool`` were set up, by rollout group; nothing for a pool that has no groups yet."""
    found = intents_of(environment, pool_key(cluster, pool))
    return {key: _setup(environment, intent) for key, intent in found.items()}


def _setup(environment: Environment, intent: NodeIntent) -> Setup:
    image, told = find_image(environment, intent.image), intent.kubelet_configuration
    return Setup(
        image=intent.image,
        gives_cpus=told.get("cpuManagerPolicy") == CpuManagerPolicy.STATIC.value,
        kept_cpus=_kept(told.get("systemReserved")),
        aligns=told.get("topologyManagerPolicy") in _ALIGNED,
        pages=tuple(reserved(image.profile.kernel_arguments).items()) if image else (),
    )


def _kept(reservation: Any) -> int:
    """Return the whole CPUs of a kubelet's reservation, as its static policy rounds them up."""
    cpus = str(reservation.get("cpu", "0")) if isinstance(reservation, dict) else "0"
    return -(-int(cpus.removesuffix("m")) // 1000) if cpus.endswith("m") else int(cpus)
