"""Offerings of a region as data: sizes, images, nodes, storage, and available capacity."""

from __future__ import annotations

from components.specs.base import Spec
from components.specs.hosts.instance_types import GpuSpec, PortUse
from components.specs.pools.huge_pages import PageSize
from components.specs.storage.snapshots import TreeSnapshotsSpec
from components.specs.vms.guests import GuestSystem
from components.specs.vms.vm_sizes import VmGpuSpec

FORMAT = 1


class Room(Spec):
    """Capacity for one size of VM in one cluster."""

    cluster: str
    tenant: str
    nodes: int
    """Nodes in service, of pools that run VMs, that fit at least one VM of the size."""
    vms: int
    """Maximum number of VMs of the size on these nodes, with nothing else on them."""
    failure_domains: dict[str, int]
    """VMs of ``vms`` by failure domain, in the order of the inventory."""
    ordered: int = 0
    """VMs of the size in the data for the cluster, including the platform's; VMs that the tenant orders through its API
    are unknown."""


class SizeOffer(Spec):
    """A size of VM, and the clusters that offer it."""

    size: str
    cpus: int
    memory: str
    root_disk: str
    gpu: VmGpuSpec | None
    dedicated_cpus: bool
    """Whether each CPU is a dedicated thread of the node."""
    emulator_cpu: bool
    """Whether QEMU has an additional thread of the node."""
    huge_pages: PageSize | None
    """Size of the huge pages for the memory; None for ordinary pages."""
    numa: bool
    """Whether the guest sees the NUMA nodes that it is on."""
    room: tuple[Room, ...]


class ImageOffer(Spec):
    """An operating system of VMs in its current version."""

    image: str
    version: str
    size: str
    os: GuestSystem
    clusters: tuple[str, ...]


class NodeOffer(Spec):
    """An instance type for pools, and its free hosts."""

    instance_type: str
    cpus: int
    memory: str
    gpu: GpuSpec | None
    free: int
    failure_domains: dict[str, int]
    """Hosts of ``free`` by failure domain."""


class SharedGpuOffer(Spec):
    """Resource that pods of a cluster request for a part of a GPU, on nodes that have it now."""

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
    """A pool whose pods can access memory of GPUs on other nodes, by a claim on a channel of their ComputeDomain."""

    cluster: str
    pool: str
    instance_type: str
    domains: int
    """NVLink domains of the pool, by the pins of its nodes."""
    nodes: int
    """Maximum number of nodes in one of them."""
    label: str
    """Node label with its domain; pods with affinity to each other by this label share a domain."""


class StorageOffer(Spec):
    """A storage class, and the properties of its volumes."""

    storage_class: str
    driver: str
    default: bool
    shared: bool
    """Whether several nodes can mount a volume simultaneously."""
    durable: bool
    """Whether a volume survives the replacement of its node."""
    encrypted: bool
    """Whether the disks are encrypted with ephemeral keys of the nodes, so that volumes are lost at each boot of a
    node."""
    snapshots: TreeSnapshotsSpec | None
    """Snapshots that the storage system takes of all volumes, including deleted ones."""
    clusters: tuple[str, ...]


class BucketOffer(Spec):
    """A bucket of a tenant, and the objects with keys for its workloads."""

    tenant: str
    bucket: str
    """Name in the store."""
    store: str
    endpoint: str
    quota: str
    found_as: str
    """Name of ConfigMap and Secret in each namespace with keys."""
    namespaces: dict[str, tuple[str, ...]]
    """Namespaces with keys, by cluster."""


class CheckpointOffer(Spec):
    """Storage classes for fast checkpoints of jobs on local disks, and for their durable copies."""

    cluster: str
    written_to: tuple[str, ...]
    """Storage classes on the disks of the node, whose volumes are deleted with it."""
    kept_in: tuple[str, ...]
    """Storage classes that outlive nodes and that several nodes can read, the default first; empty if none."""


class PortOffer(Spec):
    """Resources that a pod requests for ports of a node on a fabric."""

    cluster: str
    instance_type: str
    fabric: str
    networks: str | None
    """Value of the annotation ``k8s.v1.cni.cncf.io/networks``, once for each port; None if a pod needs none."""
    resource: str | None
    """Resource that the pod limits to the wanted number of ports, or to 1 for all of them if they are shared; None
    without device plugin."""
    use: PortUse | None
    """Kind of access that the pod gets to the ports; None without device plugin."""
    host_network: bool
    """Whether the pod uses ``hostNetwork``, where the ports and their addresses stay."""
    ports: int
    """Ports of one node."""
    functions: int | None
    """Virtual functions of one node, each for one pod; None if pods get whole ports."""
    exclusive: bool
    """Whether no other pod of the node sees the RDMA devices."""


class Offerings(Spec):
    """Report of ``jacquard show ENV offerings``; catalogues keep their order."""

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
