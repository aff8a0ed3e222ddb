"""Resource requests, limits and concurrent requests of a control plane, by the number of nodes of its cluster.

The table is from upstream: the machines that ``kube-up`` of Kubernetes used on GCE for a control plane with its etcd
(kubernetes.io, "Building large clusters", "Size of master and master components": n1-standard-1 to n1-standard-32,
3.75 GiB per CPU). The table was designed for at most 5,000 nodes and was not measured for Jacquard. It is consistent
with other measurements: API servers for 7,500 nodes had heaps of up to 70 GB (OpenAI, 2021). The shares per component
are defined by Jacquard.

The memory limit is twice the request. Without a limit, a process can grow until the kernel of its host kills a process
of any tenant (kubernetes.io, "Assign Memory Resources"). CPU has no limit, because a throttled server misses probes and
a throttled etcd misses heartbeats.
"""

from enum import Enum
from fractions import Fraction

from components.specs.struct import Struct

MEBIBYTES_PER_CPU = 3840


class Size(Struct, kw_only=False):
    """Machine for one replica of a control plane and one member of its etcd."""

    nodes: int | None
    """Maximum number of nodes that the machine supports; None for no maximum."""
    cpus: int

    @property
    def memory_mebibytes(self) -> int:
        """Return the memory of the machine, in MiB."""
        return self.cpus * MEBIBYTES_PER_CPU


SIZES = (Size(5, 1), Size(10, 2), Size(100, 4), Size(250, 8), Size(500, 16), Size(None, 32))


class Component(Enum):
    """Program with its share of the machine. The shares leave a reserve for other processes."""

    API_SERVER = Fraction(1, 2)
    ETCD = Fraction(1, 4)
    CONTROLLER_MANAGER = Fraction(1, 8)
    SCHEDULER = Fraction(1, 16)
    KONNECTIVITY = Fraction(1, 32)


class InFlight(Struct, kw_only=False):
    """Limit of concurrent requests of one API server. Further requests are queued and then rejected."""

    above_nodes: int
    """Number of nodes above which the row applies."""
    reads: int
    writes: int


IN_FLIGHT = (InFlight(3000, 3000, 1000), InFlight(500, 1500, 500))
"""Settings of kube-up for large clusters (kubernetes:cluster/gce/gci/configure-kubeapiserver.sh), largest first."""
_LARGE = 500
"""Number of nodes above which controller manager and scheduler get `_CLIENT_RATE`."""
_CLIENT_RATE = {"kube-api-qps": "100", "kube-api-burst": "100"}
"""Requests per second of each controller, as in Kubernetes' tests with 5,000 nodes (kubernetes/test-infra). With the
defaults (20 and, for the scheduler, 50), the pods of a job on 1,000 nodes are created within 50 seconds."""
_SCRATCH = Fraction(1, 4)
"""Ratio of an etcd without clients to a member."""
_MEMORY_BURST = 2
"""Ratio of the memory limit of a component to its request."""


def size_for(nodes: int) -> Size:
    """Return the row of `SIZES` for a cluster of ``nodes``."""
    return next(size for size in SIZES if size.nodes is None or nodes <= size.nodes)


def resources(nodes: int, *components: Component) -> dict[str, dict[str, str]]:
    """Return the ``resources`` of a container that runs ``components`` for a cluster of ``nodes``."""
    return _share(size_for(nodes), sum((component.value for component in components), Fraction()))


def scratch_etcd(nodes: int) -> dict[str, dict[str, str]]:
    """Return the ``resources`` of an etcd without clients, with the data of a member for ``nodes``."""
    return _share(size_for(nodes), Component.ETCD.value * _SCRATCH)


def _share(size: Size, share: Fraction) -> dict[str, dict[str, str]]:
    cpu, memory = round(1000 * size.cpus * share), round(size.memory_mebibytes * share)
    return {
        "requests": {"cpu": f"{cpu}m", "memory": f"{memory}Mi"},
        "limits": {"memory": f"{_MEMORY_BURST * memory}Mi"},
    }


def in_flight(nodes: int) -> InFlight | None:
    """Return the concurrent requests of an API server for a cluster of ``nodes``; None for upstream's defaults.

    The limit is not divided by the number of replicas: each replica has a separate machine, and must suffice while
    other replicas are down.
    """
    return next((row for row in IN_FLIGHT if nodes > row.above_nodes), None)


def client_rate(nodes: int) -> dict[str, str]:
    """Return the flags of controller manager and scheduler for ``nodes``; empty for upstream's defaults."""
    return dict(_CLIENT_RATE) if nodes > _LARGE else {}
