"""Models of a region's offerings: VM sizes, images, nodes, storage, ports, and available capacity."""

from components.specs.base import Spec
from components.specs.hosts.instance_types import GpuSpec, PortUse
from components.specs.pools.huge_pages import PageSize
from components.specs.storage.snapshots import TreeSnapshotsSpec
from components.specs.vms.guests import GuestSystem
from components.specs.vms.vm_sizes import VmGpuSpec

FORMAT = 1


class Room(Spec):
    """Capacity for one VM size in one cluster."""

    cluster: str
    tenant: str
    nodes: int
    """Number of nodes in service, in pools that run VMs, with capacity for at least one VM of the size."""
    vms: int
    """Maximum number of VMs of the size on these nodes, if the nodes run nothing else."""
    failure_domains: dict[str, int]
    """Part of ``vms`` by failure domain, in the order of the inventory."""
    ordered: int = 0
    """VMs of the size that the data declare in the cluster, including VMs of the platform. VMs that the tenant creates
    through the API of the cluster are not counted."""


class SizeOffer(Spec):
    """VM size, and the clusters that offer the size."""

    size: str
    cpus: int
    memory: str
    root_disk: str
    gpu: VmGpuSpec | None
    dedicated_cpus: bool
    """Whether each CPU is a dedicated thread of the node."""
    emulator_cpu: bool
    """Whether QEMU gets an additional thread of the node."""
    huge_pages: PageSize | None
    """Size of the huge pages that back the memory; None for ordinary pages."""
    numa: bool
    """Whether the guest sees the NUMA topology of its host."""
    room: tuple[Room, ...]


class ImageOffer(Spec):
    """Operating system image for VMs, in its current version."""

    image: str
    version: str
    size: str
    os: GuestSystem
    clusters: tuple[str, ...]


class NodeOffer(Spec):
    """Instance type for pools, and the number of its free hosts."""

    instance_type: str
    cpus: int
    memory: str
    gpu: GpuSpec | None
    free: int
    failure_domains: dict[str, int]
    """Part of ``free`` by failure domain."""


class SharedGpuOffer(Spec):
    """Resource that pods of a cluster request for a part of a GPU, on nodes that currently have the resource."""

    cluster: str
    pool: str
    resource: str
    """Name of the resource that a pod requests, such as ``nvidia.com/mig-1g.10gb``."""
    each_node: int
    """Amount of the resource on each node."""
    nodes: int
    walls: bool
    """Whether memory and faults are isolated between pods on one GPU."""


class NvlinkOffer(Spec):
    """Pool whose pods can access GPU memory on other nodes, with a claim on a channel of their ComputeDomain."""

    cluster: str
    pool: str
    instance_type: str
    domains: int
    """Number of NVLink domains of the pool, according to the pins of its nodes."""
    nodes: int
    """Maximum number of nodes in one NVLink domain."""
    label: str
    """Node label whose value is the NVLink domain; use it as topology key of pod affinity to place pods in one
    domain."""


class StorageOffer(Spec):
    """Storage class, and the properties of its volumes."""

    storage_class: str
    driver: str
    default: bool
    shared: bool
    """Whether several nodes can mount a volume simultaneously."""
    durable: bool
    """Whether a volume survives the replacement of its node."""
    encrypted: bool
    """Whether the disks are encrypted with ephemeral keys of the nodes; volumes are then lost at each boot of a
    node."""
    snapshots: TreeSnapshotsSpec | None
    """Snapshots that the storage system takes of all volumes, including deleted volumes."""
    clusters: tuple[str, ...]


class BucketOffer(Spec):
    """Bucket of a tenant, and the objects with keys for workloads."""

    tenant: str
    bucket: str
    """Name of the bucket in the object store."""
    store: str
    endpoint: str
    quota: str
    found_as: str
    """Name of the ConfigMap and of the Secret in each namespace with keys."""
    namespaces: dict[str, tuple[str, ...]]
    """Namespaces with keys, by cluster."""


class CheckpointOffer(Spec):
    """Storage classes for fast checkpoints of jobs on local disks, and for durable copies of the checkpoints."""

    cluster: str
    written_to: tuple[str, ...]
    """Storage classes on local disks; a volume is deleted with its node."""
    kept_in: tuple[str, ...]
    """Storage classes whose volumes outlive nodes and can be read by several nodes, the default class first."""


class PortOffer(Spec):
    """Resources that a pod requests for fabric ports of a node."""

    cluster: str
    instance_type: str
    fabric: str
    networks: str | None
    """Entry of the annotation ``k8s.v1.cni.cncf.io/networks``, to repeat for each port; None if pods need no
    annotation."""
    resource: str | None
    """Resource that the pod sets in its limits: the wanted number of ports, or 1 for all ports if ports are shared;
    None without a device plugin."""
    use: PortUse | None
    """Kind of access of the pod to the ports; None without a device plugin."""
    host_network: bool
    """Whether the pod must use ``hostNetwork``, because the ports and their addresses stay on the host."""
    ports: int
    """Number of ports per node."""
    functions: int | None
    """Number of virtual functions per node, each for one pod; None if pods get whole ports."""
    exclusive: bool
    """Whether no other pod of the node sees the RDMA devices."""


class Offerings(Spec):
    """Report of ``jacquard show ENV offerings``, in the order of the catalogues."""

    schema_version: int = FORMAT
    environment: str
    vm_sizes: tuple[SizeOffer, ...]
    vm_images: tuple[ImageOffer, ...]
    nodes: tuple[NodeOffer, ...]
    shared_gpus: tuple[SharedGpuOffer, ...]
    nvlink: tuple[NvlinkOffer, ...]
    storage: tuple[StorageOffer, ...]
    checkpoints: tuple[CheckpointOffer, ...]
    buckets: tuple[BucketOffer, ...]
    rdma: tuple[PortOffer, ...]
