"""How much a control plane reserves, its limits, and how many requests it answers at once, by nodes of its cluster.

The table is upstream's: the machines that Kubernetes' own ``kube-up`` took on GCE for a control plane with its etcd
(kubernetes.io, "Building large clusters", "Size of master and master components": n1-standard-1 to n1-standard-32,
3.75 GiB a CPU). It was made for 5,000 nodes at most and not measured here; what was measured elsewhere fits: API
servers of 7,500 nodes had heaps of up to 70 GB (OpenAI, 2021). The shares are ours.

Memory has a limit, twice what is reserved: without one, a process grows until the kernel of its host ends something of
any tenant (kubernetes.io, "Assign Memory Resources"). CPU has no limit: a slow server misses its probes, and a slow
etcd its heartbeats.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

MEBIBYTES_PER_CPU = 3840


@dataclass(frozen=True, slots=True)
class Size:
    """The machine for one replica of a control plane and one member of its etcd."""

    nodes: int | None
    """Most nodes of a cluster that the machine is large enough for; None for any number."""
    cpus: int

    @property
    def memory_mebibytes(self) -> int:
        """Return the memory of the machine."""
        return self.cpus * MEBIBYTES_PER_CPU


SIZES = (Size(5, 1), Size(10, 2), Size(100, 4), Size(250, 8), Size(500, 16), Size(None, 32))


class Component(Enum):
    """A program that shares the machine with others; a little is left for what runs beside."""

    API_SERVER = Fraction(1, 2)
    ETCD = Fraction(1, 4)
    CONTROLLER_MANAGER = Fraction(1, 8)
    SCHEDULER = Fraction(1, 16)
    KONNECTIVITY = Fraction(1, 32)


@dataclass(frozen=True, slots=True)
class InFlight:
    """Requests that one API server answers at once; more of them wait, and then are refused."""

    above_nodes: int
    """Nodes of a cluster that must be exceeded."""
    reads: int
    writes: int


IN_FLIGHT = (InFlight(3000, 3000, 1000), InFlight(500, 1500, 500))
"""What kube-up wrote for large clusters (kubernetes:cluster/gce/gci/configure-kubeapiserver.sh), the largest first."""
_MEMORY_BURST = 2
"""How many times the memory that is reserved a component may take."""


def size_for(nodes: int) -> Size:
    """Return the row of the table for a cluster of ``nodes``."""
    return next(size for size in SIZES if size.nodes is None or nodes <= size.nodes)


def resources(nodes: int, *components: Component) -> dict[str, dict[str, str]]:
    """Return the ``resources`` of a container that runs ``components`` for a cluster of ``nodes``."""
    size, share = size_for(nodes), sum((component.value for component in components), Fraction())
    cpu, memory = round(1000 * size.cpus * share), round(size.memory_mebibytes * share)
    return {
        "requests": {"cpu": f"{cpu}m", "memory": f"{memory}Mi"},
        "limits": {"memory": f"{_MEMORY_BURST * memory}Mi"},
    }


def in_flight(nodes: int) -> InFlight | None:
    """Return how many requests a server of a cluster of ``nodes`` answers at once; None for upstream's own numbers.

    Replicas do not share the number: each is on a machine of its own, and has to do while others are away.
    """
    return next((row for row in IN_FLIGHT if nodes > row.above_nodes), None)
